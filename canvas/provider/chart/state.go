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
	MaxColumns = 12       // columns of a table
	MaxRows    = 500      // rows of a table
	MaxText    = 100      // code points of a column's name or a cell
	MaxTitle   = 200      // code points of a title or a source
	MaxNumber  = 1e15     // absolute value of a number
	MaxGroups  = 60       // groups of a result
	MaxSeries  = 8        // series of a result
	MaxBytes   = 48 << 10 // bytes of the chart as JSON
)

// The codes of the chart's errors.
const (
	CodeInvalid  = "chart_invalid"          // an invalid input
	CodeNoColumn = "chart_column_not_found" // no column of that name and type
	CodeFull     = "chart_full"             // a limit is exceeded
	CodeChanged  = "chart_changed"          // the person saw an older chart
)

var texts = sample.Texts{Code: CodeInvalid}

// State is a chart: a table and a query that fits it. It is immutable.
type State struct {
	// Title is the chart's name.
	Title string `json:"title"`
	// Table is the data.
	Table
	// Query selects what is drawn.
	Query Query `json:"query"`
	// Version counts the agent's changes. A person's changes carry the one that they saw.
	Version int64 `json:"version,omitzero"`
}

// Table is the data of a chart.
type Table struct {
	// Source tells people where the data come from.
	Source string `json:"source,omitzero"`
	// Columns describe the cells of each row.
	Columns []Column `json:"columns"`
	// Rows are cells of strings or numbers, by the column's type; null is no value.
	Rows [][]ahp.Value `json:"rows"`
}

// Column describes a column of a table.
type Column struct {
	// Name is unique in the table.
	Name string `json:"name"`
	// Type is "text" or "number".
	Type string `json:"type"`
	// Unit follows the numbers that people read.
	Unit string `json:"unit,omitzero"`
}

// The types of columns.
const (
	text   = "text"
	number = "number"
)

// cell is a decoded cell.
type cell struct {
	text  string
	num   float64
	empty bool
}

// read decodes a cell of a column of a type.
func read(v ahp.Value, kind string) (c cell, err error) {
	if len(v) == 0 || string(v) == "null" {
		return cell{empty: true}, nil
	}
	if kind == number {
		if err := ahp.Unmarshal(v, &c.num); err != nil || math.Abs(c.num) > MaxNumber {
			return c, canvas.Errorf(CodeInvalid, "%.60s is not a number between -10¹⁵ and 10¹⁵", v)
		}
		return c, nil
	}
	if ahp.Unmarshal(v, &c.text) != nil {
		return c, canvas.Errorf(CodeInvalid, "%.60s is not a text", v)
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

// clean normalizes a table, or returns what is wrong with it.
func (t Table) clean() (Table, error) {
	var err error
	if t.Source, err = texts.Line("the source", t.Source, MaxTitle); err != nil {
		return t, err
	}
	if t.Columns, err = cleanColumns(t.Columns); err != nil {
		return t, err
	}
	if n := len(t.Rows); n == 0 || n > MaxRows {
		return t, canvas.Errorf(CodeInvalid, "the table has %d rows; a chart needs 1 to %d, so add up rows first", n, MaxRows)
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
		return nil, canvas.Errorf(CodeInvalid, "the table has %d columns; a chart can have at most %d", n, MaxColumns)
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
			return nil, canvas.Errorf(CodeInvalid, "column %q has the unknown type %.40q; use text or number", c.Name, c.Type)
		}
		if slices.ContainsFunc(clean, func(d Column) bool { return d.Name == c.Name }) {
			return nil, canvas.Errorf(CodeInvalid, "two columns are called %q", c.Name)
		}
		clean = append(clean, c)
	}
	for _, kind := range []string{text, number} {
		if !slices.ContainsFunc(clean, func(c Column) bool { return c.Type == kind }) {
			return nil, canvas.Errorf(CodeInvalid, "the table has no %s column; a chart needs a text column to group by and a number column to measure", kind)
		}
	}
	return clean, nil
}

// column finds a column of a type by its name.
func (t Table) column(name, kind string) (int, error) {
	at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name && c.Type == kind })
	if at < 0 {
		return 0, canvas.Errorf(CodeNoColumn, "no %s column is called %.110q; the %s columns are %s", kind, name, kind, t.names(kind))
	}
	return at, nil
}

// names lists the columns of a type.
func (t Table) names(kind string) string {
	var names []string
	for _, c := range t.Columns {
		if c.Type == kind {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}

// first returns the first column of a type; a clean table has one.
func (t Table) first(kind string) string {
	return t.Columns[slices.IndexFunc(t.Columns, func(c Column) bool { return c.Type == kind })].Name
}

// at reads a cell of a clean table.
func (t Table) at(row, column int) cell {
	c, _ := read(t.Rows[row][column], t.Columns[column].Type) // no error: clean has checked the cell
	return c
}

// values returns the distinct values of a text column, in the order of the rows.
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
