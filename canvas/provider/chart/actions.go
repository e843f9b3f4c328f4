package chart

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// agent is what an agent may do; declaration.json has it for agents.
var agent = map[string]sample.Action[State]{
	"set_query": sample.With(CodeInvalid, func(s State, _ sample.Call, c change) (State, sample.Result, error) {
		after, err := s.ask(c)
		if err != nil {
			return s, sample.Result{}, err
		}
		return after, sample.Result{Value: after.drawn()}, nil
	}),
	"get_query": sample.With(CodeInvalid, func(s State, _ sample.Call, _ struct{}) (State, sample.Result, error) {
		return s, sample.Result{Value: s.drawing().asked}, nil
	}),
	"get_data": sample.With(CodeInvalid, func(s State, _ sample.Call, _ struct{}) (State, sample.Result, error) {
		return s, sample.Result{Value: s.data(s.result())}, nil
	}),
	"set_data": sample.With(CodeInvalid, func(s State, _ sample.Call, in given) (State, sample.Result, error) {
		after, err := s.take(in)
		if err != nil {
			return s, sample.Result{}, err
		}
		return after, sample.Result{Value: after.drawn()}, nil
	}),
}

// person is what the page asks for.
var person = map[string]sample.Action[State]{
	"set_query": sample.With(CodeInvalid, func(s State, _ sample.Call, c change) (State, sample.Result, error) {
		after, err := s.ask(c)
		return after, sample.Result{Event: changed{"chart.changed", after.Query}}, err
	}),
}

type (
	// given is what a chart is opened with, or gets by set_data.
	given struct {
		Title   *string       `json:"title,omitzero"`
		Source  string        `json:"source,omitzero"`
		Columns []Column      `json:"columns,omitzero"`
		Rows    [][]ahp.Value `json:"rows,omitzero"`
		Query   *change       `json:"query,omitzero"`
	}
	// drawn is what the agent gets for a change.
	drawn struct {
		Query  Query  `json:"query"`
		Result Result `json:"result"`
	}
	// data is all that there is.
	data struct {
		Title string `json:"title"`
		Table
		Query  Query  `json:"query"`
		Result Result `json:"result"`
	}
	// asked is the query, and what could be asked instead.
	asked struct {
		Query   Query    `json:"query"`
		Columns []choice `json:"columns"`
	}
	// choice is a column with what it can be filtered by.
	choice struct {
		Column
		Values []string `json:"values,omitzero"` // of a text column with few of them
	}
	// drawing is what the page gets: not the rows.
	drawing struct {
		Title  string `json:"title"`
		Source string `json:"source,omitzero"`
		asked
		Result Result `json:"result"`
	}
	// changed is the event of a person's change.
	changed struct {
		Type  string `json:"type"`
		Query Query  `json:"query"`
	}
)

// maxChoices is with how many values a column can still be filtered in the page.
const maxChoices = 40

func (s State) drawn() drawn       { return drawn{s.Query, s.result()} }
func (s State) data(r Result) data { return data{s.Title, s.Table, s.Query, r} }

func (s State) drawing() drawing {
	d := drawing{Title: s.Title, Source: s.Source, asked: asked{Query: s.Query}, Result: s.result()}
	for at, c := range s.Columns {
		column := choice{Column: c}
		if c.Type == text {
			if values := s.values(at); len(values) <= maxChoices {
				column.Values = values
			}
		}
		d.Columns = append(d.Columns, column)
	}
	return d
}

// ask changes the query.
func (s State) ask(c change) (State, error) {
	after := s
	var err error
	if after.Query, err = s.Query.with(c).fits(s.Table); err != nil {
		return s, err
	}
	if after, err = after.checked(); err != nil {
		return s, err
	}
	return after, nil
}

// open brings a chart to an input: with data of its own, or the sample data.
func open(s State, input ahp.Value) (State, error) {
	in := given{}
	if input != nil {
		if err := ahp.Unmarshal(input, &in); err != nil {
			return s, canvas.Errorf(CodeInvalid, "the input does not fit: %v", err)
		}
	}
	if s.Columns == nil && in.Columns == nil && in.Rows == nil {
		var shop given
		err := ahp.Unmarshal(sampleData, &shop)
		if err == nil {
			s, err = s.take(shop)
		}
		if err != nil {
			return s, err
		}
	}
	if in.Columns != nil || in.Rows != nil {
		return s.take(in)
	}
	return s.retitled(in)
}

// take makes a table the one that is drawn, and brings the query to it.
func (s State) take(in given) (State, error) {
	table, err := Table{in.Source, in.Columns, in.Rows}.clean()
	if err != nil {
		return s, err
	}
	return State{Title: s.Title, Table: table, Query: s.Query.fallBack(table)}.retitled(in)
}

// retitled changes what of a chart is no data.
func (s State) retitled(in given) (State, error) {
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
	return after.ask(c)
}
