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
	MaxFields      = 50       // fields of a form
	MaxOptions     = 60       // options of a choice
	MaxLabel       = 200      // code points of a label, a title or an option
	MaxButton      = 40       // code points of approveLabel and declineLabel
	MaxText        = 500      // code points of a text
	MaxMultiline   = 10_000   // code points of a multiline text
	MaxDescription = 2000     // code points of a description or a reason
	MaxBytes       = 48 << 10 // bytes of the form as JSON
)

// The codes of the form's errors.
const (
	CodeInvalid = "form_invalid" // an invalid field, value or input
	CodeMissing = "form_missing" // a required value is missing
	CodeDecided = "form_decided" // the form is decided
	CodeChanged = "form_changed" // the person saw an older version
	CodeFull    = "form_full"    // the form exceeds MaxBytes
)

// The values of State.Decision.
const (
	Pending  = "pending"  // the person has not decided
	Approved = "approved" // the person approved the values
	Declined = "declined" // the person declined
)

var texts = sample.Texts{Code: CodeInvalid}

// State is a form as Views receive it. It is immutable.
type State struct {
	// Title is the question in a few words.
	Title string `json:"title"`
	// Description explains the question; plain text of several lines.
	Description string `json:"description,omitzero"`
	// Fields are the fields, in the order of the page.
	Fields []Field `json:"fields"`
	// ApproveLabel is the text of the button that approves.
	ApproveLabel string `json:"approveLabel"`
	// DeclineLabel is the text of the button that declines.
	DeclineLabel string `json:"declineLabel"`
	// Version counts the agent's changes. Edits and decisions carry it.
	Version int64 `json:"version"`
	// Values are the values by field name, without empty fields.
	Values map[string]Value `json:"values"`
	// Decision is Pending, Approved or Declined.
	Decision string `json:"decision"`
	// Reason is the person's note on the decision.
	Reason string `json:"reason,omitzero"`
}

// Field is a field of a form.
type Field struct {
	// Name identifies the field in State.Values.
	Name string `json:"name"`
	// Label is what the person reads.
	Label string `json:"label"`
	// Type is "text", "multiline", "number", "choice", "boolean" or "date".
	Type string `json:"type"`
	// Value is the initial value; nil is none.
	Value Value `json:"value,omitzero"`
	// Options are the options of a choice.
	Options []string `json:"options,omitzero"`
	// Required reports whether an approval needs a value, or a boolean to be true.
	Required bool `json:"required,omitzero"`
}

// Value is a string, a number or a boolean as JSON; nil and null are no value.
type Value = ahp.Value

var nameRE = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// clean normalizes a field, or returns what is wrong with it.
func (f Field) clean() (Field, error) {
	if !nameRE.MatchString(f.Name) {
		return f, canvas.Errorf(CodeInvalid, "the field name %.70q is invalid; use 1 to 64 letters, digits, '_', '.' and '-', beginning with a letter", f.Name)
	}
	var err error
	if f.Label, err = texts.Name("the label of "+f.Name, f.Label, MaxLabel); err != nil {
		return f, err
	}
	if types[f.Type] == nil {
		return f, canvas.Errorf(CodeInvalid, "field %q has the unknown type %.40q; use text, multiline, number, choice, boolean or date", f.Name, f.Type)
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
			return nil, canvas.Errorf(CodeInvalid, "field %q has options, but is not a choice", f.Name)
		}
		return nil, nil
	}
	if n := len(f.Options); n == 0 || n > MaxOptions {
		return nil, canvas.Errorf(CodeInvalid, "field %q has %d options; a choice needs 1 to %d", f.Name, n, MaxOptions)
	}
	var options []string
	for _, o := range f.Options {
		o, err := texts.Name("an option of "+f.Name, o, MaxLabel)
		if err != nil {
			return nil, err
		}
		if slices.Contains(options, o) {
			return nil, canvas.Errorf(CodeInvalid, "field %q has the option %q twice", f.Name, o)
		}
		options = append(options, o)
	}
	return options, nil
}

// setFields replaces the fields. The person's value stays if a field keeps its name and
// type and has no value.
func (s State) setFields(fields []Field) (State, error) {
	if n := len(fields); n == 0 || n > MaxFields {
		return s, canvas.Errorf(CodeInvalid, "the form has %d fields; it needs 1 to %d", n, MaxFields)
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
		if v := before.initial(f); v != nil {
			s.Values[f.Name] = v
		}
	}
	return s, nil
}

// initial returns the value with which a new field begins.
func (s State) initial(f Field) Value {
	if f.Value != nil {
		return f.Value
	}
	if old, ok := s.field(f.Name); !ok || old.Type != f.Type {
		return nil
	}
	v, err := f.check(s.Values[f.Name])
	if err != nil {
		return nil // the options have changed
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

// with returns the form with a value of a field; nil removes it.
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

// missing returns an error if a value is missing that an approval needs.
func (s State) missing() error {
	for _, f := range s.Fields {
		v := s.Values[f.Name]
		if f.Required && (v == nil || string(v) == "false") {
			return canvas.Errorf(CodeMissing, "%q is required", f.Label)
		}
	}
	return nil
}

// checked returns an error if the form exceeds MaxBytes.
func (s State) checked() (State, error) {
	if len(ahp.MustMarshal(s)) > MaxBytes {
		return s, canvas.Errorf(CodeFull, "a form can have at most %d KiB; shorten something first", MaxBytes>>10)
	}
	return s, nil
}
