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

// types is how a value of each type of field is read: it returns the value as it
// is kept, or nil where it is empty.
var types = map[string]func(f Field, v Value) (Value, error){
	"text":      func(f Field, v Value) (Value, error) { return f.text(v, MaxText, false) },
	"multiline": func(f Field, v Value) (Value, error) { return f.text(v, MaxMultiline, true) },
	"number":    Field.number,
	"choice":    Field.choice,
	"boolean":   Field.boolean,
	"date":      Field.date,
}

// check reads a value of the field.
func (f Field) check(v Value) (Value, error) {
	if len(v) == 0 || string(v) == "null" {
		return nil, nil
	}
	return types[f.Type](f, v)
}

func (f Field) wrong(want string) error {
	return canvas.Errorf(CodeInvalid, "%q must be %s", f.Label, want)
}

func (f Field) text(v Value, max int, lines bool) (Value, error) {
	var s string
	if ahp.Unmarshal(v, &s) != nil {
		return nil, f.wrong("text")
	}
	read := texts.Line
	if lines {
		read = texts.Lines
	}
	s, err := read("“"+f.Label+"”", s, max)
	if err != nil || strings.TrimSpace(s) == "" {
		return nil, err
	}
	return ahp.MustMarshal(s), nil
}

// maxNumber is how far numbers go: beyond it not every whole one exists.
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
	s = sample.OneLine(s) // as options are kept
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
