package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// maxInput is what a host takes as an input, in bytes (canvas.md section 8).
const maxInput = 256 << 10

// inputFlag adds --input.
func inputFlag(cmd *cobra.Command, input *string) {
	cmd.Flags().StringVar(input, "input", "", "the input: JSON, @FILE, or - for standard input")
}

// readInput reads what --input names; nil where it was not given. It looks only
// for mistakes that the person can see at once: the host knows the schema.
func (a *app) readInput(flag string) (ahp.Value, error) {
	if flag == "" {
		return nil, nil
	}
	raw, err := a.inputBytes(flag)
	if err != nil {
		return nil, fmt.Errorf("--input: %w", err)
	}
	if len(raw) > maxInput {
		return nil, &usage{text: fmt.Sprintf("--input: more than %d KiB", maxInput>>10)}
	}
	var v ahp.Value
	if err := ahp.Unmarshal(raw, &v); err != nil {
		return nil, &usage{text: fmt.Sprintf("--input: %v", err)}
	}
	return v, nil
}

func (a *app) inputBytes(flag string) ([]byte, error) {
	switch name, isFile := strings.CutPrefix(flag, "@"); {
	case flag == "-":
		return io.ReadAll(io.LimitReader(a.in, maxInput+1))
	case isFile:
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, maxInput+1))
	}
	return []byte(flag), nil
}
