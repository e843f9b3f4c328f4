package schema

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestErrorData checks that the comment of an error code and errorData name the
// same type.
func TestErrorData(t *testing.T) {
	src, err := readSource("..")
	if err != nil {
		t.Fatal(err)
	}
	commented := 0
	for _, c := range src.consts["ahp.Code"] {
		_, name, ok := strings.Cut(c.doc, "data is ")
		if !ok {
			continue
		}
		commented++
		found := false
		for code, d := range errorData {
			if string(ahp.MustMarshal(code)) == c.value {
				found = d.t.Name() == name && d.required
			}
		}
		if !found {
			t.Errorf("%s: the comment names %s, the table does not", c.name, name)
		}
	}
	if commented == 0 {
		t.Error("no comment names a type")
	}
}

// shapes has a member of every sort.
type shapes struct {
	Needed string            `json:"needed"`
	Maybe  *string           `json:"maybe,omitzero"`
	Three  ahp.Field[string] `json:"three,omitzero"`
	Opaque ahp.Value         `json:"opaque,omitzero"`
	Extra  ahp.Value         `json:",embed"`
}

// TestShapes checks required, optional, nullable and opaque members.
func TestShapes(t *testing.T) {
	g := newGenerator(&source{})
	s := g.defs[g.reflect(reflect.TypeFor[shapes]())]
	text, err := indent(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "properties": {
    "needed": {
      "type": "string"
    },
    "maybe": {
      "type": "string"
    },
    "three": {
      "anyOf": [
        {
          "type": "string"
        },
        {
          "type": "null"
        }
      ]
    },
    "opaque": true
  },
  "type": "object",
  "required": [
    "needed"
  ]
}
`
	if string(text) != want {
		t.Errorf("got %s", text)
	}
}

// TestFaults checks that errors in the tables are reported and not written into
// a file.
func TestFaults(t *testing.T) {
	rules["NoSuch.member"] = length(1, 0)
	defer delete(rules, "NoSuch.member")
	if _, err := Generate(".."); err == nil || !strings.Contains(err.Error(), "NoSuch.member") {
		t.Errorf("a rule that names nothing: %v", err)
	}
	g := newGenerator(&source{})
	g.file = "state"
	g.define("A", ref("B"))
	if _, err := g.render("state", ""); err == nil || !strings.Contains(err.Error(), `no definition "B"`) {
		t.Errorf("a dangling reference: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("two definitions of one name")
		}
	}()
	g.define("A", &jsonschema.Schema{})
}

// TestNoSources checks that Generate fails without the module's folder.
func TestNoSources(t *testing.T) {
	if _, err := Generate(t.TempDir()); err == nil {
		t.Error("generated from nothing")
	}
	dir := t.TempDir()
	for _, pkg := range packages {
		if err := os.MkdirAll(filepath.Join(dir, pkg), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, pkg, "x.go"), []byte("package "), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Generate(dir); err == nil {
		t.Error("generated from broken sources")
	}
}
