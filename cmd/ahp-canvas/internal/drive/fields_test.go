package drive

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestFields checks that a field gets the type that the schema states, and text without
// one, and that wrong values are named.
func TestFields(t *testing.T) {
	schema := ahp.Value(`{"properties":{"title":{"type":"string"},"done":{"type":"boolean"},"n":{"type":["integer","null"]},"mixed":{"type":["string","number"]}}}`)
	for _, c := range []struct{ input, fields, want string }{
		{"", "title=A", `{"title":"A"}`},
		{"", "title=12", `{"title":"12"}`},
		{"", "title=a=b", `{"title":"a=b"}`},
		{"", "title=", `{"title":""}`},
		{"", "done=true|n=3", `{"done":true,"n":3}`},
		{"", "mixed=3", `{"mixed":"3"}`},
		{"", "mixed:=3", `{"mixed":3}`},
		{"", "other=true|list:=[1,{}]", `{"list":[1,{}],"other":"true"}`},
		{`{"title":"A","n":1}`, "n=2", `{"n":2,"title":"A"}`},
		{"", "done=yes", `"done=yes": the value is not JSON, and the canvas wants the type boolean`},
		{"", "x:=yes", `"x:=yes": the value is not JSON`},
		{"", "title", `"title": want key=value, or key:=JSON`},
		{"", "=x", `"=x": want key=value, or key:=JSON`},
		{"", ":=1", `":=1": want key=value, or key:=JSON`},
		{`[1]`, "title=A", `--input is [1]`},
		{`null`, "title=A", `--input is null`},
	} {
		f := inputFlags{c.input, strings.Split(c.fields, "|")}
		input, err := f.read(nil)
		if err == nil {
			input, err = f.withFields(input, schema)
		}
		got := string(input)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("--input %q, %s: %s, want %s", c.input, c.fields, got, c.want)
		}
	}
}

// TestNewInstance checks that a new instance gets a name that a person can type and that
// no open canvas has.
func TestNewInstance(t *testing.T) {
	if name := newInstance("board", nil); !regexp.MustCompile(`^board-[2-9a-z]{4}$`).MatchString(name) {
		t.Error(name)
	}
	if name := newInstance(strings.Repeat("ä", 128), nil); len([]rune(name)) > 128 {
		t.Error(name)
	}
	var open []session.OpenCanvasRef
	for range 2000 { // with 800,000 names, two would be equal
		open = append(open, session.OpenCanvasRef{InstanceID: newInstance("c", open)})
	}
	seen := map[string]bool{}
	for _, o := range open {
		if seen[o.InstanceID] {
			t.Fatal("twice:", o.InstanceID)
		}
		seen[o.InstanceID] = true
	}
}
