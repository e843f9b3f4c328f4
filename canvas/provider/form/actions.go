package form

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// agent is what an agent may do; declaration.json has it for agents.
var agent = map[string]sample.Action[State]{
	"set_fields": sample.With(CodeInvalid, setFields),
	"get_answer": sample.With(CodeInvalid, func(s State, c sample.Call, _ struct{}) (State, sample.Result, error) {
		return s, s.answer(c.InstanceID), nil
	}),
	"reset": sample.With(CodeInvalid, reset),
}

// person is what the page asks for. An agent cannot.
var person = map[string]sample.Action[State]{
	"edit":   sample.With(CodeInvalid, edit),
	"decide": sample.With(CodeInvalid, decide),
}

// asked is what an agent opens a form with, or changes of it: absent stays.
type asked struct {
	Title        *string `json:"title,omitzero"`
	Description  *string `json:"description,omitzero"`
	Fields       []Field `json:"fields,omitzero"`
	ApproveLabel *string `json:"approveLabel,omitzero"`
	DeclineLabel *string `json:"declineLabel,omitzero"`
}

// answer is a form's answer, or what there is of it.
type answer struct {
	Form     string           `json:"form"` // the instance
	Decision string           `json:"decision"`
	Values   map[string]Value `json:"values"`
	Reason   string           `json:"reason,omitzero"`
}

func (s State) answer(id string) sample.Result {
	return sample.Result{Value: answer{id, s.Decision, s.Values, s.Reason}}
}

// open asks anew: another input is another question, so a decision on the last
// one does not answer it.
func open(before State, input ahp.Value) (State, error) {
	var in asked
	if err := ahp.Unmarshal(input, &in); err != nil {
		return before, canvas.Errorf(CodeInvalid, "a form is opened with {title, fields}: %v", err)
	}
	s := State{Title: "Form", ApproveLabel: "Approve", DeclineLabel: "Decline", Decision: Pending, Version: before.Version}
	return s.ask(in)
}

// ask changes the question.
func (s State) ask(in asked) (State, error) {
	before := s
	for _, t := range []struct {
		what string
		to   *string
		from *string
		max  int
	}{
		{"the title", &s.Title, in.Title, MaxLabel},
		{"approveLabel", &s.ApproveLabel, in.ApproveLabel, MaxButton},
		{"declineLabel", &s.DeclineLabel, in.DeclineLabel, MaxButton},
	} {
		if t.from == nil {
			continue
		}
		text, err := texts.Name(t.what, *t.from, t.max)
		if err != nil {
			return before, err
		}
		*t.to = text
	}
	if in.Description != nil {
		text, err := texts.Lines("the description", *in.Description, MaxDescription)
		if err != nil {
			return before, err
		}
		s.Description = text
	}
	s, err := s.setFields(in.Fields)
	if err != nil {
		return before, err
	}
	s.Version++
	return s.checked()
}

func setFields(s State, c sample.Call, in asked) (State, sample.Result, error) {
	if err := s.open(); err != nil {
		return s, sample.Result{}, err
	}
	after, err := s.ask(in)
	if err != nil {
		return s, sample.Result{}, err
	}
	return after, after.answer(c.InstanceID), nil
}

// reset takes the decision and what was entered away.
func reset(s State, c sample.Call, _ struct{}) (State, sample.Result, error) {
	s.Decision, s.Reason, s.Values = Pending, "", map[string]Value{}
	for _, f := range s.Fields {
		if f.Value != nil {
			s.Values[f.Name] = f.Value
		}
	}
	s.Version++
	return s, s.answer(c.InstanceID), nil
}

// open refuses what comes after a decision.
func (s State) open() error {
	if s.Decision != Pending {
		return canvas.Errorf(CodeDecided, "the form was %s already: the agent can reset it", s.Decision)
	}
	return nil
}

// seen refuses what was meant for a form that is another one now.
func (s State) seen(version int64) error {
	if err := s.open(); err != nil {
		return err
	}
	if version != s.Version {
		return canvas.Errorf(CodeChanged, "the agent has changed the form: look at it again")
	}
	return nil
}

// edited is one value that a person entered.
type edited struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	Value   Value  `json:"value"`
}

func edit(s State, _ sample.Call, in edited) (State, sample.Result, error) {
	if err := s.seen(in.Version); err != nil {
		return s, sample.Result{}, err
	}
	after, err := s.with(in.Name, in.Value)
	if err == nil {
		after, err = after.checked()
	}
	if err != nil {
		return s, sample.Result{}, err
	}
	return after, sample.Result{}, nil
}

// decided is a person's decision on what their page showed.
type decided struct {
	Version  int64            `json:"version"`
	Decision string           `json:"decision"`
	Values   map[string]Value `json:"values"`
	Reason   string           `json:"reason,omitzero"`
}

func decide(s State, c sample.Call, in decided) (State, sample.Result, error) {
	after, err := s.decide(in)
	if err != nil {
		return s, sample.Result{}, err
	}
	result := after.answer(c.InstanceID)
	return after, sample.Result{Event: result.Value}, nil
}

func (s State) decide(in decided) (State, error) {
	if err := s.seen(in.Version); err != nil {
		return s, err
	}
	if in.Decision != Approved && in.Decision != Declined {
		return s, canvas.Errorf(CodeInvalid, "a decision is %q or %q", Approved, Declined)
	}
	after := s
	after.Values = map[string]Value{}
	for name, v := range in.Values {
		var err error
		if after, err = after.with(name, v); err != nil {
			return s, err
		}
	}
	if in.Decision == Approved {
		if err := after.missing(); err != nil {
			return s, err
		}
	}
	reason, err := texts.Lines("the reason", in.Reason, MaxDescription)
	if err != nil {
		return s, err
	}
	after.Decision, after.Reason = in.Decision, reason
	return after.checked()
}
