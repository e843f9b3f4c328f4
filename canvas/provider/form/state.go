package form

import (
	"maps"
	"regexp"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// The limits of a form; see the package comment.
const (
	MaxFields      = 50
	MaxOptions     = 60
	MaxLabel       = 200    // code points, also of titles and options
	MaxButton      = 40     // code points of approveLabel and declineLabel
	MaxText        = 500    // code points
	MaxMultiline   = 10_000 // code points
	MaxDescription = 2000   // code points, also of reasons
	MaxBytes       = 48 << 10
)

// The codes of a form's own errors.
const (
	CodeInvalid = "form_invalid" // a field, a value or an input that does not fit
	CodeMissing = "form_missing" // a required value is not there
	CodeDecided = "form_decided" // it is read-only
	CodeChanged = "form_changed" // the person saw another version
	CodeFull    = "form_full"
)

// What a form can have come to.
const (
	Pending  = "pending"
	Approved = "approved"
	Declined = "declined"
)

var texts = sample.Texts{Code: CodeInvalid}

// State is a form. It is a value: nothing in it is changed once it holds.
type State struct {
	Title        string  `json:"title"`
	Description  string  `json:"description,omitzero"`
	Fields       []Field `json:"fields"`
	ApproveLabel string  `json:"approveLabel"`
	DeclineLabel string  `json:"declineLabel"`
	// Version counts how often the agent asked: a decision names it.
	Version  int64            `json:"version"`
	Values   map[string]Value `json:"values"` // by field; without those that are empty
	Decision string           `json:"decision"`
	Reason   string           `json:"reason,omitzero"`
}

// Field is one thing to fill in.
type Field struct {
	Name     string   `json:"name"`
	Label    string   `json:"label"`
	Type     string   `json:"type"`
	Value    Value    `json:"value,omitzero"` // that it begins with
	Options  []string `json:"options,omitzero"`
	Required bool     `json:"required,omitzero"`
}

// Value is a string, a number or a boolean as JSON; nil and null are none.
type Value = ahp.Value

var nameRE = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// clean returns a field as it is kept, or says what is wrong with it.
func (f Field) clean() (Field, error) {
	if !nameRE.MatchString(f.Name) {
		return f, canvas.Errorf(CodeInvalid, "%.70q is no name of a field: use letters, digits, _ . - (64 at most), a letter first", f.Name)
	}
	var err error
	if f.Label, err = texts.Name("the label of "+f.Name, f.Label, MaxLabel); err != nil {
		return f, err
	}
	if types[f.Type] == nil {
		return f, canvas.Errorf(CodeInvalid, "field %s has the type %.40q: use text, multiline, number, choice, boolean or date", f.Name, f.Type)
	}
	if f.Options, err = f.cleanOptions(); err != nil {
		return f, err
	}
	f.Value, err = f.check(f.Value)
	return f, err
}

func (f Field) cleanOptions() ([]string, error) {
	if f.Type != "choice" {
		if len(f.Options) > 0 {
			return nil, canvas.Errorf(CodeInvalid, "field %s has options, but it is no choice", f.Name)
		}
		return nil, nil
	}
	if n := len(f.Options); n == 0 || n > MaxOptions {
		return nil, canvas.Errorf(CodeInvalid, "field %s has %d options: a choice has 1 to %d", f.Name, n, MaxOptions)
	}
	var options []string
	for _, o := range f.Options {
		o, err := texts.Name("an option of "+f.Name, o, MaxLabel)
		if err != nil {
			return nil, err
		}
		if slices.Contains(options, o) {
			return nil, canvas.Errorf(CodeInvalid, "field %s has the option %q twice", f.Name, o)
		}
		options = append(options, o)
	}
	return options, nil
}

// setFields makes fields those of the form. What the person entered stays where
// a field keeps its name and type and brings no value of its own.
func (s State) setFields(fields []Field) (State, error) {
	if n := len(fields); n == 0 || n > MaxFields {
		return s, canvas.Errorf(CodeInvalid, "there are %d fields: a form has 1 to %d", n, MaxFields)
	}
	before := s
	s.Fields, s.Values = make([]Field, 0, len(fields)), map[string]Value{}
	for _, f := range fields {
		f, err := f.clean()
		if err != nil {
			return before, err
		}
		if slices.ContainsFunc(s.Fields, func(g Field) bool { return g.Name == f.Name }) {
			return before, canvas.Errorf(CodeInvalid, "two fields are called %q", f.Name)
		}
		s.Fields = append(s.Fields, f)
		if v := before.carried(f); v != nil {
			s.Values[f.Name] = v
		}
	}
	return s, nil
}

// carried is what a new field begins with.
func (s State) carried(f Field) Value {
	if f.Value != nil {
		return f.Value
	}
	if old, ok := s.field(f.Name); !ok || old.Type != f.Type {
		return nil
	}
	v, err := f.check(s.Values[f.Name])
	if err != nil {
		return nil // the options are others now
	}
	return v
}

func (s State) field(name string) (Field, bool) {
	at := slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == name })
	if at < 0 {
		return Field{}, false
	}
	return s.Fields[at], true
}

// with is the form with a value of one field; an empty one is taken away.
func (s State) with(name string, v Value) (State, error) {
	f, ok := s.field(name)
	if !ok {
		return s, canvas.Errorf(CodeInvalid, "the form has no field %.70q", name)
	}
	v, err := f.check(v)
	if err != nil {
		return s, err
	}
	s.Values = maps.Clone(s.Values)
	if v == nil {
		delete(s.Values, name)
	} else {
		s.Values[name] = v
	}
	return s, nil
}

// missing says what an approval needs and does not have.
func (s State) missing() error {
	for _, f := range s.Fields {
		v := s.Values[f.Name]
		if f.Required && (v == nil || string(v) == "false") {
			return canvas.Errorf(CodeMissing, "%q is required", f.Label)
		}
	}
	return nil
}

// checked holds a changed form against the limit of all of it.
func (s State) checked() (State, error) {
	if len(ahp.MustMarshal(s)) > MaxBytes {
		return s, canvas.Errorf(CodeFull, "a form holds at most %d KiB: shorten something first", MaxBytes>>10)
	}
	return s, nil
}
