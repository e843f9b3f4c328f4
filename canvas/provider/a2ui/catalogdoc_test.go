package a2ui

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestSummary: the summary is short, and its example draws without a warning.
func TestSummary(t *testing.T) {
	t.Parallel()
	s := Basic().Summary()
	if n := len(ahp.MustMarshal(s)); n > 12<<10 {
		t.Errorf("the summary has %d bytes", n)
	}
	if len(s.Components) != 18 || len(s.Functions) != 14 || len(s.OtherIDs) != 2 {
		t.Errorf("%d components, %d functions, %v", len(s.Components), len(s.Functions), s.OtherIDs)
	}
	if r := NewSurfaces(Limits{}).Apply("Agent", s.Example); r.Applied != 3 || len(r.Errors)+len(r.Warnings) > 0 {
		t.Errorf("the example: %+v", r)
	}
}

// TestComponentSchema: the schema of each component compiles alone, and fits the limit of an
// answer.
func TestComponentSchema(t *testing.T) {
	t.Parallel()
	for _, name := range append(Basic().Components(), Basic().Functions()...) {
		v, ok := Basic().Component(name)
		if !ok || len(v) > 48<<10 {
			t.Errorf("%s: %v, %d bytes", name, ok, len(v))
		}
		tree, err := decode(v)
		if err != nil {
			t.Fatal(err)
		}
		c := newCompiler()
		if err := c.AddResource("https://example.com/x.json", tree); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("https://example.com/x.json"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := Basic().Component("Foo"); ok {
		t.Error("there is a component Foo")
	}
}
