package a2ui_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestRules: every test that RULES.md names exists in the package that it names.
func TestRules(t *testing.T) {
	dirs := map[string]string{
		"": ".", "canvas": "a2uicanvas", "remote": "remote", "web": "../../web", "local": "../../local", "engine": "../../engine", "gateway": "../../gateway", "outbound": "../../outbound",
		"serve": "../../../cmd/ahp-canvas/internal/serve", "program": "../../../cmd/ahp-canvas/internal/programtest",
	}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	tests := map[string]bool{}
	for prefix, dir := range dirs {
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
	named := regexp.MustCompile(`(?:\b([a-z]+):)?((?:Test|Fuzz)[A-Z]\w+)`).FindAllSubmatch(text, -1)
	if len(named) < 100 {
		t.Errorf("RULES.md names %d tests", len(named))
	}
	for _, m := range named {
		if name := string(m[1]) + ":" + string(m[2]); !tests[name] {
			t.Errorf("RULES.md names %s, which does not exist", name)
		}
	}
}
