package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// keptLine is a record with --json. A value that is no JSON comes as base64.
type keptLine struct {
	Key    string    `json:"key"`
	Value  ahp.Value `json:"value,omitzero"`
	Base64 []byte    `json:"base64,omitzero"`
}

// shownCells is how much of a value a person sees on a line.
const shownCells = 100

func (a *app) stateDumpCommand() *cobra.Command {
	return a.stateSub("dump", "", "Print every record", `Verify what is kept and print it, in the order of the keys: a record a line, its
value cut after 100 characters.

With --json each line is one object with the whole value, {"key","value"}, or
{"key","base64"} where the value is not JSON.`, func(ctx context.Context, file, _ string) error {
		_, err := sqlitestore.Dump(ctx, file, a.printRecord)
		return keptError(err)
	})
}

// printRecord prints a record on a line. Values are what providers say: control
// characters in them must not reach a terminal.
func (a *app) printRecord(key string, value []byte) error {
	if a.json {
		line := keptLine{Key: key}
		if json.Valid(value) && utf8.Valid(value) {
			line.Value = ahp.Value(value)
		} else {
			line.Base64 = value
		}
		return printLine(a.out, line)
	}
	_, err := fmt.Fprintf(a.out, "%s  %d  %s\n", printable(key), len(value), excerpt(value))
	return err
}

// excerpt is a value on a line: JSON without its blanks, where it is such.
func excerpt(value []byte) string {
	var compact bytes.Buffer
	if json.Compact(&compact, value) == nil {
		value = compact.Bytes()
	}
	text := printable(string(bytes.ToValidUTF8(value, []byte("\ufffd"))))
	n := 0
	for i := range text {
		if n++; n > shownCells {
			return text[:i] + "…"
		}
	}
	return text
}
