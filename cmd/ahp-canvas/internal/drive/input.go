package drive

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// maxInput is the largest input that a host accepts, in bytes (canvas/PROTOCOL.md
// section 8).
const maxInput = 256 << 10

// inputFlag adds --input.
func inputFlag(cmd *cobra.Command, input *string) {
	cmd.Flags().StringVar(input, "input", "", "`input` as JSON, @FILE, or - for standard input")
}

// readInput reads what --input names; nil without the flag. It checks only that the input
// is JSON: the host knows the schema.
func readInput(stdin io.Reader, flag string) (ahp.Value, error) {
	if flag == "" {
		return nil, nil
	}
	raw, err := inputBytes(stdin, flag)
	if err != nil {
		return nil, fmt.Errorf("--input: %w", err)
	}
	if len(raw) > maxInput {
		return nil, term.Usagef("--input: larger than %d KiB", maxInput>>10)
	}
	var v ahp.Value
	if err := ahp.Unmarshal(raw, &v); err != nil {
		return nil, term.Usagef("--input: %v", err)
	}
	return v, nil
}

func inputBytes(stdin io.Reader, flag string) ([]byte, error) {
	switch name, isFile := strings.CutPrefix(flag, "@"); {
	case flag == "-":
		return io.ReadAll(io.LimitReader(stdin, maxInput+1))
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
