package mcpapp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRules: RULES.md has every rule and every threat with tests, and every test that it names
// exists in the package that it names.
func TestRules(t *testing.T) {
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for prefix, dir := range map[string]string{
		"": ".", "appview": "../../appview", "onefile": "../../onefile", "attach": "../../attach", "mcp": "../../mcp", "process": "../../process",
		"extension": "../extension", "web": "../../web", "allow": "../../allow", "outbound": "../../outbound", "serve": "../../../cmd/ahp-canvas/internal/serve",
	} {
		files, err := filepath.Glob(dir + "/*_test.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declared.FindAllSubmatch(raw, -1) {
				tests[prefix+":"+string(m[1])] = true
			}
		}
	}
	text, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?:\b([a-z]+):)?((?:Test|Fuzz)[A-Z]\w+)`)
	for _, m := range name.FindAllStringSubmatch(string(text), -1) {
		if !tests[m[1]+":"+m[2]] {
			t.Errorf("RULES.md names %s, which does not exist", m[0])
		}
	}
	for letter, count := range map[string]int{"A": 20, "B": 27, "S": 20} {
		for n := 1; n <= count; n++ {
			if _, row, ok := strings.Cut(string(text), fmt.Sprintf("\n| %s%d | ", letter, n)); !ok || !name.MatchString(strings.SplitN(row, "\n", 2)[0]) {
				t.Errorf("%s%d has no test", letter, n)
			}
		}
	}
}
