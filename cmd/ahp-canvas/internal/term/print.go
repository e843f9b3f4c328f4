package term

import (
	"fmt"
	"io"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

func printJSON(w io.Writer, v any) error {
	line, err := ahp.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, JSONFor(w, string(line)))
	return err
}

// JSONFor returns JSON text for w: unchanged for a program, and for a terminal with its
// control characters escaped.
func JSONFor(w io.Writer, text string) string {
	if IsTerminal(w) {
		return printableJSON(text)
	}
	return text
}

// Table is a table of text; each column is as wide as its widest cell.
type Table struct {
	// Head is the first row.
	Head []string

	rows [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Print writes the table. Its cells can come from providers.
func (t *Table) Print(w io.Writer) {
	rows := append([][]string{t.Head}, t.rows...)
	width := make([]int, len(t.Head))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = Printable(cell)
			width[i] = max(width[i], Width(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(Pad(cell, width[i]+2))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// Printable replaces control characters with spaces: those that drive a terminal, and
// those that change the direction of writing.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// PrintableLines is Printable for a text of several lines, such as an error.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// printableJSON returns equal JSON without control characters: JSON itself escapes only
// the first 32.
func printableJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r != '\n' && IsControl(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsControl reports whether Printable replaces r: C0, DEL and C1, line and paragraph
// separators, and the characters that change the direction of writing.
func IsControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
