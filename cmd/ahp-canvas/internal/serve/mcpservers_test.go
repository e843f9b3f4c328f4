package serve

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestSplitWords splits commands like a shell, and runs none.
func TestSplitWords(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a backslash is part of a path there")
	}
	for in, want := range map[string][]string{
		"npx -y x":              {"npx", "-y", "x"},
		`  a  "b c" 'd "e"' f `: {"a", "b c", `d "e"`, "f"},
		`a\ b "c\"d" ''`:        {"a b", `c"d`, ""},
		"a $HOME `x` | y > z;":  {"a", "$HOME", "`x`", "|", "y", ">", "z;"},
	} {
		if got, err := splitWords(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "  ", `"a`, `a\`, "'"} {
		if got, err := splitWords(in); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestMCPFlags reads servers from flags and files, and refuses what cannot be one without
// quoting secrets.
func TestMCPFlags(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	config := `{"mcpServers": {"two": {"command": "node", "args": ["x.js"], "env": {"KEY": "canary-value"}, "type": "stdio"}, "three": {"url": "https://three.example/mcp", "headers": {"authorization": "Bearer canary-value"}}}, "other": 1}`
	o := mcpOptions{servers: []string{"one=node 'a b.js' --stdio", "four=http://127.0.0.1:3000/mcp"}, configs: []string{write("private.json", config, 0o600)}}
	list, notes, err := o.read()
	if err != nil || len(notes) != 0 || len(list) != 4 {
		t.Fatalf("%d servers, notes %q, %v", len(list), notes, err)
	}
	if one, three, two := list[0], list[2], list[3]; !slices.Equal(one.Command, []string{"node", "a b.js", "--stdio"}) || list[1].URL != "http://127.0.0.1:3000/mcp" ||
		!slices.Equal(two.Command, []string{"node", "x.js"}) || two.Env["KEY"] != "canary-value" || three.Header.Get("Authorization") != "Bearer canary-value" {
		t.Errorf("%+v", list)
	}
	if runtime.GOOS != "windows" {
		public := mcpOptions{configs: []string{write("public.json", config, 0o644)}}
		if _, notes, err := public.read(); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "others on this machine can read") {
			t.Errorf("notes %q, %v", notes, err)
		}
	}
	for _, bad := range []mcpOptions{
		{servers: []string{"node canary-value"}}, {servers: []string{"Upper=node canary-value"}}, {servers: []string{`a="canary-value`}}, {servers: []string{"a="}},
		{servers: []string{"a=http://far.example/?key=canary-value"}}, {servers: []string{"a=x", "a=y"}}, {configs: []string{filepath.Join(dir, "absent.json")}},
		{configs: []string{write("bad.json", `{"mcpServers": {"a": {"command": "x", "url": "https://a.example/canary-value"}}}`, 0o600)}},
	} {
		if _, _, err := bad.read(); err == nil || strings.Contains(err.Error(), "canary-value") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
