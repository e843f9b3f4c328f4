package state

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// recordLine is a record with --json. A value that is no JSON is printed as base64.
type recordLine struct {
	Key    string    `json:"key"`
	Value  ahp.Value `json:"value,omitzero"`
	Base64 []byte    `json:"base64,omitzero"`
}

// excerptLength is how many characters of a value are printed for people.
const excerptLength = 100

func dumpCommand(env *term.Env) *cobra.Command {
	return subcommand(env, "dump", "", "Print every record", `Verify the store and print its records in the order of their keys, one per line,
with the first 100 characters of each value.

With --json each line is one object with the whole value: {"key","value"}, or
{"key","base64"} if the value is not JSON.`, func(ctx context.Context, file, _ string) error {
		_, err := sqlitestore.Dump(ctx, file, func(key string, value []byte) error { return printRecord(env, key, value) })
		return storeError(file, err)
	})
}

func printRecord(env *term.Env, key string, value []byte) error {
	if env.JSON {
		line := recordLine{Key: key}
		if json.Valid(value) && utf8.Valid(value) {
			line.Value = ahp.Value(value)
		} else {
			line.Base64 = value
		}
		return env.PrintJSON(line)
	}
	_, err := fmt.Fprintf(env.Out, "%s  %d  %s\n", term.Printable(key), len(value), excerpt(value))
	return err
}

// excerpt returns the beginning of a value as one line; JSON loses its white space.
func excerpt(value []byte) string {
	var compact bytes.Buffer
	if json.Compact(&compact, value) == nil {
		value = compact.Bytes()
	}
	text := term.Printable(string(bytes.ToValidUTF8(value, []byte("\ufffd"))))
	n := 0
	for i := range text {
		if n++; n > excerptLength {
			return text[:i] + "…"
		}
	}
	return text
}
