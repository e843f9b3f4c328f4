package folder

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

const minimal = `"id":"report","displayName":"Report","description":"A report."`

// TestManifest: the decoder and the schema accept the same.
func TestManifest(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("canvas.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("canvas.schema.json")
	for text, want := range map[string]string{
		`{` + minimal + `}`: "",
		`{"$schema":"./canvas.schema.json",` + minimal + `,"entry":"app/index.html?x=1","title":"T","inputSchema":{"type":"object"},"actions":[{"name":"go","description":"d","inputSchema":{}}]}`: "",
		`{"id":"report","displayName":"Report"}`:               "/description: required",
		`{"id":"a b","displayName":"x","description":""}`:      "/id: want",
		`{"id":"x","displayName":"","description":""}`:         "/displayName: must not be empty",
		`{` + minimal + `,"colour":"red"}`:                     "/colour: is an unknown member",
		`{` + minimal + `,"Title":"x"}`:                        "/Title: is an unknown member",
		`{` + minimal + `,"actions":[{"name":"a","run":"x"}]}`: "/actions/0/run: is an unknown member",
		`{` + minimal + `,"actions":[{}]}`:                     "/actions/0/name: required",
		`{` + minimal + `,"actions":{}}`:                       "/actions: want an array",
	} {
		f, err := Open(write(t, map[string]string{"canvas.json": text}))
		if err == nil {
			f.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); (err == nil) != (want == "") {
			t.Errorf("%s: the schema says %v", text, err)
		}
	}
}

// TestManifestBeyondTheSchema: errors that only the decoder finds.
func TestManifestBeyondTheSchema(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                      "invalid JSON",
		`{` + minimal + `,"id":"twice"}`:         "id",
		`{` + minimal + `,"entry":"../up.html"}`: "/entry: ",
		`{` + minimal + `,"entry":".secret/x.html"}`: "/entry: a name in the path begins with a dot",
		`{` + minimal + `,"entry":"/a#b"}`:           "",
		`{` + minimal + `,"entry":"a//b"}`:           "/entry: ",
	} {
		f, err := Open(write(t, map[string]string{"canvas.json": text}))
		if err == nil {
			f.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Open(write(t, map[string]string{"readme.txt": "x"})); err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("a folder without a canvas: %v", err)
	}
	if _, err := Open(t.TempDir() + "/none"); err == nil {
		t.Error("a missing folder was opened")
	}
}

func TestBareFolder(t *testing.T) {
	f, err := Open(write(t, map[string]string{"index.html": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.ID() != "My-report" || f.Extension().Name != "My report" || f.Declarations()[0].CanvasID != "My-report" {
		t.Errorf("it is %q, %q", f.ID(), f.Extension().Name)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{` + minimal + `,"actions":[{"name":"a"}],"entry":"x?y"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m manifest
		if ahp.Unmarshal(text, &m) == nil && m.check() == nil {
			if entry, err := m.entry(); err != nil || !strings.HasPrefix(entry, "/") {
				t.Fatalf("entry %q, %v", entry, err)
			}
		}
	})
}
