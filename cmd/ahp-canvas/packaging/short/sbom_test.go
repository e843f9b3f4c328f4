package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamed checks that a list of components passes only with every module of the program,
// here of this test, with its version.
func TestNamed(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil || len(info.Deps) == 0 {
		t.Fatalf("the modules of this test: %v", err)
	}
	type component struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	var all []component
	for _, module := range info.Deps {
		all = append(all, component{module.Path, module.Version})
	}
	older := append([]component{{all[0].Name, "v0.0.1"}}, all[1:]...)
	for name, c := range map[string]struct {
		components []component
		wrong      string
	}{
		"all":       {all, ""},
		"one less":  {all[1:], `names version "" of ` + all[0].Name},
		"one older": {older, `names version "v0.0.1" of ` + all[0].Name},
	} {
		text, err := json.Marshal(map[string]any{"components": c.components})
		if err != nil {
			t.Fatal(err)
		}
		list := filepath.Join(t.TempDir(), "list.json")
		if err := os.WriteFile(list, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := named(program, list); (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
