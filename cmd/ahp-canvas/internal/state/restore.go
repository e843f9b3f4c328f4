package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// halfRestored is the name of a copy that is not in place yet.
const halfRestored = "restoring.db"

func restoreCommand(env *term.Env) *cobra.Command {
	var keys bool
	cmd := subcommand(env, "restore", "FILE", "Put a backup into a state folder", `Verify a backup and put it into the state folder, in place of the store there.
The folder keeps its tokens and its port. What the backup replaces is moved into
a folder "replaced-1", "replaced-2" and so on beside it, and never deleted.

With --keys the folder gets the tokens and keys that "state backup --keys"
wrote: links, tokens and canvases in chats of that host work again.

Stop the host first: the command fails while one uses the folder. With --json it
prints the object of state check, for the restored store.`, func(ctx context.Context, file, from string) error {
		r, err := restore(ctx, filepath.Dir(file), from, keys)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s does not exist; name a file that \"ahp-canvas state backup\" wrote", term.Printable(from))
		}
		if err != nil {
			return statedir.StoreError(err)
		}
		return printReport(env, "restored", r, "")
	})
	cmd.Flags().BoolVar(&keys, "keys", false, "also put the tokens and keys of the backup into the folder")
	return cmd
}

// restore puts the backup from into a state folder. Until the last rename the folder has
// either the old store or none, never a part of one.
func restore(ctx context.Context, dir, from string, keys bool) (r sqlitestore.Report, err error) {
	if _, err := sqlitestore.Check(ctx, from); err != nil {
		return r, err
	}
	if keys {
		if err := checkKeys(from); err != nil {
			return r, err
		}
	}
	s, err := statedir.Open(dir)
	if err != nil {
		return r, err
	}
	defer s.Release()
	next := filepath.Join(dir, halfRestored)
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err // of a restore that was killed
	}
	if _, err := sqlitestore.Backup(ctx, from, next); err != nil {
		return r, err
	}
	if err := moveAway(dir, replaced(from, keys)); err != nil {
		return r, err
	}
	if err := copyBeside(from, dir, keys); err != nil {
		return r, err
	}
	if err := os.Rename(next, statedir.StoreFile(dir)); err != nil {
		return r, err
	}
	if err := durable.SyncDir(dir); err != nil {
		return r, err
	}
	return sqlitestore.Check(ctx, statedir.StoreFile(dir))
}

// copyBeside copies what lies beside a backup into a state folder.
func copyBeside(from, dir string, keys bool) error {
	if err := copyFolder(filesOf(from), filepath.Join(dir, pagesFolder), named); err != nil {
		return err
	}
	if err := copyFolder(extensionsOf(from), filepath.Join(dir, extensionsFolder), closed); err != nil {
		return err
	}
	if !keys {
		return nil
	}
	if err := copyKeys(keysOf(from), dir); err != nil {
		return err
	}
	return copyFolder(filepath.Join(keysOf(from), aamFolder), filepath.Join(dir, aamFolder), closed)
}

// replaced returns the names in a state folder that a backup replaces, besides those of the
// store. A backup of an earlier version, or without keys, has fewer.
func replaced(from string, keys bool) []string {
	names := []string{pagesFolder}
	if exists(extensionsOf(from)) {
		names = append(names, extensionsFolder)
	}
	if keys {
		names = append(names, statedir.KeyFiles()...)
	}
	if keys && exists(filepath.Join(keysOf(from), aamFolder)) {
		names = append(names, aamFolder)
	}
	return names
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// moveAway moves the store and the named files and folders into a new folder. The store's own
// file moves first: without it, the files beside it are never applied to another store.
func moveAway(dir string, others []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries { // sorted: store.db comes before store.db-lock
		if strings.HasPrefix(e.Name(), sqlitestore.FileName) {
			names = append(names, e.Name())
		}
	}
	for _, e := range entries {
		if slices.Contains(others, e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	to, err := replacedFolder(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return durable.SyncDir(to)
}

func replacedFolder(dir string) (string, error) {
	for n := 1; ; n++ {
		to := filepath.Join(dir, fmt.Sprint("replaced-", n))
		if err := os.Mkdir(to, 0o700); !errors.Is(err, fs.ErrExist) {
			return to, err
		}
	}
}
