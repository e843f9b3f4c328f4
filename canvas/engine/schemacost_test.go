package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// twice returns a schema in which each part refers to the next part twice.
func twice(step, last string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/s0","$defs":{`)
	for n := range 60 {
		next := fmt.Sprintf(`{"$ref":"#/$defs/s%d"}`, n+1)
		fmt.Fprintf(&b, `"s%d":%s,`, n, strings.ReplaceAll(step, "NEXT", next))
	}
	b.WriteString(`"s60":` + last + `}}`)
	return b.String()
}

// repeats returns a pattern of two kilobytes that compiles to a program of two
// hundred thousand steps.
func repeats(last string) string {
	var b strings.Builder
	for n := range 200 {
		fmt.Fprintf(&b, "x{%d}|", 800+n)
	}
	return b.String() + last
}

// TestCostlySchemas: schemas whose parts refer to each other many times do not delay
// opens.
func TestCostlySchemas(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	for name, tc := range map[string]struct{ schema, input string }{
		"all fit":         {twice(`{"allOf":[NEXT,NEXT]}`, `{"type":"object"}`), ``},
		"none fits":       {twice(`{"anyOf":[NEXT,NEXT]}`, `{"type":"array"}`), ``},
		"refused quietly": {strings.Replace(twice(`{"dependentSchemas":{"a":NEXT,"b":NEXT}}`, `{"type":"array"}`), `"$ref":"#/$defs/s0"`, `"not":{"$ref":"#/$defs/s0"}`, 1), `{"a":1,"b":1}`},
		"below itself":    {`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"additionalProperties":{"$ref":"#"}}]}`, deep},
		"an older draft":  {strings.Replace(twice(`{"allOf":[NEXT,NEXT]}`, `{}`), `{"$ref":`, `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":`, 1), ``},
		"a pattern":       {`{"properties":{"a":{"pattern":"` + repeats("z") + `"}}}`, `{"a":"` + strings.Repeat("x", 200<<10) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := newClients(t)
			join(t, h, "c1", canvas.Declaration{CanvasID: "costly", DisplayName: "x", InputSchema: ahp.Value(tc.schema)})
			opened := make(chan error, 1)
			go func() {
				var input ahp.Value
				if tc.input != "" {
					input = ahp.Value(tc.input)
				}
				_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "costly", InstanceID: "one", Input: input})
				opened <- err
			}()
			select {
			case err := <-opened:
				e := wantCode(t, err, canvas.CodeInputInvalid)
				equal(t, "checking the input against the canvas's schema takes too long", e.Message)
			case <-time.After(time.Minute):
				t.Fatal("still at it after a minute")
			}
		})
	}
}

// TestSchemasOfManyParts: schemas of too many parts and patterns of too many steps
// are not compiled and not enforced; ordinary ones are.
func TestSchemasOfManyParts(t *testing.T) {
	allOf := func(n int) string { return `{"allOf":[` + strings.Repeat(`{},`, n-2) + `{}]}` }
	for name, tc := range map[string]struct {
		schema string
		times  int
		fits   bool
	}{
		"just fits":           {allOf(4096), 4, true},
		"one part too many":   {allOf(4097), 1, false},
		"one schema too many": {allOf(4096), 5, false},
		"booleans":            {`{"allOf":[` + strings.Repeat(`true,`, 4096) + `true]}`, 1, false},
		"a long choice":       {`{"enum":[` + strings.Repeat(`"x",`, 9000) + `"y"]}`, 1, true},
		"a pattern":           {`{"pattern":"^[a-z]{1,64}(-[a-z0-9]{1,64}){0,7}$"}`, 32, true},
		"repetitions":         {`{"pattern":"` + repeats("z") + `"}`, 9, true},
		"more repetitions":    {`{"pattern":"` + repeats("y") + `","not":{"pattern":"` + repeats("z") + `"}}`, 1, false},
		"names that repeat":   {`{"patternProperties":{"` + repeats("y") + `":{"pattern":"` + repeats("z") + `"}}}`, 1, false},
		"a dynamic reference": {`{"$dynamicAnchor":"x","not":{"$dynamicRef":"#x"}}`, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := canvastest.New(t, engine.Options{})
			var set []canvas.Declaration
			for n := range tc.times {
				set = append(set, canvas.Declaration{CanvasID: fmt.Sprint(n), DisplayName: "x", InputSchema: ahp.Value(tc.schema)})
			}
			_, err := h.Canvases.Register(canvas.Extension{ID: "a"}, &fake{}, set...)
			ok(t, err)
			equal(t, tc.fits, len(uncheckedIn(h)) == 0)
		})
	}
}

// uncheckedIn returns the canvases whose schemas are not enforced, as the registry says.
func uncheckedIn(h *canvastest.Host) (ids []string) { return markedIn(h, "unchecked") }

func markedIn(h *canvastest.Host, mark string) (ids []string) {
	for _, d := range h.SessionState().Canvases {
		if strings.Contains(string(d.Extra), `"_meta":{"x-ahp-canvas/schema":"`+mark+`"}`) {
			ids = append(ids, d.CanvasID)
		}
	}
	return ids
}

// TestSchemasAreEnforcedOrMarked: ordinary schemas are enforced;
// what cannot be checked is accepted, listed as it came, marked, and not enforced.
func TestSchemasAreEnforcedOrMarked(t *testing.T) {
	nested := strings.Repeat(`{"properties":{"a":`, 3) + `{"type":"string"}` + strings.Repeat(`}}`, 3)
	file := filepath.Join(t.TempDir(), "schema.json")
	ok(t, os.WriteFile(file, []byte(`{"type":"object"}`), 0o644))
	depth := func(n int) string { return strings.Repeat(`{"not":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }
	for name, tc := range map[string]struct {
		schema, fits, misfit string
		mark                 string
	}{
		"nested objects":   {nested, `{"a":{"a":{"a":"x"}}}`, `{"a":{"a":{"a":1}}}`, ""},
		"a lookahead":      {`{"properties":{"p":{"pattern":"^(?!/)"}}}`, `{"p":"a"}`, `{"p":"/a"}`, ""},
		"a unicode escape": {`{"properties":{"p":{"pattern":"^\\u00e4(?=.)"},"n":{"type":"integer"}}}`, `{"p":"b"}`, `{"p":"ä","n":"x"}`, "partial"},
		"a back reference": {`{"properties":{"p":{"pattern":"^(a|b)\\1$"}}}`, `{"p":"ab"}`, ``, "partial"},
		"names that look":  {`{"patternProperties":{"^(?!x)":{"type":"string"}}}`, `{"y":"s","x":1}`, `{"y":1}`, ""},
		"names looked at":  {`{"patternProperties":{"(?<!x)y":{"type":"string"}}}`, `{"y":1}`, ``, "unchecked"},
		"32 levels":        {depth(32), ``, `{"x":1}`, ""},
		"33 levels":        {depth(33), `{"x":1}`, ``, "unchecked"},
		"remote":           {`{"$ref":"https://example.com/schema"}`, `{}`, ``, "unchecked"},
		"a file":           {`{"properties":{"a":{"$ref":"file://` + file + `"}}}`, `{"a":1}`, ``, "unchecked"},
		"relative":         {`{"$ref":"other.json"}`, `{}`, ``, "unchecked"},
		"foreign dialect":  {`{"$schema":"https://evil.example/meta"}`, `{}`, ``, "unchecked"},
		"dynamic":          {`{"$dynamicAnchor":"x","properties":{"a":{"$dynamicRef":"#x"}}}`, `{}`, ``, "unchecked"},
		"not a schema":     {`{"type":"strnig"}`, `{}`, ``, "unchecked"},
		"not a pattern":    {`{"pattern":"("}`, `{}`, ``, "partial"},
		"null":             {`null`, `{}`, ``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := canvastest.New(t, engine.Options{})
			for _, d := range []canvas.Declaration{
				{CanvasID: "held", DisplayName: "x", InputSchema: ahp.Value(tc.schema)},
				{CanvasID: "acts", DisplayName: "x", Actions: []canvas.Action{{Name: "go", InputSchema: ahp.Value(tc.schema)}}},
			} {
				h.Register(canvas.Extension{ID: d.CanvasID}, &fake{}, d)
			}
			for _, mark := range []string{"unchecked", "partial"} {
				equal(t, mark == tc.mark, len(markedIn(h, mark)) == 2)
			}
			for _, d := range h.SessionState().Canvases {
				if d.CanvasID == "held" && tc.schema != "null" {
					equal(t, tc.schema, string(d.InputSchema))
				} else {
					equal(t, "", string(d.InputSchema))
				}
			}
			for input, fits := range map[string]bool{tc.fits: true, tc.misfit: false} {
				if input == "" {
					continue
				}
				_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "held", Input: ahp.Value(input)})
				if fits {
					ok(t, err)
				} else {
					wantCode(t, err, canvas.CodeInputInvalid)
				}
			}
		})
	}
}

// TestMarksAreTheHosts: a provider cannot mark its declaration, and keeps the rest of its
// _meta.
func TestMarksAreTheHosts(t *testing.T) {
	for declared, want := range map[string]string{
		`{"_meta":{"x-ahp-canvas/schema":"unchecked"}}`:               ``,
		`{"_meta":{"x-ahp-canvas/schema":"unchecked","own":1},"z":2}`: `{"_meta":{"own":1},"z":2}`,
		`{"_meta":null}`: `{"_meta":null}`,
	} {
		h := canvastest.New(t, engine.Options{})
		h.Register(canvas.Extension{ID: "a"}, &fake{}, canvas.Declaration{CanvasID: "c", DisplayName: "x", Extra: ahp.Value(declared)})
		equal(t, want, string(h.SessionState().Canvases[0].Extra))
		h = canvastest.New(t, engine.Options{})
		h.Register(canvas.Extension{ID: "a"}, &fake{}, canvas.Declaration{CanvasID: "c", DisplayName: "x", Extra: ahp.Value(declared), InputSchema: ahp.Value(`{"type":1}`)})
		equal(t, true, strings.Contains(string(h.SessionState().Canvases[0].Extra), `"x-ahp-canvas/schema":"unchecked"`))
	}
}

// TestLargeInputIsHeld: an input of the maximum size is checked against an ordinary
// schema.
func TestLargeInputIsHeld(t *testing.T) {
	h := canvastest.New(t, engine.Options{})
	h.Register(canvas.Extension{ID: "a"}, &fake{}, canvas.Declaration{CanvasID: "rows", DisplayName: "x", InputSchema: ahp.Value(`{
		"type":"object","required":["rows"],"properties":{"rows":{"type":"array","items":{"$ref":"#/$defs/row"}}},
		"$defs":{"row":{"oneOf":[
			{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"s":{"type":"string","maxLength":9}},"additionalProperties":false},
			{"type":"object","required":["below"],"properties":{"below":{"type":"array","items":{"$ref":"#/$defs/row"}}}}]}}}`)})
	row := `{"n":1,"s":"text"}`
	input := `{"rows":[` + strings.Repeat(row+",", 4000) + `{"below":[` + strings.Repeat(row+",", 1000) + row + `]}]}`
	h.Open("rows", "one", ahp.Value(input))
	_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "rows", InstanceID: "two", Input: ahp.Value(strings.Replace(input, `"n":1`, `"n":"1"`, 1))})
	e := wantCode(t, err, canvas.CodeInputInvalid)
	equal(t, "/input/rows/0", e.Path[:min(len(e.Path), len("/input/rows/0"))])
}
