package term

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestPrintableJSON checks that JSON for a terminal is equal JSON without control
// characters.
func TestPrintableJSON(t *testing.T) {
	was := ahp.MustMarshal(map[string]string{"hostile": "a\x1b[2J\u009b31m\rb\x7f\u202ec\u2028d", "fine": "ünï 看板"})
	now := printableJSON(string(was))
	if at := strings.IndexFunc(now, IsControl); at >= 0 || !strings.Contains(now, "ünï 看板") {
		t.Errorf("%q", now)
	}
	var a, b map[string]string
	if err := errors.Join(json.Unmarshal(was, &a), json.Unmarshal([]byte(now), &b)); err != nil || !maps.Equal(a, b) {
		t.Errorf("%q became %q: %v", a, b, err)
	}
}
