package authoring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/extension"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// NewCommand returns new.
func NewCommand(env *term.Env) *cobra.Command {
	var program bool
	cmd := &cobra.Command{
		Use:   "new DIR",
		Short: "Create a folder with a small canvas to start from",
		Long: `Create a folder with a small working canvas: a list of notes, with one action
for the agent and one message to it. No file is overwritten.

With --extension it is a canvas extension instead: a Node program that declares
a canvas and serves its page. It needs no packages.`,
		Example: `  ahp-canvas new notes
  ahp-canvas serve --canvas notes --open notes
  ahp-canvas new --extension my-extension
  ahp-canvas serve --extension my-extension`,
		Args: term.Args("DIR"),
		RunE: term.Run(func(_ context.Context, args []string) error {
			if program {
				return newExtension(env, args[0])
			}
			return newFolder(env, args[0])
		}),
	}
	cmd.Flags().BoolVar(&program, "extension", false, "create a canvas extension, which Node runs")
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
	if err := anotherFolder(folder.New(dir)); err != nil {
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

// anotherFolder says what to do about files that exist.
func anotherFolder(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; choose another folder", err)
	}
	return err
}

func newExtension(env *term.Env, dir string) error {
	if err := anotherFolder(extension.WriteStarter(dir)); err != nil {
		return err
	}
	found, err := extension.Find(dir)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(newLine{dir, found[0].ID, extension.StarterFiles})
	}
	fmt.Fprintf(env.Out, "Created extension %s in %s:\n", term.Printable(found[0].ID), term.Printable(dir))
	for _, name := range extension.StarterFiles {
		fmt.Fprintln(env.Out, "  "+name)
	}
	_, err = fmt.Fprintf(env.Out, "Run it with:       ahp-canvas serve --extension %s\nRead its log with: ahp-canvas extension logs\n", term.ShellWord(dir))
	return err
}
