package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
)

func (a *app) newCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new DIR",
		Short: "Make a folder that is a small canvas to start from",
		Long: `Make a folder that is a small working canvas: a list of notes with one action
for the agent and one message to it. No file is overwritten.`,
		Example: `  ahp-canvas new notes
  ahp-canvas serve --canvas notes --open notes`,
		Args: takes("DIR"),
		RunE: does(a.makeFolder),
	}
	a.jsonFlag(cmd)
	return cmd
}

// newLine is the made folder with --json.
type newLine struct {
	Dir   string   `json:"dir"`
	ID    string   `json:"id"`
	Files []string `json:"files"`
}

func (a *app) makeFolder(_ context.Context, args []string) error {
	dir := args[0]
	if err := folder.New(dir); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; choose another folder", err)
	} else if err != nil {
		return err
	}
	f, err := folder.Open(dir)
	if err != nil {
		return err
	}
	id := f.ID()
	if err := f.Close(); err != nil {
		return err
	}
	if a.json {
		return printLine(a.out, newLine{dir, id, folder.StarterFiles})
	}
	fmt.Fprintf(a.out, "Made canvas %s in %s:\n", printable(id), printable(dir))
	for _, name := range folder.StarterFiles {
		fmt.Fprintln(a.out, "  "+name)
	}
	_, err = fmt.Fprintf(a.out, "Show it with:  ahp-canvas serve --canvas %s --open %s\nCheck it with: ahp-canvas lint %s\n", shellWord(dir), shellWord(id), shellWord(dir))
	return err
}
