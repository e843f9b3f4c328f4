package chart

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// agent holds the actions of an agent; declaration.json describes them.
var agent = map[string]sample.Action[State]{
	"set_query": sample.With(CodeInvalid, func(s State, _ sample.Call, c change) (State, sample.Result, error) {
		after, err := s.changeQuery(c)
		if err != nil {
			return s, sample.Result{}, err
		}
		after = after.changedFrom(s)
		return after, sample.Result{Value: after.answer(), Note: "changed what the chart shows"}, nil
	}),
	"get_query": sample.With(CodeInvalid, func(s State, _ sample.Call, _ struct{}) (State, sample.Result, error) {
		return s, sample.Result{Value: queryAt{s.Version, s.drawing().queryInfo}}, nil
	}),
	"get_data": sample.With(CodeInvalid, func(s State, _ sample.Call, _ struct{}) (State, sample.Result, error) {
		return s, sample.Result{Value: s.data(s.result())}, nil
	}),
	"set_data": sample.With(CodeInvalid, func(s State, _ sample.Call, in dataInput) (State, sample.Result, error) {
		after, err := s.setTable(in)
		if err != nil {
			return s, sample.Result{}, err
		}
		after = after.changedFrom(s)
		return after, sample.Result{Value: after.answer(), Note: "changed the data of the chart", Withdraw: true}, nil
	}),
}

// person holds the actions of the page.
var person = map[string]sample.Action[State]{
	"set_query": sample.With(CodeInvalid, func(s State, _ sample.Call, c chosen) (State, sample.Result, error) {
		if c.Version != nil && *c.Version != s.Version {
			return s, sample.Result{}, canvas.Errorf(CodeChanged, "the agent has changed the chart; check it again")
		}
		after, err := s.changeQuery(c.change)
		if err != nil {
			return s, sample.Result{}, err
		}
		event := changedEvent{"chart.changed", after.Title, after.Source, after.Version, after.Query, after.result()}
		return after, sample.Result{Event: event, Note: "changed what the chart shows"}, nil
	}),
}

type (
	// dataInput is the input of open and set_data.
	dataInput struct {
		Title   *string       `json:"title,omitzero"`
		Source  string        `json:"source,omitzero"`
		Columns []Column      `json:"columns,omitzero"`
		Rows    [][]ahp.Value `json:"rows,omitzero"`
		Query   *change       `json:"query,omitzero"`
	}
	// chosen is a person's change of the query.
	chosen struct {
		change
		Version *int64 `json:"version,omitzero"` // of the chart that the page showed; pages of older releases leave it out
	}
	// queryAnswer is the value of set_query and set_data.
	queryAnswer struct {
		Revision int64  `json:"revision"` // State.Version
		Query    Query  `json:"query"`
		Result   Result `json:"result"`
	}
	// data is the value of get_data.
	data struct {
		Revision int64  `json:"revision"` // State.Version
		Title    string `json:"title"`
		Table
		Query  Query  `json:"query"`
		Result Result `json:"result"`
	}
	// queryAt is the value of get_query.
	queryAt struct {
		Revision int64 `json:"revision"` // State.Version
		queryInfo
	}
	// queryInfo is the query, and what it can be changed to.
	queryInfo struct {
		Query   Query        `json:"query"`
		Columns []columnInfo `json:"columns"`
	}
	// columnInfo is a column with the values that a filter can keep.
	columnInfo struct {
		Column
		Values []string `json:"values,omitzero"` // of a text column with at most maxFilterValues
	}
	// drawing is what Views receive: everything but the rows.
	drawing struct {
		Title  string `json:"title"`
		Source string `json:"source,omitzero"`
		queryInfo
		Result  Result `json:"result"`
		Version int64  `json:"version"`
	}
	// changedEvent tells the agent that a person changed the query, and which numbers
	// they see now: the agent's own may be of another query, or of a table before.
	changedEvent struct {
		Type     string `json:"type"`
		Title    string `json:"title"`
		Source   string `json:"source,omitzero"`
		Revision int64  `json:"revision"` // State.Version
		Query    Query  `json:"query"`
		Result   Result `json:"result"`
	}
)

// maxFilterValues limits the columns that the page can filter by.
const maxFilterValues = 40

func (s State) answer() queryAnswer { return queryAnswer{s.Version, s.Query, s.result()} }
func (s State) data(r Result) data  { return data{s.Version, s.Title, s.Table, s.Query, r} }

// changedFrom counts a change of the agent, if it is one.
func (s State) changedFrom(before State) State {
	s.Version = before.Version
	if !ahp.Equal(ahp.MustMarshal(before), ahp.MustMarshal(s)) {
		s.Version++
	}
	return s
}

func (s State) drawing() drawing {
	d := drawing{Title: s.Title, Source: s.Source, queryInfo: queryInfo{Query: s.Query}, Result: s.result(), Version: s.Version}
	for at, c := range s.Columns {
		column := columnInfo{Column: c}
		if c.Type == text {
			if values := s.values(at); len(values) <= maxFilterValues {
				column.Values = values
			}
		}
		d.Columns = append(d.Columns, column)
	}
	return d
}

// changeQuery applies a change of the query.
func (s State) changeQuery(c change) (State, error) {
	after := s
	var err error
	if after.Query, err = s.Query.with(c).check(s.Table); err != nil {
		return s, err
	}
	if after, err = after.checked(); err != nil {
		return s, err
	}
	return after, nil
}

// open applies the input of an open. A new chart without data gets the sample data.
func open(before State, input ahp.Value) (State, error) {
	after, err := before.opened(input)
	if err != nil {
		return before, err
	}
	return after.changedFrom(before), nil
}

func (s State) opened(input ahp.Value) (State, error) {
	in := dataInput{}
	if input != nil {
		if err := ahp.Unmarshal(input, &in); err != nil {
			return s, canvas.Errorf(CodeInvalid, "the chart's input cannot be read: %v", err)
		}
	}
	if s.Columns == nil && in.Columns == nil && in.Rows == nil {
		var shop dataInput
		err := ahp.Unmarshal(sampleData, &shop)
		if err == nil {
			s, err = s.setTable(shop)
		}
		if err != nil {
			return s, err
		}
	}
	if in.Columns != nil || in.Rows != nil {
		return s.setTable(in)
	}
	return s.applyRest(in)
}

// setTable replaces the table, and adapts the query to it.
func (s State) setTable(in dataInput) (State, error) {
	table, err := Table{in.Source, in.Columns, in.Rows}.clean()
	if err != nil {
		return s, err
	}
	return State{Title: s.Title, Table: table, Query: s.Query.adaptTo(table)}.applyRest(in)
}

// applyRest applies the title and the query of an input.
func (s State) applyRest(in dataInput) (State, error) {
	after := s
	if after.Title == "" {
		after.Title = "Chart"
	}
	if in.Title != nil {
		title, err := texts.Name("the title", *in.Title, MaxTitle)
		if err != nil {
			return s, err
		}
		after.Title = title
	}
	c := change{}
	if in.Query != nil {
		c = *in.Query
	}
	return after.changeQuery(c)
}
