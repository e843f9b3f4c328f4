package conform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

func render(rows []conform.Row) string {
	var b strings.Builder
	for _, r := range rows {
		mark := " "
		if r.Differs {
			mark = "!"
		}
		b.WriteString(mark + r.Want + " | " + r.Have + "\n")
	}
	return b.String()
}

func TestSideBySide(t *testing.T) {
	for _, tt := range []struct{ name, want, have, problem, rows string }{
		{"a value", `{"a":1,"b":{"c":2}}`, `{"b":{"c":3},"a":1}`, "/b/c: want 2, got 3", "" +
			" { | {\n   a: 1 |   a: 1\n   b: { |   b: {\n!    c: 2 |     c: 3\n   } |   }\n } | }\n"},
		{"missing and unexpected", `{"a":null}`, `{"b":null}`, "/a: missing", "" +
			" { | {\n!  a: null | \n! |   b: null\n } | }\n"},
		{"more is allowed", `{"a":1,"$...":true}`, `{"a":2,"b":3}`, "", " { | {\n!  a: 1 |   a: 2\n   … |   …\n } | }\n"},
		{"a name that is bound to another value", `{"a":"$x","b":"$y"}`, `{"a":1,"b":2}`, "/b: $y is bound to 1, got 2", "" +
			" { | {\n   a: \"$x\" |   a: 1\n!  b: \"$y\" |   b: 2\n } | }\n"},
		{"elements", `[1,2]`, `[1]`, "", " [ | [\n   1 |   1\n!  2 | \n ] | ]\n"},
		{"elements before others", `["$...",2]`, `[0,1,3]`, "", " [ | [\n   … |   …\n!  2 |   3\n ] | ]\n"},
		{"no frame", `{"a":1}`, "", "no frame arrived", "!{ | nothing\n   \"a\": 1 | \n } | \n"},
		{"no frame expected", "", `[]`, "", "!nothing | []\n"},
		{"no JSON", "the connection closed with 1009", `{}`, "", "!the connection closed with 1009 | {}\n"},
	} {
		if got := render(conform.SideBySide(tt.want, tt.have, tt.problem)); got != tt.rows {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.rows)
		}
	}
}

func FuzzSideBySide(f *testing.F) {
	f.Add(`{"a":"$x","$...":true}`, `{"a":[1,{"b":null}]}`, "/a: x")
	f.Add(`["$..."]`, `[]`, "")
	f.Add(`{`, ``, "/")
	f.Fuzz(func(t *testing.T, want, have, problem string) {
		if len(conform.SideBySide(want, have, problem)) == 0 {
			t.Error("no row at all")
		}
	})
}

// Differences are marked, and equal values share a line.
func ExampleSideBySide() {
	for _, row := range conform.SideBySide(`{"id":1,"result":{"title":"New","fromSeq":"$*"}}`, `{"id":1,"result":{"title":"Old","fromSeq":7}}`, "") {
		mark := " "
		if row.Differs {
			mark = "≠"
		}
		fmt.Printf("%s %-20s│ %s\n", mark, row.Want, row.Have)
	}
	// Output:
	//   {                   │ {
	//     id: 1             │   id: 1
	//     result: {         │   result: {
	//       fromSeq: "$*"   │     fromSeq: 7
	// ≠     title: "New"    │     title: "Old"
	//     }                 │   }
	//   }                   │ }
}
