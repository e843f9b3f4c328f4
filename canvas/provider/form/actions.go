package form

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// agent holds the actions of an agent; declaration.json describes them.
var agent = map[string]sample.Action[State]{
	"set_fields": sample.With(CodeInvalid, setFields),
	"get_answer": sample.With(CodeInvalid, func(s State, c sample.Call, _ struct{}) (State, sample.Result, error) {
		return s, s.answer(c.InstanceID), nil
	}),
	"reset": sample.With(CodeInvalid, reset),
}

// person holds the actions of the page, which an agent cannot invoke.
var person = map[string]sample.Action[State]{
	"edit":   sample.With(CodeInvalid, edit),
	"decide": sample.With(CodeInvalid, decide),
}

// question is the input of open and set_fields. Absent members keep their values.
type question struct {
	Title        *string `json:"title,omitzero"`
	Description  *string `json:"description,omitzero"`
	Fields       []Field `json:"fields,omitzero"`
	ApproveLabel *string `json:"approveLabel,omitzero"`
	DeclineLabel *string `json:"declineLabel,omitzero"`
}

// answer is a form's answer; it is not final while the decision is pending.
type answer struct {
	Form     string           `json:"form"`     // the instance id
	Question string           `json:"question"` // the title that the person saw
	Revision int64            `json:"revision"` // of the question: State.Version
	Decision string           `json:"decision"`
	Values   map[string]Value `json:"values"`
	Reason   string           `json:"reason,omitzero"`
}

func (s State) answer(id string) sample.Result {
	return sample.Result{Value: answer{id, s.Title, s.Version, s.Decision, s.Values, s.Reason}}
}

// open asks a new question. It drops values and decision, which belong to the previous
// question.
func open(before State, input ahp.Value) (State, error) {
	var in question
	if err := ahp.Unmarshal(input, &in); err != nil {
		return before, canvas.Errorf(CodeInvalid, "a form needs the input {title, fields}: %v", err)
	}
	s := State{Title: "Form", ApproveLabel: "Approve", DeclineLabel: "Decline", Decision: Pending, Version: before.Version}
	return s.ask(in)
}

// ask changes the question and counts the version.
func (s State) ask(in question) (State, error) {
	before := s
	for _, t := range []struct {
		name string
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
		text, err := texts.Name(t.name, *t.from, t.max)
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

func setFields(s State, c sample.Call, in question) (State, sample.Result, error) {
	if err := s.checkPending(); err != nil {
		return s, sample.Result{}, err
	}
	after, err := s.ask(in)
	if err != nil {
		return s, sample.Result{}, err
	}
	result := after.answer(c.InstanceID)
	result.Withdraw, result.Note = true, "asked “"+after.Title+"”"
	return after, result, nil
}

// reset drops the decision and restores the fields' initial values.
func reset(s State, c sample.Call, _ struct{}) (State, sample.Result, error) {
	s.Decision, s.Reason, s.Values = Pending, "", map[string]Value{}
	for _, f := range s.Fields {
		if f.Value != nil {
			s.Values[f.Name] = f.Value
		}
	}
	s.Version++
	result := s.answer(c.InstanceID)
	result.Withdraw = true
	return s, result, nil
}

// checkPending returns an error if the form is decided.
func (s State) checkPending() error {
	if s.Decision != Pending {
		return canvas.Errorf(CodeDecided, "the form is already %s; only the agent can reset it", s.Decision)
	}
	return nil
}

// checkVersion returns an error if the form is decided, or if the person saw an older
// version of it.
func (s State) checkVersion(version int64) error {
	if err := s.checkPending(); err != nil {
		return err
	}
	if version != s.Version {
		return canvas.Errorf(CodeChanged, "the agent has changed the form; check it again")
	}
	return nil
}

// edited is the input of edit: one value that a person entered.
type edited struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	Value   Value  `json:"value"`
}

func edit(s State, _ sample.Call, in edited) (State, sample.Result, error) {
	if err := s.checkVersion(in.Version); err != nil {
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

// decided is the input of decide: a decision on what the page showed.
type decided struct {
	Question *string          `json:"question,omitzero"` // its title; pages of older releases leave it out
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
	did := map[string]string{Approved: "approved", Declined: "declined"}[after.Decision] + " “" + after.Title + "”"
	return after, sample.Result{Event: result.Value, Note: did}, nil
}

func (s State) decide(in decided) (State, error) {
	if err := s.checkVersion(in.Version); err != nil {
		return s, err
	}
	if in.Question != nil && *in.Question != s.Title {
		return s, canvas.Errorf(CodeChanged, "the agent has changed the question; check it again")
	}
	if in.Decision != Approved && in.Decision != Declined {
		return s, canvas.Errorf(CodeInvalid, "the decision %q is neither %q nor %q", in.Decision, Approved, Declined)
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
