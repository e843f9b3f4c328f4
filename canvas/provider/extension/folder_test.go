package extension

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files into a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := tree(t, map[string]string{
		"plain/extension.mjs":        "",
		"named/extension.mjs":        "",
		"named/package.json":         `{"name":"@me/Kan:ban","displayName":"Kanban","main":"other.js"}`,
		"by main/package.json":       `{"main":"./dist/index.js"}`,
		"node_modules/extension.mjs": "",
		".hidden/extension.mjs":      "",
		"assets/logo.svg":            "",
		"README.md":                  "",
	})
	found, err := Find(dir)
	var got []string
	for _, f := range found {
		got = append(got, f.ID+" "+f.Name+" "+filepath.ToSlash(f.main))
	}
	want := "by-main by-main ./dist/index.js|me-Kan-ban Kanban extension.mjs|plain plain extension.mjs"
	if strings.Join(got, "|") != want || err != nil {
		t.Errorf("found %q, %v; want %q", strings.Join(got, "|"), err, want)
	}
	one, err := Find(filepath.Join(dir, "plain"))
	if err != nil || len(one) != 1 || one[0].ID != "plain" || !filepath.IsAbs(one[0].Dir) {
		t.Errorf("one: %+v, %v", one, err)
	}
}

func TestFindRejects(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":                      {map[string]string{"x/y/extension.mjs": ""}, "found no extension.mjs"},
		"main outside":                 {map[string]string{"package.json": `{"main":"../../bin/sh"}`}, "outside of the extension's folder"},
		"main outside, in a subfolder": {map[string]string{"a/package.json": `{"main":"/bin/sh"}`}, "outside of the extension's folder"},
		"an invalid package.json":      {map[string]string{"package.json": `{"main":`}, "package.json"},
	} {
		if found, err := Find(tree(t, test.files)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v; want %q", name, found, err, test.want)
		}
	}
	if _, err := Find(filepath.Join(t.TempDir(), "absent")); !os.IsNotExist(err) {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestSessionID(t *testing.T) {
	for uri, want := range map[string]string{
		"ahp-session:/default": "default", "ahp-session:/a/../b": "a%2F..%2Fb", "ahp-session:/..": "session..",
		"ahp-session:/": "session", "x": "x",
	} {
		if got := sessionID(uri); got != want {
			t.Errorf("%s is %q, want %q", uri, got, want)
		}
	}
}
