package extension

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// starterFolder holds the files that WriteStarter writes.
//
//go:embed starter
var starterFolder embed.FS

// StarterFiles are the names of the files that WriteStarter writes.
var StarterFiles = []string{mainModule, "session.mjs"}

// WriteStarter writes a small extension that runs without installing anything: a list, with a page
// and one action. It creates the folder if necessary. If one of the files exists,
// WriteStarter writes nothing and returns an error that wraps fs.ErrExist.
func WriteStarter(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("extension: %w", err)
	}
	for _, name := range StarterFiles {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("folder %q: %q exists, so nothing was written: %w", dir, name, fs.ErrExist)
		}
	}
	for _, name := range StarterFiles {
		text, err := starterFolder.ReadFile("starter/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("extension: %w", err)
		}
	}
	return nil
}
