package aamcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

func pinCommand(env *term.Env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "pin",
		Short: "Set the PIN with which you pay and let agents in",
		Long: `Set the PIN that canvases ask for before something costs money or lets an agent
in. An agent can open the page of a canvas, so a click does not show that you
decide; the PIN does. It is asked for twice, at a terminal only, and kept as a
hash in the state folder. A running host uses the new PIN at once.`,
		Args: term.Args(),
		RunE: term.Run(func(context.Context, []string) error { return setPIN(env, dir) }),
	}
	cmd.Flags().StringVar(&dir, "state", "", "`folder` of the host's state (default: the user's state folder)")
	term.Must(cmd.MarkFlagDirname("state"))
	return cmd
}

func setPIN(env *term.Env, dir string) (err error) {
	in, ok := env.In.(*os.File)
	if !ok || !xterm.IsTerminal(int(in.Fd())) {
		return term.Failf("no_terminal", "a PIN is set at a terminal only, so that no program chooses it")
	}
	if dir == "" {
		if dir, err = userdir.State(env.Getenv); err != nil {
			return err
		}
	}
	first, err := readSecret(env, in, "PIN (6 characters and more): ")
	if err != nil {
		return err
	}
	second, err := readSecret(env, in, "The same again: ")
	if err != nil {
		return err
	}
	if first != second {
		return term.Failf("pin_differs", "the two PINs differ; nothing was changed")
	}
	folder := filepath.Join(dir, "aam")
	if err := userdir.Ensure(dir); err != nil {
		return err
	}
	if err := userdir.Ensure(folder); err != nil {
		return err
	}
	if err := aam.SetPIN(filepath.Join(folder, "pin"), first); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Out, "The PIN is set.")
	return err
}

func readSecret(env *term.Env, in *os.File, prompt string) (string, error) {
	fmt.Fprint(env.Err, prompt)
	b, err := xterm.ReadPassword(int(in.Fd()))
	fmt.Fprintln(env.Err)
	return string(b), err
}
