package aamcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// starter is a site to start from: one free action of the bundled board, on this machine.
const starter = `{
  "listen": "127.0.0.1:8788",
  "origin": "http://127.0.0.1:8788",
  "site": {
    "name": "My board",
    "domain": "localhost",
    "description": "A board of tasks."
  },
  "actions": [
    {
      "id": "add_card",
      "extension": "board",
      "canvas": "board",
      "instance": "board",
      "action": "add_card",
      "pricing": "free"
    }
  ]
}
`

func initCommand(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a site to start from",
		Long: `Write a file for "ahp-canvas serve --aam-site": it lets agents of other people
add cards to the bundled board, once you let them in. FILE is site.json if it is
not given. An existing file is not replaced.

Change "actions" to publish others: extension, canvas and action are names that
"ahp-canvas ls" prints, and instance is the canvas to run the action on. To
reach the site from other machines, put a TLS proxy in front of it and set
"origin" to its https address.

A price is {"type": "x402", "amount": "0.05", "currency": "USDC",
"network": "base-sepolia", "pay_to": "0x…"} instead of "free"; it needs
"settle", such as {"facilitator": "https://…"}.`,
		Example: `  ahp-canvas aam init
  ahp-canvas aam pin
  ahp-canvas serve --aam-site site.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: term.Run(func(_ context.Context, args []string) error {
			file := "site.json"
			if len(args) > 0 {
				file = args[0]
			}
			return writeStarter(env, file)
		}),
	}
}

func writeStarter(env *term.Env, file string) error {
	if _, err := site.ParseConfig([]byte(starter)); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return term.Failf("file_exists", "%s exists already; name another file, or remove it", file)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(starter)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "%s publishes add_card of the board.\nSet a PIN, with which you let agents in:  ahp-canvas aam pin\nThen start the host:                      ahp-canvas serve --aam-site %s\n", file, term.ShellWord(file))
	return err
}
