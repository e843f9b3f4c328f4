package chart

import (
	"math"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// The limits of a chart; see the package comment.
const (
	MaxColumns = 12
	MaxRows    = 500
	MaxText    = 100 // code points of a name or cell; titles have 200
	MaxTitle   = 200 // code points
	MaxNumber  = 1e15
	MaxGroups  = 60
	MaxSeries  = 8
	MaxBytes   = 48 << 10
)

// The codes of a chart's own errors.
const (
	CodeInvalid  = "chart_invalid"
	CodeNoColumn = "chart_column_not_found"
	CodeFull     = "chart_full"
)

var texts = sample.Texts{Code: CodeInvalid}

// State is a chart: a table and what is asked of it. It is a value: nothing in
// it is changed once it holds.
type State struct {
	Title string `json:"title"`
	Table
	Query Query `json:"query"`
}

// Table is what a chart draws.
type Table struct {
	Source  string        `json:"source,omitzero"` // where the data are from, for people
	Columns []Column      `json:"columns"`
	Rows    [][]ahp.Value `json:"rows"` // a string or a number as the column is; null where there is none
}

// Column is one column of a table.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // "text" or "number"
	Unit string `json:"unit,omitzero"`
}

// What a column can be.
const (
	text   = "text"
	number = "number"
)

// cell is what a row has in a column.
type cell struct {
	text  string
	num   float64
	empty bool
}

func read(v ahp.Value, kind string) (c cell, err error) {
	if len(v) == 0 || string(v) == "null" {
		return cell{empty: true}, nil
	}
	if kind == number {
		if err := ahp.Unmarshal(v, &c.num); err != nil || math.Abs(c.num) > MaxNumber {
			return c, canvas.Errorf(CodeInvalid, "%.60s is no number between -10¹⁵ and 10¹⁵", v)
		}
		return c, nil
	}
	if ahp.Unmarshal(v, &c.text) != nil {
		return c, canvas.Errorf(CodeInvalid, "%.60s is no text", v)
	}
	c.text, err = texts.Line("a cell", c.text, MaxText)
	c.empty = c.text == ""
	return c, err
}

func (c cell) value(kind string) ahp.Value {
	switch {
	case c.empty:
		return ahp.Value("null")
	case kind == number:
		return ahp.MustMarshal(c.num)
	}
	return ahp.MustMarshal(c.text)
}

// clean returns a table as it is kept, or says what is wrong with it.
func (t Table) clean() (Table, error) {
	var err error
	if t.Source, err = texts.Line("the source", t.Source, MaxTitle); err != nil {
		return t, err
	}
	if t.Columns, err = cleanColumns(t.Columns); err != nil {
		return t, err
	}
	if n := len(t.Rows); n == 0 || n > MaxRows {
		return t, canvas.Errorf(CodeInvalid, "there are %d rows: a chart has 1 to %d; add them up first", n, MaxRows)
	}
	rows := make([][]ahp.Value, len(t.Rows))
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return t, canvas.Errorf(CodeInvalid, "row %d has %d cells for %d columns", i, len(row), len(t.Columns))
		}
		for j, v := range row {
			c, err := read(v, t.Columns[j].Type)
			if err != nil {
				return t, canvas.Errorf(CodeInvalid, "row %d, column %q: %s", i, t.Columns[j].Name, err.(*canvas.Error).Message)
			}
			rows[i] = append(rows[i], c.value(t.Columns[j].Type))
		}
	}
	t.Rows = rows
	return t, nil
}

func cleanColumns(columns []Column) ([]Column, error) {
	if n := len(columns); n > MaxColumns {
		return nil, canvas.Errorf(CodeInvalid, "there are %d columns: a chart has at most %d", n, MaxColumns)
	}
	var clean []Column
	for _, c := range columns {
		var err error
		if c.Name, err = texts.Name("the name of a column", c.Name, MaxText); err != nil {
			return nil, err
		}
		if c.Unit, err = texts.Line("the unit of "+c.Name, c.Unit, 12); err != nil {
			return nil, err
		}
		if c.Type != text && c.Type != number {
			return nil, canvas.Errorf(CodeInvalid, "column %q has the type %.40q: use text or number", c.Name, c.Type)
		}
		if slices.ContainsFunc(clean, func(d Column) bool { return d.Name == c.Name }) {
			return nil, canvas.Errorf(CodeInvalid, "two columns are called %q", c.Name)
		}
		clean = append(clean, c)
	}
	for _, kind := range []string{text, number} {
		if !slices.ContainsFunc(clean, func(c Column) bool { return c.Type == kind }) {
			return nil, canvas.Errorf(CodeInvalid, "no column is %s: a chart needs one of text to group by, and one of numbers to measure", kind)
		}
	}
	return clean, nil
}

// column finds a column of a type by its name.
func (t Table) column(name, kind string) (int, error) {
	at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name && c.Type == kind })
	if at < 0 {
		return 0, canvas.Errorf(CodeNoColumn, "no %s column is called %.110q; there are: %s", kind, name, t.names(kind))
	}
	return at, nil
}

// names is the columns of a type, for a word to the agent.
func (t Table) names(kind string) string {
	var names []string
	for _, c := range t.Columns {
		if c.Type == kind {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}

// first is the first column of a type; a clean table has one.
func (t Table) first(kind string) string {
	return t.Columns[slices.IndexFunc(t.Columns, func(c Column) bool { return c.Type == kind })].Name
}

// at reads a cell of a clean table.
func (t Table) at(row, column int) cell {
	c, _ := read(t.Rows[row][column], t.Columns[column].Type) // it was read before
	return c
}

// values is what a text column holds, each once, in the order of rows.
func (t Table) values(column int) (values []string) {
	seen := map[string]bool{}
	for row := range t.Rows {
		c := t.at(row, column)
		if !c.empty && !seen[c.text] {
			seen[c.text] = true
			values = append(values, c.text)
		}
	}
	return values
}
