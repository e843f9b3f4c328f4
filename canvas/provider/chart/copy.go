package chart

import (
	"bytes"
	"encoding/csv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// csv returns the table for people who save a copy. A spreadsheet would run a text that
// begins like a formula, so such a text gets an apostrophe in front.
func (t Table) csv() (canvas.Content, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	line := make([]string, len(t.Columns))
	for n, c := range t.Columns {
		line[n] = harmless(c.Name)
	}
	if err := w.Write(line); err != nil {
		return canvas.Content{}, err
	}
	for _, row := range t.Rows {
		for n, v := range row {
			line[n] = string(v)
			var s string
			switch {
			case string(v) == "null":
				line[n] = ""
			case ahp.Unmarshal(v, &s) == nil:
				line[n] = harmless(s)
			}
		}
		if err := w.Write(line); err != nil {
			return canvas.Content{}, err
		}
	}
	w.Flush()
	return canvas.Content{Data: b.Bytes(), ContentType: "text/csv; charset=utf-8"}, w.Error()
}

func harmless(text string) string {
	if strings.ContainsAny(text[:min(len(text), 1)], "=+-@\t\r") {
		return "'" + text
	}
	return text
}
