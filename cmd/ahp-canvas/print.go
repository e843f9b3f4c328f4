package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// printLine writes a value as one line of JSON.
func printLine(w io.Writer, v any) error {
	line, err := ahp.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, forReader(w, string(line)))
	return err
}

// forReader is JSON as it is for a program, and harmless for a terminal.
func forReader(w io.Writer, text string) string {
	if isTerminal(w) {
		return printableJSON(text)
	}
	return text
}

// table is rows under a head, each column as wide as its widest cell.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print writes the table. Cells are what providers say: control characters in
// them must not reach a terminal.
func (t *table) print(w io.Writer) {
	rows := append([][]string{t.head}, t.rows...)
	width := make([]int, len(t.head))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable(cell)
			width[i] = max(width[i], cells(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(pad(cell, width[i]+2))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// wrap joins words with commas into lines of at most width, where they fit.
func wrap(words []string, width int) (first string, more []string) {
	lines := []string{""}
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case cells(*last)+1+cells(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines[0], lines[1:]
}

// printable replaces what is no text to look at: what would drive a terminal, and
// what would show letters in another order than they have.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, s)
}

// printableLines is printable for a text of several lines, as an error may be.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// printableJSON is JSON whose strings are safe to look at and still the same:
// JSON escapes only the first 32 of what drives a terminal.
func printableJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r != '\n' && isControl(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isControl reports C0, DEL and C1, line and paragraph separators, and what turns
// the direction of writing around.
func isControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// isTerminal reports whether a person looks at w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
