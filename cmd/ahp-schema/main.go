package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/schema"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ahp-schema DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "ahp-schema:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	files, err := schema.Generate(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := writeFile(filepath.Join(root, "schema"), name, text); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file of the schema folder, or of a language's folder in it.
func writeFile(schema, name string, text []byte) error {
	if dir := filepath.Dir(name); dir != "." {
		if err := os.Mkdir(filepath.Join(schema, dir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return os.WriteFile(filepath.Join(schema, name), text, 0o644)
}
