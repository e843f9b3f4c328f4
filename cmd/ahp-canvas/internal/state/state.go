package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// codeNoState is the code for a folder that no host has used.
const codeNoState = "state_not_found"

// Command returns state, with its subcommands.
func Command(env *term.Env) *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "state",
		Short: "Check, print, back up and restore what a host keeps",
		Long: `Check, print, back up and restore what a host keeps: its sessions, its open
canvases and what providers saved. Tokens are included with backup
--keys only.

check, dump and backup change nothing, and a host can run meanwhile. restore
puts a backup into the folder of a host that was stopped.`,
		Args: term.UnknownSubcommand,
	}, checkCommand(env), dumpCommand(env), backupCommand(env), restoreCommand(env))
}

func checkCommand(env *term.Env) *cobra.Command {
	return subcommand(env, "check", "", "Verify every record and print a summary", `Verify every record and the file that holds them, and print a summary.

With --json it prints one object:
  {"path","format","store","records","bytes","commits","closed","pid"}
where pid is the process id of the host that uses the store, if there is one.

The exit status is 1 if the store is damaged, newer than this program, or
missing.`, func(ctx context.Context, file, _ string) error {
		r, err := sqlitestore.Check(ctx, file)
		if err != nil {
			return storeError(file, err)
		}
		return printReport(env, "verified", r, "; "+usedBy(r))
	})
}

func backupCommand(env *term.Env) *cobra.Command {
	var keys bool
	cmd := subcommand(env, "backup", "FILE", "Copy the store into a new file", `Verify the store, copy it into a new file, and verify the copy. An existing file
is not overwritten. The files of pages that agents wrote go into the folder
FILE.pages beside it, and those that extensions keep into FILE.extensions;
"state restore FILE" also reads them.

With --keys the host's tokens, the key of its links through a relay, that of
canvases in chats, and the keys and records of --aam and --aam-site go into the
folder FILE.keys. Keep it as you keep a password. Files that you named yourself,
as with --aam-key or --aam-signer, are not copied.

With --json it prints the object of state check, for the copy.`, func(ctx context.Context, file, to string) error {
		r, err := backup(ctx, file, to, keys)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s already exists; choose another name for the copy", term.Printable(to))
		}
		if err != nil {
			return storeError(file, err)
		}
		return printReport(env, "copied", r, "")
	})
	cmd.Flags().BoolVar(&keys, "keys", false, "also copy the host's tokens and keys, into FILE.keys")
	return cmd
}

// backup copies the store and the files of pages and extensions. A running host adds and removes files:
// those that the copy of the store names were there before or after it was made.
func backup(ctx context.Context, file, to string, keys bool) (r sqlitestore.Report, err error) {
	if _, err := os.Lstat(to); err == nil {
		return r, fs.ErrExist
	}
	dir := filepath.Dir(file)
	pages := filepath.Join(dir, pagesFolder)
	if err := copyFolder(pages, filesOf(to), named); err != nil {
		return r, err
	}
	if r, err = sqlitestore.Backup(ctx, file, to); err != nil {
		return r, err
	}
	if keys {
		if err := backupKeys(ctx, dir, keysOf(to)); err != nil {
			return r, err
		}
	}
	if err := copyFolder(filepath.Join(dir, extensionsFolder), extensionsOf(to), changes); err != nil {
		return r, err
	}
	return r, copyFolder(pages, filesOf(to), named)
}

// subcommand returns a command of state with the flags that all of them have. arg is the
// name of its argument, "" for none.
func subcommand(env *term.Env, name, arg, short, long string, run func(ctx context.Context, file, arg string) error) *cobra.Command {
	var dir string
	var names []string
	use := name
	if arg != "" {
		names, use = []string{arg}, name+" "+arg
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: term.Args(names...),
		RunE: term.Run(func(ctx context.Context, args []string) error {
			file, err := storeFile(env, dir)
			if err != nil {
				return err
			}
			return run(ctx, file, append(args, "")[0])
		}),
	}
	cmd.Flags().StringVar(&dir, "state", "", "`folder` with the state (default: the user's state folder)")
	term.Must(cmd.MarkFlagDirname("state"))
	env.JSONFlag(cmd)
	return cmd
}

func storeFile(env *term.Env, dir string) (string, error) {
	if dir == statedir.Memory {
		return "", term.Usagef("--state memory keeps nothing; give a folder")
	}
	if dir == "" {
		var err error
		if dir, err = userdir.State(env.Getenv); err != nil {
			return "", err
		}
	}
	return statedir.StoreFile(dir), nil
}

// storeError is statedir.StoreError for a store that might not exist.
func storeError(file string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return term.Failf(codeNoState, "%s does not exist; no host has kept anything there yet", file)
	}
	return statedir.StoreError(err)
}

// usedBy says which host uses a store.
func usedBy(r sqlitestore.Report) string {
	switch {
	case r.PID != 0:
		return fmt.Sprintf("the host with process id %d uses it", r.PID)
	case !r.Closed:
		return "its host did not close it, so the next host recovers it from the -wal file beside it"
	}
	return "no host uses it"
}

// printReport prints what was done with a store. more ends the line.
func printReport(env *term.Env, word string, r sqlitestore.Report, more string) error {
	if env.JSON {
		return env.PrintJSON(r)
	}
	_, err := fmt.Fprintf(env.Out, "%s: %s: %s, %s, %s%s\n", term.Printable(r.Path), word,
		term.Count(r.Records, "record", "records"), term.Count(int(r.Bytes), "byte", "bytes"), term.Count(int(r.Commits), "commit", "commits"), more)
	return err
}
