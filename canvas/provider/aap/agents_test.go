package aap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// TestAgents: rule 23.
func TestAgents(t *testing.T) {
	now := time.Now()
	e := open(t, func(o *aap.Options) {
		o.Now = func() time.Time { return now }
		o.Agents = map[string]string{"mine": t.TempDir()}
	})
	resolve := func(name string) string {
		a, err := e.Agent(name)
		if err != nil {
			return code(err)
		}
		return a.ID
	}
	for name, want := range map[string]string{
		agentID: agentID, "backend-auth": agentID, "BACKEND-Auth": agentID, "AUTH": agentID, "mine": "mine", "Mine": "mine",
		"xyz": "not_found", "": "not_found", "..": "not_found", strings.ToUpper(agentID): "not_found",
	} {
		if got := resolve(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
	if _, err := e.Agent("xyz"); err == nil || !strings.HasPrefix(err.Error(), "Agent 'xyz' not found") {
		t.Errorf("unknown agent: %v", err)
	}
	e.write("registry.json", `[{"id":"b","name":"second","deletedAt":null},{"id":"c","name":"SECOND"},{"id":"gone","deletedAt":"2026-01-01"},
		{"id":"../x"},{"id":"a/b"},{"id":".."},{"id":""},{"id":7},5,{"name":"none"},{"id":"b","name":"twice"}]`)
	if got := resolve("b"); got != "not_found" {
		t.Errorf("read again within a second: %s", got)
	}
	now = now.Add(time.Second)
	for name, want := range map[string]string{"b": "b", "second": "b", "c": "c", "gone": "not_found", "backend-auth": "not_found", "twice": "not_found", "../x": "not_found"} {
		if got := resolve(name); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
	if got := len(e.Agents()); got != 3 {
		t.Errorf("%d agents", got)
	}
	if notes := e.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "one name") {
		t.Errorf("notes %q", notes)
	}
}

// TestWithoutRegistry: agents by folder, and a note if there is a file that cannot be used.
func TestWithoutRegistry(t *testing.T) {
	for registry, note := range map[string]string{"": "", `{"a":1}`: "not a JSON array", `[`: "not a JSON array", "[" + strings.Repeat(" ", 16<<20) + "]": "16 MiB"} {
		root := t.TempDir()
		for _, name := range []string{"one", "two", ".hidden"} {
			if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if registry != "" {
			if err := os.WriteFile(filepath.Join(root, "registry.json"), []byte(registry), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := aap.Open(aap.Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		if all := s.Agents(); len(all) != 2 || all[0].ID != "one" || all[1].Name != "two" {
			t.Errorf("%.20q: agents %+v", registry, all)
		}
		if got := strings.Join(s.Notes(), "; "); (got == "") != (note == "") || !strings.Contains(got, note) {
			t.Errorf("%.20q: notes %q", registry, got)
		}
		_ = s.Close()
	}
}

// FuzzRegistry: an agent's id is one segment of a path, whatever the registry says.
func FuzzRegistry(f *testing.F) {
	f.Add([]byte(registry))
	f.Add([]byte(`[{"id":"../x","name":1},{"id":"a","alias":"\n"}]`))
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, a := range aap.ParseRegistry(raw, root) {
			if !filepath.IsLocal(a.ID) || filepath.Base(a.ID) != a.ID || strings.ContainsAny(a.Name+a.Alias, "\n\x1b") {
				t.Errorf("%q: agent %+v", raw, a)
			}
		}
	})
}
