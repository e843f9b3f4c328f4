package testcases

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct{ want, got, err string }{
		{`{"a":1,"b":[2,"x"]}`, `{"b":[2,"x"],"a":1}`, ""},
		{`{"a":1}`, `{"a":1.0}`, "/a: want 1, got 1.0"},
		{`{"a":123456789012345678901234567890}`, `{"a":123456789012345678901234567891}`, "/a: want"},
		{`{"a":null}`, `{}`, "/a: missing"},
		{`{}`, `{"a":null}`, "/a: unexpected null"},
		{`{"$...":true}`, `{"a":null}`, ""},
		{`{"a":{"$...":true},"b":1}`, `{"a":{"x":1},"b":1}`, ""},
		{`{"a":{"$...":true}}`, `{"a":{"x":1},"b":1}`, "/b: unexpected"},
		{`[1,2]`, `[2,1]`, "/0: want 1, got 2"},
		{`[1]`, `[1,2]`, "want 1 elements, got 2"},
		{`["$...",2]`, `[0,1,2]`, ""},
		{`["$...",2]`, `[2]`, ""},
		{`["$..."]`, `[]`, ""},
		{`["$...",1,2]`, `[2]`, "want 3 elements, got 1"},
		{`["$...",2]`, `[2,1]`, "/0: want 2, got 1"},
		{`"$*"`, `{"any":["thing",null]}`, ""},
		{`{"a":"$*"}`, `{}`, "/a: missing"},
		{`{"a":"$x","b":"$x"}`, `{"a":{"n":1},"b":{"n":1}}`, ""},
		{`{"a":"$x","b":"$x"}`, `{"a":1,"b":2}`, "/b: $x is bound to 1, got 2"},
		{`{"a":"$x","b":"id/$x/end"}`, `{"a":"c1","b":"id/c1/end"}`, ""},
		{`{"a":"$x","b":"id/$x"}`, `{"a":"c1","b":"id/c2"}`, "/b: want"},
		{`{"a":"$n","b":"$n+1","c":"$n-2"}`, `{"a":5,"b":6,"c":3}`, ""},
		{`{"a":"$n","b":"$n+1"}`, `{"a":5,"b":7}`, "/b: want 6 ($n+1), got 7"},
		{`{"a":"$n","b":"$n+1"}`, `{"a":"x","b":7}`, "/b: $n is not bound to an integer"},
		{`{"b":"$n+1"}`, `{"b":7}`, "/b: $n is not bound to an integer"},
		{`"${fill:3}"`, `"xxx"`, ""},
		{`"${fill:3}"`, `"xx"`, "want"},
		{`"a\u0041"`, `"aA"`, ""},
		{`"1"`, `1`, `want "1", got 1`},
		{`true`, `false`, "want true, got false"},
	} {
		err := Bindings{}.Match(ahp.Value(tt.want), ahp.Value(tt.got))
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s against %s: got %v, want %q", tt.want, tt.got, err, tt.err)
		}
	}
}

func TestExpand(t *testing.T) {
	b := Bindings{"$id": ahp.Value(`"c1"`), "$seq": ahp.Value(`42`)}
	for _, tt := range []struct{ text, want, err string }{
		{`{"a":"/$id/x","n":$seq}`, `{"a":"/c1/x","n":42}`, ""},
		{`"${fill:4}"`, `${fill:4}`, ""}, // one quoted string is sent verbatim
		{`{"a":"${fill:4}"}`, `{"a":"xxxx"}`, ""},
		{`"\xff\x00"`, "\xff\x00", ""},
		{`""`, "", ""},
		{`{"a":"$nobody"}`, "", "$nobody is not bound"},
		{`"$...","$*"`, `"$...","$*"`, ""},
	} {
		got, err := b.Expand(tt.text)
		switch {
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: got %v, want %q", tt.text, err, tt.err)
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("%s: got %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

// FuzzMatch checks two rules: a value without names matches only itself, and no
// input makes Match panic.
func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":"$x","b":["$x"],"$...":true}`, `{"a":1,"b":[1],"c":null}`},
		{`{"a":[1.0,{"b":null}]}`, `{"a":[1.0,{"b":null}]}`},
		{`"$*"`, `{`}, {`{"a":1}`, ``}, {`[`, `]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, want, got string) {
		err := Bindings{}.Match(ahp.Value(want), ahp.Value(got))
		w, g := ahp.Value(want), ahp.Value(got)
		if strings.ContainsAny(want, `$\`) || !w.IsValid() || !g.IsValid() {
			return
		}
		if self := (Bindings{}).Match(w, w); self != nil {
			t.Errorf("%s does not match itself: %v", want, self)
		}
		if err == nil && !ahp.Equal(w, g) {
			t.Errorf("%s matches %s", want, got)
		}
	})
}
