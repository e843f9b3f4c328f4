package form

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample/sampletest"
)

const everything = `{"title":"T","fields":[
	{"name":"t","label":"Text","type":"text","required":true},{"name":"m","label":"Lines","type":"multiline"},
	{"name":"n","label":"Number","type":"number","value":1},{"name":"c","label":"Choice","type":"choice","options":["a","b"]},
	{"name":"b","label":"Yes","type":"boolean","required":true},{"name":"d","label":"Day","type":"date"}]}`

func opened(t interface{ Fatal(...any) }, input string) State {
	s, err := open(State{}, ahp.Value(input))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do runs an action given as "name input".
func do(s State, call string) (State, sample.Result, error) {
	name, input, _ := strings.Cut(call, " ")
	a := agent[name]
	if a == nil {
		a = person[name]
	}
	return a(s, sample.Call{InstanceID: "f", Action: name, Input: ahp.Value(input)})
}

// sketch formats a form as "pending n=1 t="x" | its reason".
func sketch(s State) string {
	words := []string{s.Decision}
	for _, f := range s.Fields {
		if v := s.Values[f.Name]; v != nil {
			words = append(words, f.Name+"="+string(v))
		}
	}
	if s.Reason != "" {
		words = append(words, "|", s.Reason)
	}
	return strings.Join(words, " ")
}

func TestActions(t *testing.T) {
	s := opened(t, everything)
	for _, step := range []struct{ call, want string }{
		{`get_answer {}`, `pending n=1`},
		{`edit {"version":1,"name":"t","value":"  a   b "}`, `pending t="a b" n=1`},
		{`edit {"version":1,"name":"m","value":"x\r\ny"}`, `pending t="a b" m="x\ny" n=1`},
		{`edit {"version":1,"name":"n","value":-2.5e1}`, `pending t="a b" m="x\ny" n=-25`},
		{`edit {"version":1,"name":"n","value":null}`, `pending t="a b" m="x\ny"`},
		{`edit {"version":1,"name":"m","value":" \n "}`, `pending t="a b"`},
		{`edit {"version":1,"name":"c","value":"b"}`, `pending t="a b" c="b"`},
		{`edit {"version":1,"name":"d","value":"2028-02-29"}`, `pending t="a b" c="b" d="2028-02-29"`},
		{`set_fields {"fields":[{"name":"t","label":"T","type":"text"},{"name":"c","label":"C","type":"choice","options":["a"]},{"name":"d","label":"D","type":"text"},{"name":"b","label":"B","type":"boolean","value":true}]}`, `pending t="a b" b=true`},
		{`edit {"version":2,"name":"b","value":false}`, `pending t="a b" b=false`},
		{`decide {"version":2,"decision":"declined","values":{"t":"c"},"reason":"no"}`, `declined t="c" | no`},
		{`get_answer {}`, `declined t="c" | no`},
		{`reset {}`, `pending b=true`},
		{`decide {"version":3,"decision":"approved","values":{"b":false}}`, `approved b=false`},
		{`reset {}`, `pending b=true`},
		{`set_fields {"fields":[{"name":"c","label":"C","type":"choice","options":["A  b "," c"],"value":"A  b "}]}`, `pending c="A b"`},
		{`edit {"version":5,"name":"c","value":" c"}`, `pending c="c"`},
		{`edit {"version":5,"name":"c","value":" "}`, `pending`},
	} {
		after, _, err := do(s, step.call)
		if err != nil {
			t.Fatalf("%s: %v", step.call, err)
		}
		if got := sketch(after); got != step.want {
			t.Fatalf("%s: %s, want %s", step.call, got, step.want)
		}
		s = after
	}
}

func TestActionsRefuse(t *testing.T) {
	s := opened(t, everything)
	decidedForm, _, err := do(s, `decide {"version":1,"decision":"declined","values":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		call, code string
		on         State
	}{
		{`edit {"version":1,"name":"x","value":1}`, CodeInvalid, s},
		{`edit {"version":0,"name":"t","value":"x"}`, CodeChanged, s},
		{`edit {"version":1,"name":"t","value":1}`, CodeInvalid, s},
		{`edit {"version":1,"name":"t","value":"a\u0000"}`, CodeInvalid, s},
		{`edit {"version":1,"name":"t","value":"` + strings.Repeat("ä", MaxText+1) + `"}`, CodeInvalid, s},
		{`edit {"version":1,"name":"n","value":"1"}`, CodeInvalid, s},
		{`edit {"version":1,"name":"n","value":1e300}`, CodeInvalid, s},
		{`edit {"version":1,"name":"c","value":"z"}`, CodeInvalid, s},
		{`edit {"version":1,"name":"b","value":"true"}`, CodeInvalid, s},
		{`edit {"version":1,"name":"d","value":"2026-02-29"}`, CodeInvalid, s},
		{`edit {"version":1,"name":"d","value":"03/04/26"}`, CodeInvalid, s},
		{`decide {"version":1,"decision":"approved","values":{"b":true}}`, CodeMissing, s},
		{`decide {"version":1,"decision":"approved","values":{"t":"x","b":false}}`, CodeMissing, s},
		{`decide {"version":1,"decision":"maybe","values":{}}`, CodeInvalid, s},
		{`decide {"version":1,"decision":"declined","values":{"zz":1}}`, CodeInvalid, s},
		{`decide {"version":1,"decision":"declined","values":{},"reason":"` + strings.Repeat("x", MaxDescription+1) + `"}`, CodeInvalid, s},
		{`set_fields {"fields":[]}`, CodeInvalid, s},
		{`set_fields {"fields":[{"name":"1","label":"A","type":"text"}]}`, CodeInvalid, s},
		{`set_fields {"fields":[{"name":"a","label":" ","type":"text"}]}`, CodeInvalid, s},
		{`set_fields {"fields":[{"name":"a","label":"A","type":"colour"}]}`, CodeInvalid, s},
		{`set_fields {"fields":[{"name":"a","label":"A","type":"choice"}]}`, CodeInvalid, s},
		{`set_fields {"fields":[{"name":"a","label":"A","type":"choice","options":["x"," x"]}]}`, CodeInvalid, s},
		{`set_fields {"fields":[{"name":"a","label":"A","type":"text","options":["x"]}]}`, CodeInvalid, s},
		{`set_fields {"fields":[{"name":"a","label":"A","type":"number","value":"x"}]}`, CodeInvalid, s},
		{`set_fields {"fields":[{"name":"a","label":"A","type":"text"},{"name":"a","label":"B","type":"text"}]}`, CodeInvalid, s},
		{`edit {"version":1,"name":"t","value":"x"}`, CodeDecided, decidedForm},
		{`decide {"version":1,"decision":"approved","values":{"t":"x","b":true}}`, CodeDecided, decidedForm},
		{`set_fields {"fields":[{"name":"a","label":"A","type":"text"}]}`, CodeDecided, decidedForm},
	} {
		before := ahp.MustMarshal(c.on)
		after, result, err := do(c.on, c.call)
		if e, ok := err.(*canvas.Error); !ok || e.Code != c.code {
			t.Errorf("%.80s: %v, want %s", c.call, err, c.code)
		}
		if !ahp.Equal(before, ahp.MustMarshal(after)) || !ahp.Equal(before, ahp.MustMarshal(c.on)) || result.Event != nil {
			t.Errorf("%.80s failed and changed the form", c.call)
		}
	}
}

// TestFullForm: a form fits into a message, however much is entered.
func TestFullForm(t *testing.T) {
	s := opened(t, `{"title":"T","fields":[`+
		`{"name":"a","label":"A","type":"multiline"},{"name":"b","label":"B","type":"multiline"},{"name":"c","label":"C","type":"multiline"}]}`)
	full := false
	for _, name := range []string{"a", "b", "c"} {
		input := `{"version":1,"name":"` + name + `","value":"` + strings.Repeat("ä", MaxMultiline) + `"}`
		after, _, err := do(s, "edit "+input)
		if e, ok := err.(*canvas.Error); ok && e.Code == CodeFull {
			full = true
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		s = after
	}
	if n := len(ahp.MustMarshal(s)); !full || n > MaxBytes {
		t.Errorf("%d bytes, refused: %v", n, full)
	}
}

func TestDeclaration(t *testing.T) { sampletest.Declared(t, New(), agent) }

// TestInvariants runs random actions of agent and person: a decision stands until a
// reset, an approved form has all required values, each decision raises exactly one
// event, and the form never exceeds its limit.
func TestInvariants(t *testing.T) {
	values := []string{`null`, `"a"`, `"b"`, `""`, `1`, `true`, `false`, `"2026-01-31"`, `{}`}
	rapid.Check(t, func(t *rapid.T) {
		s := opened(t, everything)
		var events int
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"edit", "edit", "decide", "reset", "set_fields"}).Draw(t, "action")
			field, value := rapid.SampledFrom([]string{"t", "m", "n", "c", "b", "d"}).Draw(t, "field"), rapid.SampledFrom(values).Draw(t, "value")
			version := string(ahp.MustMarshal(s.Version - rapid.Int64Range(0, 1).Draw(t, "late")))
			decision := rapid.SampledFrom([]string{Approved, Declined}).Draw(t, "decision")
			call := map[string]string{
				"edit":       `{"version":` + version + `,"name":"` + field + `","value":` + value + `}`,
				"decide":     `{"version":` + version + `,"decision":"` + decision + `","values":{"t":"x","b":` + value + `}}`,
				"reset":      `{}`,
				"set_fields": `{"fields":[{"name":"t","label":"T","type":"text","required":true},{"name":"` + field + `2","label":"F","type":"number"},{"name":"b","label":"B","type":"boolean","required":true}]}`,
			}[name]
			after, result, err := do(s, name+" "+call)
			if err != nil && !ahp.Equal(ahp.MustMarshal(s), ahp.MustMarshal(after)) {
				t.Fatalf("%s %s failed and changed the form", name, call)
			}
			if s.Decision != Pending && after.Decision != s.Decision && name != "reset" {
				t.Fatalf("%s removed a decision", name)
			}
			if result.Event != nil {
				events++
			}
			if (result.Event != nil) != (s.Decision == Pending && after.Decision != Pending) {
				t.Fatalf("%s: an event without a decision, or a decision without an event", name)
			}
			if after.Decision == Approved && after.missing() != nil {
				t.Fatalf("approved, but %v", after.missing())
			}
			s = after
		}
	})
}

// FuzzActions: no input of an agent or a View makes an invalid form, and the saved form
// can be read again.
func FuzzActions(f *testing.F) {
	for name := range agent {
		f.Add(name, []byte(everything))
	}
	f.Add("edit", []byte(`{"version":1,"name":"n","value":1e999}`))
	f.Add("decide", []byte(`{"version":1,"decision":"approved","values":{"t":"\ud800"}}`))
	s := opened(f, everything)
	f.Fuzz(func(t *testing.T, name string, input []byte) {
		if agent[name] == nil && person[name] == nil {
			return
		}
		after, _, err := do(s, name+" "+string(input))
		if err != nil {
			return
		}
		var again State
		if _, err := after.checked(); err != nil {
			t.Fatal(err)
		}
		if err := ahp.Unmarshal(ahp.MustMarshal(after), &again); err != nil || !ahp.Equal(ahp.MustMarshal(after), ahp.MustMarshal(again)) {
			t.Fatalf("%s %s cannot be saved: %v", name, input, err)
		}
	})
}
