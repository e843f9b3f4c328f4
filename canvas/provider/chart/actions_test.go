package chart

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample/sampletest"
)

const small = `{"title":"T","columns":[{"name":"A","type":"text"},{"name":"B","type":"text"},{"name":"N","type":"number"},{"name":"M","type":"number"}],
	"rows":[["x","p",1,10],["y","p",0.1,null],["x","q",2,-5],["y","p",0.2,4],["z","q",null,7]]}`

func opened(t interface{ Fatal(...any) }, input string) State {
	s, err := open(State{}, ahp.Value(input))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do runs an action of the agent dataInput as "name input".
func do(s State, call string) (State, sample.Result, error) {
	name, input, _ := strings.Cut(call, " ")
	return agent[name](s, sample.Call{InstanceID: "c", Action: name, Input: ahp.Value(input)})
}

// sketch formats a result as "x y z: p 1 0.3 - | q 2 - -".
func sketch(r Result) string {
	var series []string
	for _, s := range r.Series {
		line := []string{s.Name}
		for _, v := range s.Values {
			if v == nil {
				line = append(line, "-")
			} else {
				line = append(line, fmt.Sprint(*v))
			}
		}
		series = append(series, strings.Join(line, " "))
	}
	return strings.Join(r.Groups, " ") + ": " + strings.Join(series, " | ")
}

func TestActions(t *testing.T) {
	s := opened(t, small)
	for _, step := range []struct{ call, want string }{
		{`get_query {}`, "x y z: N 3 0.3 -"},
		{`set_query {"splitBy":"B"}`, "x y z: p 1 0.3 - | q 2 - -"},
		{`set_query {"measure":"M","aggregate":"average"}`, "x y z: p 10 4 - | q -5 - 7"},
		{`set_query {"aggregate":"smallest","splitBy":""}`, "x y z: M -5 4 7"},
		{`set_query {"aggregate":"largest"}`, "x y z: M 10 4 7"},
		{`set_query {"sort":"smallest"}`, "y z x: M 4 7 10"},
		{`set_query {"sort":"largest","aggregate":"count"}`, "x y z: M 2 1 1"},
		{`set_query {"sort":"data","aggregate":"sum","filter":{"B":["q"]}}`, "x z: M -5 7"},
		{`set_query {"filter":{"B":["q"],"A":["z","y"]}}`, "z: M 7"},
		{`set_query {"filter":{"A":[]}}`, ": "},
		{`set_query {"filter":{},"groupBy":"B","splitBy":"B"}`, "p q: M 14 2"},
		{`set_query {"filter":{"A":["x"]},"splitBy":"A"}`, "p q: x 10 -5"},
		{`set_data {"columns":[{"name":"B","type":"text"},{"name":"K","type":"number"}],"rows":[["  one  thing ",1],["one thing",2]]}`, "one thing: K 3"},
	} {
		after, _, err := do(s, step.call)
		if err != nil {
			t.Fatalf("%s: %v", step.call, err)
		}
		if got := sketch(after.result()); got != step.want {
			t.Fatalf("%s: %s, want %s", step.call, got, step.want)
		}
		s = after
	}
}

// TestNamesAsWritten: an agent can write names and values as it did in the table. The
// error for an unknown value lists the values.
func TestNamesAsWritten(t *testing.T) {
	s := opened(t, `{"columns":[{"name":" A  a","type":"text"},{"name":"Net  n ","type":"number"}],"rows":[["x  y ",1],["z",2]],
		"query":{"measure":"Net  n ","groupBy":" A  a","filter":{" A  a":["x  y "]}}}`)
	if got := sketch(s.result()); got != "x y: Net n 1" {
		t.Errorf("drawn: %s", got)
	}
	if _, _, err := do(s, `set_query {"filter":{"A a":["X"]}}`); err == nil || !strings.Contains(err.Error(), `its values are ["x y" "z"]`) {
		t.Errorf("an unknown value: %v", err)
	}
}

// TestTidy: numbers are exact, also small ones, but for errors of binary fractions.
func TestTidy(t *testing.T) {
	for _, test := range []struct{ rows, want string }{
		{`["x",0.1],["x",0.2]`, "0.3"},
		{`["x",0.3],["x",-0.1],["x",-0.2]`, "0"}, // and not -0
		{`["x",3e-7],["x",4.5e-9]`, "3.045e-7"},
		{`["x",1e-300],["x",2e-300]`, "3e-300"},
		{`["x",0.000123456789]`, "0.0001234568"},
		{`["x",123456789.123456]`, "123456789.123456"},
		{`["x",999999999999999],["x",0.5]`, "999999999999999.5"},
		{`["x",0]`, "0"},
	} {
		s := opened(t, `{"columns":[{"name":"A","type":"text"},{"name":"N","type":"number"}],"rows":[`+test.rows+`]}`)
		if got := ahp.MustMarshal(s.result().Series[0].Values[0]); !ahp.Equal(got, ahp.Value(test.want)) || got[0] == '-' {
			t.Errorf("%s: %s, want %s", test.rows, got, test.want)
		}
	}
}

func TestActionsRefuse(t *testing.T) {
	s := opened(t, small)
	table := func(columns, rows string) string {
		return `set_data {"columns":[` + columns + `],"rows":[` + rows + `]}`
	}
	const ab = `{"name":"A","type":"text"},{"name":"B","type":"number"}`
	var many, wide []string
	for n := range MaxGroups + 1 {
		many = append(many, fmt.Sprintf(`["g%d",1]`, n))
	}
	for n := range MaxRows {
		wide = append(wide, fmt.Sprintf(`["%d%s",1]`, n%9, strings.Repeat("ä", 60)))
	}
	for _, c := range []struct{ call, code string }{
		{`set_query {"measure":"A"}`, CodeNoColumn},
		{`set_query {"groupBy":"N"}`, CodeNoColumn},
		{`set_query {"splitBy":"Z"}`, CodeNoColumn},
		{`set_query {"filter":{"N":["1"]}}`, CodeNoColumn},
		{`set_query {"filter":{"A":["w"]}}`, CodeInvalid},
		{`set_query {"kind":"pie"}`, CodeInvalid},
		{`set_query {"aggregate":"median"}`, CodeInvalid},
		{`set_query {"sort":"A"}`, CodeInvalid},
		{`set_query {"kind":1}`, CodeInvalid},
		{table(ab, ``), CodeInvalid},
		{table(ab, `["x"]`), CodeInvalid},
		{table(ab, `["x","1"]`), CodeInvalid},
		{table(ab, `[1,1]`), CodeInvalid},
		{table(ab, `["x",1e16]`), CodeInvalid},
		{table(ab, `["a\u0000",1]`), CodeInvalid},
		{table(`{"name":"A","type":"text"}`, `["x"]`), CodeInvalid},
		{table(`{"name":"A","type":"number"}`, `[1]`), CodeInvalid},
		{table(`{"name":"A","type":"date"},`+ab, `["x","x",1]`), CodeInvalid},
		{table(ab+`,{"name":" A ","type":"text"}`, `["x",1,"y"]`), CodeInvalid},
		{table(ab, strings.Join(many, ",")), CodeFull},
		{table(ab, strings.Join(wide, ",")), CodeFull},
		{table(ab, strings.Repeat(`["x",1],`, MaxRows)+`["x",1]`), CodeInvalid},
		{`set_data {"title":" ","columns":[` + ab + `],"rows":[["x",1]]}`, CodeInvalid},
	} {
		before := ahp.MustMarshal(s)
		after, _, err := do(s, c.call)
		if e, ok := err.(*canvas.Error); !ok || e.Code != c.code {
			t.Errorf("%.100s: %v, want %s", c.call, err, c.code)
		}
		if !ahp.Equal(before, ahp.MustMarshal(after)) || !ahp.Equal(before, ahp.MustMarshal(s)) {
			t.Errorf("%.100s failed and changed the chart", c.call)
		}
	}
}

// TestSampleData: the sample data are named as such, and fit the limits.
func TestSampleData(t *testing.T) {
	s := opened(t, `{}`)
	if !strings.Contains(s.Title, "sample data") || !strings.HasPrefix(s.Source, "Sample data") {
		t.Errorf("%q of %q", s.Title, s.Source)
	}
	if r := s.result(); r.Rows != 108 || len(r.Groups) != 12 || len(r.Series) != 3 {
		t.Errorf("%d rows, %d groups, %d series", r.Rows, len(r.Groups), len(r.Series))
	}
	if s := opened(t, `{"title":"Mine","query":{"kind":"bar","splitBy":""}}`); s.Title != "Mine" || s.Source == "" || s.status() != "Revenue by Month" {
		t.Errorf("%q of %q: %s", s.Title, s.Source, s.status())
	}
}

func TestDeclaration(t *testing.T) { sampletest.Declared(t, New(), agent) }

// TestModel compares the results of random tables and queries with a slow computation
// that looks at every row for each cell.
func TestModel(t *testing.T) {
	letters := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		type row struct {
			g, s string
			n    float64
		}
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) row {
			return row{rapid.SampledFrom(letters).Draw(t, "g"), rapid.SampledFrom(letters).Draw(t, "s"), float64(rapid.IntRange(-50, 50).Draw(t, "n"))}
		}), 1, 20).Draw(t, "rows")
		in := dataInput{Columns: []Column{{Name: "G", Type: text}, {Name: "S", Type: text}, {Name: "N", Type: number}}}
		for _, r := range rows {
			in.Rows = append(in.Rows, []ahp.Value{ahp.MustMarshal(r.g), ahp.MustMarshal(r.s), ahp.MustMarshal(r.n)})
		}
		s, err := State{}.setTable(in)
		if err != nil {
			t.Fatal(err)
		}
		keep := rapid.SampledFrom(rows).Draw(t, "keep").s
		filtered, split := rapid.Bool().Draw(t, "filtered"), rapid.Bool().Draw(t, "split")
		order := rapid.SampledFrom(sorts).Draw(t, "sort")
		c := change{Sort: &order}
		if filtered {
			c.Filter = map[string][]string{"S": {keep}}
		}
		if by := "S"; split {
			c.SplitBy = &by
		}
		if s, err = s.changeQuery(c); err != nil {
			t.Fatal(err)
		}
		r := s.result()
		for _, series := range r.Series {
			for at, v := range series.Values {
				var want float64
				n := 0
				for _, row := range rows {
					if row.g == r.Groups[at] && (!split || row.s == series.Name) && (!filtered || row.s == keep) {
						want += row.n
						n++
					}
				}
				if (v == nil) != (n == 0) || v != nil && *v != want {
					t.Fatalf("%s of %s: %v, want %v of %d rows", r.Groups[at], series.Name, v, want, n)
				}
			}
		}
		if by := func(g int) (sum float64) {
			for _, series := range r.Series {
				if series.Values[g] != nil {
					sum += *series.Values[g]
				}
			}
			return sum
		}; order == "largest" {
			for g := 1; g < len(r.Groups); g++ {
				if by(g) > by(g-1) {
					t.Fatalf("%s is before %s", r.Groups[g-1], r.Groups[g])
				}
			}
		}
	})
}

// FuzzActions: no input of an agent or a View makes a chart exceed its limits, and the
// saved chart can be read again.
func FuzzActions(f *testing.F) {
	f.Add("set_data", []byte(small))
	f.Add("set_query", []byte(`{"measure":"M","splitBy":"B","filter":{"A":["x"]},"sort":"largest"}`))
	f.Add("set_query", []byte(`{"filter":{"A":null}}`))
	s := opened(f, small)
	f.Fuzz(func(t *testing.T, name string, input []byte) {
		if agent[name] == nil {
			return
		}
		after, result, err := do(s, name+" "+string(input))
		if err != nil {
			return
		}
		if _, err := after.checked(); err != nil {
			t.Fatal(err)
		}
		if _, err := after.Query.check(after.Table); err != nil {
			t.Fatal(err)
		}
		var again State
		if err := ahp.Unmarshal(ahp.MustMarshal(after), &again); err != nil || !ahp.Equal(ahp.MustMarshal(after), ahp.MustMarshal(again)) {
			t.Fatalf("%s %s cannot be saved: %v", name, input, err)
		}
		if n := len(ahp.MustMarshal(result.Value)); n > 64<<10 {
			t.Fatalf("the answer has %d bytes", n)
		}
	})
}
