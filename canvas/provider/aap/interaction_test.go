package aap_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

func levels(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestParseMessage: what counts as an interaction, and what is wrong with others.
func TestParseMessage(t *testing.T) {
	const typed = `{"type":"canvas:interaction",`
	for payload, want := range map[string]string{
		`7`: "-", `null`: "-", `[]`: "-", `{}`: "-", `{"action":"click"}`: "-", // rule 12
		`{"type":"other","action":"click"}`:                                    "-",
		`{"type":7,"action":"click"}`:                                          "-",
		`{"type":"canvas:interaction ","action":"click"}`:                      "-",
		typed + `"action":"click"}`:                                            "",
		typed + `"action":"drag-drop","canvasFile":7,"z":{}}`:                  "",
		`{"type":"canvas:interaction"}`:                                        "missing_field action",
		typed + `"action":null}`:                                               "missing_field action",
		typed + `"action":""}`:                                                 "missing_field action",
		typed + `"action":" \n"}`:                                              "invalid_field action",
		typed + `"action":7}`:                                                  "invalid_field action",
		typed + `"action":"` + strings.Repeat("č", 128) + `"}`:                 "", // rule 14
		typed + `"action":"` + strings.Repeat("č", 129) + `"}`:                 "invalid_field action",
		typed + `"action":"a","element":{}}`:                                   "invalid_field element",
		typed + `"action":"a","element":"` + strings.Repeat("č", 1024) + `"}`:  "",
		typed + `"action":"a","element":"` + strings.Repeat("č", 1025) + `"}`:  "invalid_field element",
		typed + `"action":"a","data":"` + strings.Repeat("x", 48<<10-2) + `"}`: "",
		typed + `"action":"a","data":"` + strings.Repeat("x", 48<<10-1) + `"}`: "invalid_field data",
		typed + `"action":"a","data":` + levels(32) + `}`:                      "",
		typed + `"action":"a","data":` + levels(33) + `}`:                      "invalid_field data",
	} {
		_, ok, err := aap.ParseMessage([]byte(payload))
		got := code(err)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%.100s: %q, want %q", payload, got, want)
		}
	}
}

// TestElementAndData: rule 14, as the record has it.
func TestElementAndData(t *testing.T) {
	for given, want := range map[string]string{
		`"element":null,"data":null`:  "|",
		`"element":""`:                "|",
		`"element":5`:                 "5|",
		`"element":1.50`:              "1.50|",
		`"element":true`:              "true|",
		`"data":{"b":1.00,"a":[ 2 ]}`: `|{"b":1.00,"a":[2]}`, // order and digits
		`"data":[1,2]`:                `|[1,2]`,              // any JSON, as it came
		`"data":"hi"`:                 `|"hi"`,
		`"data":false`:                `|false`,
		`"data":0`:                    `|0`,
		`"data":{}`:                   `|{}`,
	} {
		in, err := aap.ParseRequest([]byte(`{"action":"a","canvasFile":"p.html",` + given + `}`))
		if got := in.Element + "|" + string(in.Data); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", given, got, err, want)
		}
	}
}

func TestRef(t *testing.T) {
	for ref, want := range map[string]string{
		`"0-aZ"`: "0-aZ", `""`: "", `7`: "", `"a b"`: "", `"č"`: "",
		`"` + strings.Repeat("a", 64) + `"`: strings.Repeat("a", 64), `"` + strings.Repeat("a", 65) + `"`: "",
	} {
		in, _, err := aap.ParseMessage([]byte(`{"type":"canvas:interaction","action":"a","ref":` + ref + `}`))
		if err != nil || in.Ref != want {
			t.Errorf("ref %s is %q, %v", ref, in.Ref, err)
		}
	}
}

// TestSummary: rule 18.
func TestSummary(t *testing.T) {
	long := `{"k":"` + strings.Repeat("🎯", 300) + `"}`
	for _, c := range []struct {
		in   aap.Interaction
		want string
	}{
		{aap.Interaction{Action: "click"}, "User click on p.html"},
		{aap.Interaction{Action: "click", Element: "it's"}, "User click 'it's' on p.html"},
		{aap.Interaction{Action: "submit", Element: "f", Data: ahp.Value(`{ "b" : 1.0, "a":"č" }`)}, `User submit 'f' on p.html with data: {"b":1.0,"a":"č"}`},
		{aap.Interaction{Action: "click", Data: ahp.Value(`{}`)}, "User click on p.html"},
		{aap.Interaction{Action: "click", Data: ahp.Value(`[]`)}, "User click on p.html"},
		{aap.Interaction{Action: "click", Data: ahp.Value(`""`)}, "User click on p.html"},
		{aap.Interaction{Action: "click", Data: ahp.Value(`false`)}, "User click on p.html"},
		{aap.Interaction{Action: "click", Data: ahp.Value(`[1,2]`)}, "User click on p.html with data: [1,2]"},
		{aap.Interaction{Action: "click", Data: ahp.Value(`"hi"`)}, `User click on p.html with data: "hi"`},
		{aap.Interaction{Action: "click", Data: ahp.Value(long)}, "User click on p.html with data: " + long[:6] + strings.Repeat("🎯", 194) + "..."},
		{aap.Interaction{Action: "click", Element: "a\nrm -rf /"}, "User click 'a rm -rf /' on p.html"},
		{aap.Interaction{Action: "a\x1b[2J\u202e\u2028b", Element: "\u2066\u0085x"}, "User a [2J b ' x' on p.html"},
	} {
		c.in.CanvasFile = "p.html"
		if got := aap.Summary(c.in); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// FuzzMessage: whatever a page sends, an accepted interaction is within the limits, and its
// summary is one line.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"type":"canvas:interaction","action":"click","element":"a\u2028b","data":{"a":[1]},"ref":"x"}`))
	f.Add([]byte(`{"type":"canvas:interaction","action":"\u001b","element":5}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		in, ok, err := aap.ParseMessage(payload)
		if !ok || err != nil {
			return
		}
		in.CanvasFile = "p.html"
		depth, _ := ahp.Measure(in.Data)
		if in.Action == "" || len(in.Data) > 48<<10 || in.Data != nil && (depth > 32 || !in.Data.IsValid()) {
			t.Errorf("accepted %q", payload)
		}
		if s := aap.Summary(in); strings.ContainsAny(s, "\n\r\x1b\u2028\u2029\u202e\u0085") {
			t.Errorf("summary %q", s)
		}
	})
}
