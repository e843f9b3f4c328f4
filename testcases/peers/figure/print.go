package figure

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Print writes the figures of a row for people, one per line.
func Print(w io.Writer, row string, figures []Figure) {
	fmt.Fprintf(w, "\n%s\n", row)
	for i := range figures {
		c := figures[i].Row()
		fmt.Fprintf(w, "  %-52s %20s", c[0], c[1])
		if c[2] != "" {
			fmt.Fprintf(w, "   against %-36s", c[2])
		}
		for _, rest := range c[3:] {
			if rest != "" {
				fmt.Fprintf(w, "   %s", rest)
			}
		}
		fmt.Fprintln(w)
	}
}

// Markdown writes the figures of all rows as one table. It pads the cells, so
// that the source is readable.
func Markdown(w io.Writer, figures []Figure) {
	rows := [][]string{Columns}
	for i := range figures {
		rows = append(rows, figures[i].Row())
	}
	widths := make([]int, len(Columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(w, "| %s ", cell+strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		fmt.Fprintln(w, "|")
		if n == 0 {
			for _, width := range widths {
				fmt.Fprintf(w, "|%s", strings.Repeat("-", width+2))
			}
			fmt.Fprintln(w, "|")
		}
	}
}
