package a2ui_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// TestRules: every test that RULES.md names exists in the package that it names.
func TestRules(t *testing.T) {
	rules := ahptest.ReadRules(t, map[string]string{
		"canvas": "a2uicanvas", "remote": "remote", "web": "../../web", "local": "../../local", "engine": "../../engine", "gateway": "../../gateway", "outbound": "../../outbound",
		"serve": "../../../cmd/ahp-canvas/internal/serve", "program": "../../../cmd/ahp-canvas/internal/programtest",
	})
	if len(rules.Named) < 100 {
		t.Errorf("RULES.md names %d tests", len(rules.Named))
	}
}
