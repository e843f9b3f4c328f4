package main

import (
	"fmt"
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
		if err := os.WriteFile(filepath.Join(root, "schema", name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
