package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// pagesFolder is the folder in a state folder with the files of the pages that agents
// wrote. The store has their names and hashes only.
const pagesFolder = "pages"

// filesOf returns the folder beside a backup that has those files.
func filesOf(backup string) string { return backup + ".pages" }

// keysOf returns the folder beside a backup that has the host's keys.
func keysOf(backup string) string { return backup + ".keys" }

// backupKeys copies the keys of the host that uses a folder. Each file is replaced as a
// whole while the host runs.
func backupKeys(dir, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	return copyKeys(dir, to)
}

// copyKeys copies the files that exist; a host has some of them only if it needs them.
func copyKeys(from, to string) error {
	for _, name := range statedir.KeyFiles() {
		data, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = durable.Replace(filepath.Join(to, name), data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkKeys reports why keys beside a backup cannot be restored.
func checkKeys(backup string) error {
	_, err := statedir.Read(statedir.File(keysOf(backup)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist; only \"ahp-canvas state backup --keys\" writes it", term.Printable(keysOf(backup)))
	case err != nil:
		return fmt.Errorf("the keys in %s are damaged: %w", term.Printable(keysOf(backup)), err)
	}
	return nil
}

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
