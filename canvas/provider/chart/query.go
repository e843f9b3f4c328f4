package chart

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// Query is what is asked of the table.
type Query struct {
	Measure   string `json:"measure"`   // a number column
	Aggregate string `json:"aggregate"` // how rows of one group become one number
	GroupBy   string `json:"groupBy"`   // a text column: along the axis
	SplitBy   string `json:"splitBy"`   // a text column: one series each; "" is one series
	// Filter keeps rows whose column has one of the values; a column that is
	// absent keeps all.
	Filter map[string][]string `json:"filter"`
	Kind   string              `json:"kind"` // "bar" or "line"
	Sort   string              `json:"sort"` // groups: as the "data" have them, "largest" or "smallest" first
}

// change is what of a query is changed: absent stays.
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

// with is a query after a change; it need not fit the table.
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

// fits holds a query against a table, and returns it as it is kept.
func (q Query) fits(t Table) (Query, error) {
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
			return q, canvas.Errorf(CodeInvalid, "%s is %.40q: use one of %v", f.what, f.have, f.of)
		}
	}
	filter := map[string][]string{}
	for name, values := range q.Filter {
		var err error
		name = sample.OneLine(name)
		if filter[name], err = t.keep(name, values); err != nil {
			return q, err
		}
	}
	q.Filter = filter
	return q, nil
}

// keep is a filter as it is kept: values of a column, in the order of its rows. With
// none nothing is drawn: the page says so.
func (t Table) keep(name string, values []string) ([]string, error) {
	at, err := t.column(name, text)
	if err != nil {
		return nil, err
	}
	have, wanted := t.values(at), map[string]bool{}
	for _, v := range values {
		kept := sample.OneLine(v)
		wanted[kept] = true
		if !slices.Contains(have, kept) {
			return nil, canvas.Errorf(CodeInvalid, "column %q never has %.110q%s", name, v, instead(have))
		}
	}
	return append([]string{}, slices.DeleteFunc(have, func(v string) bool { return !wanted[v] })...), nil
}

// instead names the values of a column, where they are few.
func instead(values []string) string {
	if len(values) > maxChoices {
		return ": get_data shows its values"
	}
	return fmt.Sprintf("; it has: %q", values)
}

// fallBack is a query that fits the table, as like q as can be.
func (q Query) fallBack(t Table) Query {
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
		if _, err := (Query{Measure: q.Measure, GroupBy: q.GroupBy, Aggregate: "sum", Kind: "bar", Sort: "data", Filter: map[string][]string{name: q.Filter[name]}}).fits(t); err != nil {
			delete(q.Filter, name)
		}
	}
	if q.Aggregate == "" {
		q.Aggregate, q.Kind, q.Sort = "sum", "bar", "data"
	}
	return q
}
