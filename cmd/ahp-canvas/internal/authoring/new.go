package authoring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// NewCommand returns new.
func NewCommand(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new DIR",
		Short: "Create a folder with a small canvas to start from",
		Long: `Create a folder with a small working canvas: a list of notes, with one action
for the agent and one message to it. No file is overwritten.`,
		Example: `  ahp-canvas new notes
  ahp-canvas serve --canvas notes --open notes`,
		Args: term.Args("DIR"),
		RunE: term.Run(func(_ context.Context, args []string) error { return newFolder(env, args[0]) }),
	}
	env.JSONFlag(cmd)
	return cmd
}

// newLine is new --json.
type newLine struct {
	Dir   string   `json:"dir"`
	ID    string   `json:"id"`
	Files []string `json:"files"`
}

func newFolder(env *term.Env, dir string) error {
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
	if env.JSON {
		return env.PrintJSON(newLine{dir, id, folder.StarterFiles})
	}
	fmt.Fprintf(env.Out, "Created canvas %s in %s:\n", term.Printable(id), term.Printable(dir))
	for _, name := range folder.StarterFiles {
		fmt.Fprintln(env.Out, "  "+name)
	}
	_, err = fmt.Fprintf(env.Out, "Show it with:  ahp-canvas serve --canvas %s --open %s\nCheck it with: ahp-canvas lint %s\n",
		term.ShellWord(dir), term.ShellWord(id), term.ShellWord(dir))
	return err
}
