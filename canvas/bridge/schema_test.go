package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validates(t *testing.T, s *jsonschema.Schema, v ahp.Value) bool {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v))
	if err != nil {
		t.Fatalf("%.200s: %v", v, err)
	}
	return s.Validate(doc) == nil
}

// The schema and the decoder agree about all messages of the exchanges, except for the
// total size of headers, which a schema cannot express.
func TestSchemaAgrees(t *testing.T) {
	schema := compileSchema(t)
	files, _ := filepath.Glob("testdata/exchanges/*.json")
	valid, invalid := 0, 0
	large := map[string]bool{} // a pattern over 43 KB is slow: each kind is tested once
	for _, file := range files {
		var all []exchange
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			for _, st := range x.Steps {
				said := st.Page
				if said == nil {
					said = st.Host
				}
				if said == nil {
					continue
				}
				said = expand(t, said)
				m, ours, err := decode(said)
				good := ours && err == nil && m.kind != unknown
				kind := fmt.Sprint(m.kind, len(m.data))
				if err == errHeaders || large[kind] {
					continue
				}
				large[kind] = len(m.data) > 1<<10
				if validates(t, schema, said) != good {
					t.Errorf("%s, %s: the schema and the decoder (%v) do not agree about %.200s", file, x.About, err, said)
				}
				if good {
					valid++
				} else {
					invalid++
				}
				if st.Host != nil && !good {
					t.Errorf("the host sends a bad message: %.200s", said)
				}
			}
		}
	}
	if valid < 70 || invalid < 8 {
		t.Errorf("there were %d good and %d bad messages", valid, invalid)
	}
}

// All complete examples of PROTOCOL.md are valid.
func TestDocumentExamples(t *testing.T) {
	schema := compileSchema(t)
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, `{"x-ahp":"http/1"`) || strings.Contains(line, "<") {
			continue
		}
		n++
		if m, _, err := decode([]byte(strings.TrimSpace(line))); err != nil || m.kind == unknown || !validates(t, schema, ahp.Value(line)) {
			t.Errorf("the example is not valid: %s", line)
		}
	}
	if n < 12 {
		t.Errorf("found %d examples", n)
	}
}

// Messages that the decoder refuses are invalid by the schema too.
func TestMalformed(t *testing.T) {
	schema := compileSchema(t)
	head := `{"x-ahp":"http/1","type":"request","id":1,"method":"GET","path":"/","headers":`
	for _, test := range []struct{ name, message string }{
		{"upper case name", head + `[["Accept","x"]]}`},
		{"empty name", head + `[["","x"]]}`},
		{"one value", head + `[["a"]]}`},
		{"three values", head + `[["a","b","c"]]}`},
		{"wide character", head + `[["a","\u0100"]]}`},
		{"no headers", `{"x-ahp":"http/1","type":"request","id":1,"method":"GET","path":"/"}`},
		{"headers object", head + `{"a":"b"}}`},
		{"end is text", head + `[],"end":"true"}`},
		{"length below 0", head + `[],"length":-1}`},
		{"data not padded", head + `[],"data":"eA"}`},
		{"data with a line break", head + `[],"data":"eHh4\neHh4"}`},
		{"data url alphabet", head + `[],"data":"_-__"}`},
		{"data too large", head + `[],"data":"` + strings.Repeat("A", 43696) + `"}`},
		{"path without slash", `{"x-ahp":"http/1","type":"request","id":1,"method":"GET","path":"x","headers":[]}`},
		{"path with a fragment", `{"x-ahp":"http/1","type":"request","id":1,"method":"GET","path":"/#x","headers":[]}`},
		{"path with a space", `{"x-ahp":"http/1","type":"request","id":1,"method":"GET","path":"/a b","headers":[]}`},
		{"path with a backslash", `{"x-ahp":"http/1","type":"request","id":1,"method":"GET","path":"/\\x","headers":[]}`},
		{"seq missing", `{"x-ahp":"http/1","type":"body","id":1,"data":"eA=="}`},
		{"nothing given back", `{"x-ahp":"http/1","type":"credit","id":1,"bytes":0}`},
		{"too much given back", `{"x-ahp":"http/1","type":"credit","id":1,"bytes":2147483648}`},
		{"id too large", `{"x-ahp":"http/1","type":"cancel","id":9007199254740992}`},
		{"status 199", `{"x-ahp":"http/1","type":"response","id":1,"status":199,"headers":[]}`},
		{"status 600", `{"x-ahp":"http/1","type":"response","id":1,"status":600,"headers":[]}`},
		{"status text with a line break", `{"x-ahp":"http/1","type":"response","id":1,"status":200,"statusText":"a\nb","headers":[]}`},
		{"error without code", `{"x-ahp":"http/1","type":"error","id":1,"status":400,"message":"x"}`},
	} {
		if _, ours, err := decode([]byte(test.message)); !ours || err == nil {
			t.Errorf("%s: the decoder takes it", test.name)
		}
		if validates(t, schema, ahp.Value(test.message)) {
			t.Errorf("%s: the schema takes it", test.name)
		}
	}
}

func TestOtherPayloads(t *testing.T) {
	for _, payload := range []string{
		``, `null`, `"http/1"`, `[]`, `{}`, `{"x-ahp":"view/1","type":"request","id":1}`, `{"x-ahp":["http/1"]}`, `{"a":{"x-ahp":"http/1"}}`, `{"X-AHP":"http/1"}`,
	} {
		if _, ours, _ := decode([]byte(payload)); ours {
			t.Errorf("%s was taken for http/1", payload)
		}
	}
}

// Line breaks in base64 are invalid, but the library would skip them.
func TestBase64LineBreak(t *testing.T) {
	for _, breaks := range []string{"\n\n\n\n", "\r\n\r\n"} {
		if _, _, err := decode([]byte(`{"x-ahp":"http/1","type":"body","id":1,"seq":0,"data":"eHh4` + breaks + `eHh4"}`)); err == nil {
			t.Errorf("%q was taken", breaks)
		}
	}
}
