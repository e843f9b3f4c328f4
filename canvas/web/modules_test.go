package web_test

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestModulesAreNamed: the page names each module that it imports, so that a browser loads
// them at once.
func TestModulesAreNamed(t *testing.T) {
	e := start(t, nil)
	get := func(path string) string {
		t.Helper()
		r, err := http.Get(e.origin + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, r.StatusCode, err)
		}
		return string(body)
	}
	index := get("/")
	var named []string
	for _, m := range regexp.MustCompile(`<link rel="modulepreload" fetchpriority="low" href="([^"]*)">`).FindAllStringSubmatch(index, -1) {
		named = append(named, m[1])
	}
	// Scripts of documents other than index.html, and those that are no modules.
	want := []string{}
	others := []string{"first.js", "single.js", "assemble.js", "singleshim.js", "direct.js"}
	files, _ := filepath.Glob("page/*.js")
	for _, f := range files {
		if name := filepath.Base(f); !slices.Contains(others, name) {
			want = append(want, name)
		}
	}
	slices.Sort(named)
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("modules that index.html names (-files +named):\n%s", diff)
	}
}
