package state

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
)

// pagesFolder is the folder in a state folder with the files of the pages that agents
// wrote. The store has their names and hashes only.
const pagesFolder = "pages"

// filesOf returns the folder beside a backup that has those files.
func filesOf(backup string) string { return backup + ".pages" }

// copyFolder copies the files below a folder, which need not exist, into another one. It
// leaves files there that have the same size: their names are hashes of their contents. A
// file that is removed meanwhile is left out.
func copyFolder(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if err := copyFile(name, target); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if have, err := os.Stat(to); err == nil && have.Size() == info.Size() {
		return nil
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	return durable.Replace(to, data)
}
