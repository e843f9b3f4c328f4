package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/schema"
)

type document struct {
	ID    string         `json:"$id"`
	Draft string         `json:"$schema"`
	Defs  map[string]any `json:"$defs"`
}

func documents(t *testing.T) map[string]document {
	t.Helper()
	names, err := filepath.Glob("*.json")
	if err != nil || len(names) < 7 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	all := map[string]document{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var d document
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = d
	}
	return all
}

// walk calls a function for every schema object of a document.
func walk(place string, node any, visit func(place string, s map[string]any)) {
	switch node := node.(type) {
	case []any:
		for i, sub := range node {
			walk(fmt.Sprint(place, "/", i), sub, visit)
		}
	case map[string]any:
		visit(place, node)
		for key, sub := range node {
			walk(place+"/"+key, sub, visit)
		}
	}
}

// TestReferences checks that every reference names a definition of the same
// file or of another one, and that the bundle refers only to itself.
func TestReferences(t *testing.T) {
	all := documents(t)
	for name, d := range all {
		walk(name, d.Defs, func(place string, s map[string]any) {
			ref, ok := s["$ref"].(string)
			if !ok {
				return
			}
			file, def, _ := strings.Cut(ref, "#/$defs/")
			if file == "" {
				file = name
			}
			if all[file].Defs[def] == nil || name == "bundle.json" && file != name {
				t.Errorf("%s: %s leads nowhere", place, ref)
			}
		})
		if d.Draft != "https://json-schema.org/draft/2020-12/schema" || d.ID != schema.ID(strings.TrimSuffix(name, ".json")) || !strings.Contains(d.ID, ahp.V0_6_0.String()) {
			t.Errorf("%s: $schema %s, $id %s", name, d.Draft, d.ID)
		}
	}
}

// TestUnions checks that the members of every oneOf are definitions with a
// required const member of the same name and different values. anyOf may only
// add null, or be a request id.
func TestUnions(t *testing.T) {
	defs := documents(t)["bundle.json"].Defs
	unions := 0
	walk("", defs, func(place string, s map[string]any) {
		if options, ok := s["oneOf"].([]any); ok {
			unions++
			if tag := unionTag(defs, options); tag == "" {
				t.Errorf("%s: no tag identifies the members", place)
			}
		}
		if options, ok := s["anyOf"].([]any); ok && place != "/RequestId" {
			last, _ := options[len(options)-1].(map[string]any)
			if len(options) != 2 || last["type"] != "null" {
				t.Errorf("%s: a union without a tag: %v", place, options)
			}
		}
		if s["additionalProperties"] == false {
			t.Errorf("%s: a closed object", place)
		}
	})
	if unions < 10 {
		t.Errorf("only %d unions", unions)
	}
}

// unionTag returns the member that identifies the options, or "".
func unionTag(defs map[string]any, options []any) string {
	values := map[string]map[any]bool{}
	for _, o := range options {
		ref, _ := o.(map[string]any)["$ref"].(string)
		def, _ := defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		required, _ := def["required"].([]any)
		properties, _ := def["properties"].(map[string]any)
		for name, p := range properties {
			m, _ := p.(map[string]any)
			if c, ok := m["const"]; ok && slices.Contains(required, any(name)) {
				if values[name] == nil {
					values[name] = map[any]bool{}
				}
				values[name][c] = true
			}
		}
	}
	for name, v := range values {
		if len(v) == len(options) {
			return name
		}
	}
	return ""
}

// TestRows checks that every row of every table is in the bundle and in the
// reference.
func TestRows(t *testing.T) {
	text, err := os.ReadFile("REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := os.ReadFile("bundle.json")
	if err != nil {
		t.Fatal(err)
	}
	has := func(what, inReference, inBundle string) {
		t.Helper()
		if !strings.Contains(string(text), inReference) {
			t.Errorf("REFERENCE.md does not got %s (%s)", what, inReference)
		}
		if !strings.Contains(string(bundle), inBundle) {
			t.Errorf("bundle.json does not got %s (%s)", what, inBundle)
		}
	}
	for _, m := range methods {
		has("method "+m.Name, "### `"+m.Name+"`", `"const": "`+m.Name+`"`)
	}
	for kind, table := range tables {
		has("state", "### "+kind+"State", `"`+kind+`State": {`)
		for _, row := range table.Rows() {
			has("action "+row.Type, "| `"+row.Type+"` |", `"const": "`+row.Type+`"`)
		}
	}
	for code, name := range ahp.Codes {
		has("error "+name, fmt.Sprintf("| %d | %s |", code, name), fmt.Sprintf(`"const": %d`, code))
	}
}
