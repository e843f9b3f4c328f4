package form

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
)

// types holds, by type of field, the functions that check a value and return it
// normalized, or nil if it is empty.
var types = map[string]func(f Field, v Value) (Value, error){
	"text":      func(f Field, v Value) (Value, error) { return f.text(v, MaxText, false) },
	"multiline": func(f Field, v Value) (Value, error) { return f.text(v, MaxMultiline, true) },
	"number":    Field.number,
	"choice":    Field.choice,
	"boolean":   Field.boolean,
	"date":      Field.date,
}

// check checks and normalizes a value of the field.
func (f Field) check(v Value) (Value, error) {
	if len(v) == 0 || string(v) == "null" {
		return nil, nil
	}
	return types[f.Type](f, v)
}

func (f Field) wrong(want string) error {
	return canvas.Errorf(CodeInvalid, "%q must be %s", f.Label, want)
}

func (f Field) text(v Value, max int, multiline bool) (Value, error) {
	var s string
	if ahp.Unmarshal(v, &s) != nil {
		return nil, f.wrong("text")
	}
	check := texts.Line
	if multiline {
		check = texts.Lines
	}
	s, err := check("“"+f.Label+"”", s, max)
	if err != nil || strings.TrimSpace(s) == "" {
		return nil, err
	}
	return ahp.MustMarshal(s), nil
}

// maxNumber limits numbers: a float64 represents every whole number up to it.
const maxNumber = 1 << 53

func (f Field) number(v Value) (Value, error) {
	var n float64
	if ahp.Unmarshal(v, &n) != nil || math.Abs(n) > maxNumber {
		return nil, f.wrong("a number between -2⁵³ and 2⁵³")
	}
	return ahp.MustMarshal(n), nil
}

func (f Field) choice(v Value) (Value, error) {
	var s string
	if ahp.Unmarshal(v, &s) != nil {
		return nil, f.wrong("one of its options")
	}
	s = sample.OneLine(s) // as clean does with options
	if s != "" && !slices.Contains(f.Options, s) {
		return nil, f.wrong("one of its options")
	}
	if s == "" {
		return nil, nil
	}
	return ahp.MustMarshal(s), nil
}

func (f Field) boolean(v Value) (Value, error) {
	var b bool
	if ahp.Unmarshal(v, &b) != nil {
		return nil, f.wrong("true or false")
	}
	return ahp.MustMarshal(b), nil
}

func (f Field) date(v Value) (Value, error) {
	var s string
	if ahp.Unmarshal(v, &s) != nil {
		return nil, f.wrong("a date like 2026-01-31")
	}
	if s == "" {
		return nil, nil
	}
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return nil, f.wrong("a date like 2026-01-31")
	}
	return ahp.MustMarshal(s), nil
}
