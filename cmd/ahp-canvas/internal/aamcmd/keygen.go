package aamcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

func keygenCommand(env *term.Env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Make a key that pays on a test network",
		Long: `Make a key for "ahp-canvas serve --aam --aam-signer FILE", and print its
address.
It signs payments on base-sepolia only, whose USDC is worth nothing. For real
money use your wallet (--aam-wallet). An existing file is not replaced.`,
		Args: term.Args(),
		RunE: term.Run(func(context.Context, []string) error { return keygen(env, out) }),
	}
	cmd.Flags().StringVar(&out, "out", "", "`file` to write the key to")
	term.Must(cmd.MarkFlagFilename("out"))
	return cmd
}

func keygen(env *term.Env, out string) error {
	if out == "" {
		return term.Usagef("--out is required: the file to write the key to")
	}
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		return term.Failf("file_exists", "%s exists already; name another file, or remove it", out)
	}
	key, err := x402.GenerateKey()
	if err != nil {
		return err
	}
	if err := durable.Replace(out, []byte(key.Text()+"\n")); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Out, key.Account())
	return err
}
