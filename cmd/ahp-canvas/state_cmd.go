package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

const codeNoState = "state_not_found"

func (a *app) stateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Check, show and copy what a host keeps",
		Long: `Check, show and copy what a host keeps: its sessions, open canvases and what
providers saved. The tokens are not among it.

Nothing is changed, and a host may run meanwhile. To restore a copy, stop the
host, move store.db and the files that begin with its name away, and copy the
backup to store.db.`,
		Args: knownStateCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.stateCheckCommand(), a.stateDumpCommand(), a.stateBackupCommand())
	return cmd
}

// knownStateCommand sees only what is no command.
func knownStateCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usage{fmt.Sprintf("state has no command %q", args[0]), cmd}
}

func (a *app) stateCheckCommand() *cobra.Command {
	return a.stateSub("check", "", "Verify every record, and say what is kept", `Verify every record and the file around them, and say what is kept.

With --json it prints one object:
  {"path","format","store","records","bytes","commits","closed","pid"}
where pid is the running host's, and is absent without one.

The exit status is 1 where the store is damaged, newer than this program, or not
there.`, func(ctx context.Context, file, _ string) error {
		r, err := sqlitestore.Check(ctx, file)
		if err != nil {
			return keptError(err)
		}
		return a.printReport("whole", r)
	})
}

func (a *app) stateBackupCommand() *cobra.Command {
	return a.stateSub("backup", "FILE", "Copy what is kept into a new file", `Verify what is kept, copy it into a new file, and verify that. A file that is
there already is not replaced. With --json it prints the object of state check,
of the copy.`, func(ctx context.Context, file, to string) error {
		r, err := sqlitestore.Backup(ctx, file, to)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already: give the copy another name", printable(to))
		}
		if err != nil {
			return keptError(err)
		}
		return a.printReport("copied", r)
	})
}

// stateSub is a command of state: they take the same flags.
func (a *app) stateSub(name, arg, short, long string, run func(ctx context.Context, file, arg string) error) *cobra.Command {
	var dir string
	var names []string
	use := name
	if arg != "" {
		names, use = []string{arg}, name+" "+arg
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: takes(names...),
		RunE: does(func(ctx context.Context, args []string) error {
			file, err := a.storeFile(dir)
			if err != nil {
				return err
			}
			return run(ctx, file, append(args, "")[0])
		}),
	}
	cmd.Flags().StringVar(&dir, "state", "", "folder that keeps the state (default: the user's state folder)")
	must(cmd.MarkFlagDirname("state"))
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) storeFile(dir string) (string, error) {
	if dir == memory {
		return "", &usage{text: `--state memory keeps nothing: name a folder`}
	}
	if dir == "" {
		var err error
		if dir, err = stateFolder(a.getenv); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, sqlitestore.FileName), nil
}

// keptError is storeError for who only reads: there may be nothing yet.
func keptError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return failf(codeNoState, "%v: no host has kept anything there yet", err)
	}
	return storeError(err)
}

func (a *app) printReport(word string, r sqlitestore.Report) error {
	if a.json {
		return printLine(a.out, r)
	}
	use := "no host uses it"
	switch {
	case r.PID != 0:
		use = fmt.Sprintf("the host of process %d uses it", r.PID)
	case !r.Closed:
		use = "its host did not close it: the next one recovers it with the -wal file beside it"
	}
	_, err := fmt.Fprintf(a.out, "%s: %s: %s, %s, %d commits; %s\n", printable(r.Path), word,
		counted(r.Records, "record", "records"), counted(int(r.Bytes), "byte", "bytes"), r.Commits, use)
	return err
}
