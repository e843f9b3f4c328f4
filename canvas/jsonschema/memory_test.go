package jsonschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// TestMemoryDropsCompiledSchemas checks that compiled schemas stay within their share, and
// that a dropped one is enforced as before.
func TestMemoryDropsCompiledSchemas(t *testing.T) {
	ledger := budget.New(budget.Least)
	set := func() *Set { return &Set{Memory: NewMemory(ledger)} }
	memory := set().Memory
	var schemas []*Schema
	for n := range 40 {
		var members []string
		for m := range 800 {
			members = append(members, fmt.Sprintf(`"p%d-%d":{"type":"integer"}`, n, m))
		}
		raw := ahp.Value(`{"properties":{` + strings.Join(members, ",") + `}}`)
		s, err := (&Set{Memory: memory}).Compile(raw, Limits{Bytes: 64 << 10, Depth: 32})
		if err != nil || s.Unchecked() != nil {
			t.Fatal(err, s.Unchecked())
		}
		schemas = append(schemas, s)
		if used := ledger.Used(budget.Schemas); used > ledger.Share(budget.Schemas) || used == 0 {
			t.Fatalf("%d bytes are used, the share is %d", used, ledger.Share(budget.Schemas))
		}
	}
	if schemas[0].compiled != nil {
		t.Fatal("the oldest schema is still compiled")
	}
	if v := schemas[0].Check(ahp.Value(`{"p0-7":"text"}`)); v == nil || v.Path != "/p0-7" {
		t.Errorf("a dropped schema is not enforced: %v", v)
	}
	if v := schemas[0].Check(ahp.Value(`{"p0-7":7}`)); v != nil || schemas[0].compiled == nil {
		t.Errorf("a dropped schema is enforced differently: %v", v)
	}
	memory.shrink()
	if used := ledger.Used(budget.Schemas); used > ledger.Share(budget.Schemas)/10 {
		t.Errorf("%d bytes are used after a while", used)
	}
}
