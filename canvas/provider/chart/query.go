package chart

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// Query selects what is drawn of a table.
type Query struct {
	// Measure is the number column that is drawn.
	Measure string `json:"measure"`
	// Aggregate reduces the rows of a group: "sum", "average", "smallest", "largest" or
	// "count".
	Aggregate string `json:"aggregate"`
	// GroupBy is the text column along the axis.
	GroupBy string `json:"groupBy"`
	// SplitBy is the text column with a series for each value; "" is one series.
	SplitBy string `json:"splitBy"`
	// Filter keeps the rows whose columns have one of the values. An absent column
	// keeps all rows.
	Filter map[string][]string `json:"filter"`
	// Kind is "bar" or "line".
	Kind string `json:"kind"`
	// Sort is the order of groups: "data" (of the rows), "largest" or "smallest" first.
	Sort string `json:"sort"`
}

// change is a change of a query. Absent members keep their values.
type change struct {
	Measure   *string             `json:"measure,omitzero"`
	Aggregate *string             `json:"aggregate,omitzero"`
	GroupBy   *string             `json:"groupBy,omitzero"`
	SplitBy   *string             `json:"splitBy,omitzero"`
	Filter    map[string][]string `json:"filter,omitzero"`
	Kind      *string             `json:"kind,omitzero"`
	Sort      *string             `json:"sort,omitzero"`
}

var (
	aggregates = []string{"sum", "average", "smallest", "largest", "count"}
	kinds      = []string{"bar", "line"}
	sorts      = []string{"data", "largest", "smallest"}
)

// with returns the changed query, which might not fit the table.
func (q Query) with(c change) Query {
	for _, f := range []struct {
		to   *string
		from *string
	}{
		{&q.Measure, c.Measure}, {&q.Aggregate, c.Aggregate}, {&q.GroupBy, c.GroupBy},
		{&q.SplitBy, c.SplitBy}, {&q.Kind, c.Kind}, {&q.Sort, c.Sort},
	} {
		if f.from != nil {
			*f.to = sample.OneLine(*f.from)
		}
	}
	if c.Filter != nil {
		q.Filter = c.Filter
	}
	return q
}

// check returns the query normalized, or an error if it does not fit the table.
func (q Query) check(t Table) (Query, error) {
	if _, err := t.column(q.Measure, number); err != nil {
		return q, err
	}
	if _, err := t.column(q.GroupBy, text); err != nil {
		return q, err
	}
	if q.SplitBy == q.GroupBy {
		q.SplitBy = "" // every series would have one group
	}
	if q.SplitBy != "" {
		if _, err := t.column(q.SplitBy, text); err != nil {
			return q, err
		}
	}
	for _, f := range []struct {
		what, have string
		of         []string
	}{{"aggregate", q.Aggregate, aggregates}, {"kind", q.Kind, kinds}, {"sort", q.Sort, sorts}} {
		if !slices.Contains(f.of, f.have) {
			return q, canvas.Errorf(CodeInvalid, "%s is %.40q; use one of %v", f.what, f.have, f.of)
		}
	}
	filter := map[string][]string{}
	for name, values := range q.Filter {
		var err error
		name = sample.OneLine(name)
		if filter[name], err = t.filter(name, values); err != nil {
			return q, err
		}
	}
	q.Filter = filter
	return q, nil
}

// filter returns the values of a filter normalized, in the order of the rows. Without
// values it keeps no row, and the page says so.
func (t Table) filter(name string, values []string) ([]string, error) {
	at, err := t.column(name, text)
	if err != nil {
		return nil, err
	}
	existing, wanted := t.values(at), map[string]bool{}
	for _, v := range values {
		v = sample.OneLine(v)
		wanted[v] = true
		if !slices.Contains(existing, v) {
			return nil, canvas.Errorf(CodeInvalid, "column %q has no value %.110q; %s", name, v, describeValues(existing))
		}
	}
	return append([]string{}, slices.DeleteFunc(existing, func(v string) bool { return !wanted[v] })...), nil
}

// describeValues lists the values of a column if they are few.
func describeValues(values []string) string {
	if len(values) > maxFilterValues {
		return "get_data returns its values"
	}
	return fmt.Sprintf("its values are %q", values)
}

// adaptTo returns a query that fits the table, with as much of q as possible.
func (q Query) adaptTo(t Table) Query {
	if _, err := t.column(q.Measure, number); err != nil {
		q.Measure = t.first(number)
	}
	if _, err := t.column(q.GroupBy, text); err != nil {
		q.GroupBy = t.first(text)
	}
	if _, err := t.column(q.SplitBy, text); err != nil {
		q.SplitBy = ""
	}
	q.Filter = maps.Clone(q.Filter)
	for name := range q.Filter {
		if _, err := (Query{Measure: q.Measure, GroupBy: q.GroupBy, Aggregate: "sum", Kind: "bar", Sort: "data", Filter: map[string][]string{name: q.Filter[name]}}).check(t); err != nil {
			delete(q.Filter, name)
		}
	}
	if q.Aggregate == "" {
		q.Aggregate, q.Kind, q.Sort = "sum", "bar", "data"
	}
	return q
}
