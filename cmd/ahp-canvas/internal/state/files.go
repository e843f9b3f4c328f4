package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
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

// extensionsFolder is the folder in a state folder in which extensions keep files.
const extensionsFolder = "extensions"

// extensionsOf returns the folder beside a backup that has those files.
func extensionsOf(backup string) string { return backup + ".extensions" }

// aamFolder is the folder in a state folder with what --aam and --aam-site keep: the PIN,
// the key, signatures, payments and the site's store.
const aamFolder = "aam"

// siteStore is the name of the site's store in it, which is copied as a store.
const siteStore = "site.db"

// backupKeys copies the keys of the host that uses a folder, and what it has of AAM. Each
// file is replaced as a whole while the host runs.
func backupKeys(ctx context.Context, dir, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if err := copyKeys(dir, to); err != nil {
		return err
	}
	from, to := filepath.Join(dir, aamFolder), filepath.Join(to, aamFolder)
	if err := copyFolder(from, to, changes); err != nil {
		return err
	}
	_, err := sqlitestore.Backup(ctx, filepath.Join(from, siteStore), filepath.Join(to, siteStore))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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

// How the files of a folder change.
const (
	named   = iota // never: their names are hashes of their contents
	changes        // each is written again at any time
	closed         // not now
)

// copyFolder copies the files below a folder, which need not exist, into another one. A file
// that is removed meanwhile is left out, and so are the files of a store that can be open.
func copyFolder(from, to string, how int) error {
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
		if !d.Type().IsRegular() || how == changes && strings.HasPrefix(rel, siteStore) {
			return nil
		}
		if err := copyFile(name, target, how); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// copyFile copies a file with its mode, but closed to others. A file whose name is its hash
// is left if it has the same size.
func copyFile(from, to string, how int) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if have, err := os.Stat(to); how == named && err == nil && have.Size() == info.Size() {
		return nil
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if err := durable.Replace(to, data); err != nil || info.Mode().Perm()&0o100 == 0 {
		return err
	}
	return os.Chmod(to, 0o700)
}
