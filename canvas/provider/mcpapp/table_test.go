package mcpapp_test

import (
	"fmt"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// TestRules: RULES.md has every rule and every threat with tests, and every test that it names
// exists in the package that it names.
func TestRules(t *testing.T) {
	rules := ahptest.ReadRules(t, map[string]string{
		"appview": "../../appview", "onefile": "../../onefile", "attach": "../../attach", "mcp": "../../mcp", "process": "../../process",
		"extension": "../extension", "web": "../../web", "allow": "../../allow", "outbound": "../../outbound", "serve": "../../../cmd/ahp-canvas/internal/serve",
	})
	for letter, count := range map[string]int{"A": 20, "B": 27, "S": 20} {
		for n := 1; n <= count; n++ {
			if number := fmt.Sprint(letter, n); !rules.Tested(number) {
				t.Errorf("%s has no test", number)
			}
		}
	}
}
