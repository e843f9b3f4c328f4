package programtest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// simpleForm writes the reference's simple form: its actions.json, unmodified, beside a page
// like its own.
func simpleForm(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "contact-form")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"actions.json": "testdata/upstream/simple-form.actions.json", "index.html": "bridgecanvas/testdata/simple-form/index.html"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text(t, "canvas/provider/actionsbridge/"+from)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compact returns JSON without white space.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// submits calls the tool of the simple form, checks its answer, and checks that bad
// arguments are refused.
func submits(t *testing.T, m *machine) {
	t.Helper()
	const tool = "contact.submit_name"
	if got := compact(m.do(0, "invoke", "contact-form", tool, "--input", `{"name":"Ada"}`)); got != `{"ok":true,"result":"Submitted Ada"}` {
		t.Errorf("the tool answered %s", got)
	}
	m.do(1, "invoke", "contact-form", tool, "--json", "--input", `{}`)
	if !strings.Contains(m.err, `"code":"invalid_input"`) || !strings.Contains(m.err, `"rule":"required"`) {
		t.Errorf("bad arguments: %s", m.err)
	}
	if got := m.do(0, "events", "--timeout", "30s"); strings.Count(got, `"contact.submitted"`) != 1 || !strings.Contains(got, `"Submitted Ada"`) {
		t.Errorf("events: %s", got)
	}
}

// TestActionsPage: a folder with an actions.json, shown by the program and called with its
// commands; what cannot be offered ends the start with a reason.
func TestActionsPage(t *testing.T) {
	m, dir := newMachine(t), simpleForm(t)
	s := m.serve("--actions-page", dir)
	tab := webtest.Start(t).Open(t, s.Link)
	submits(t, m)
	tab.Wait(t, `document.querySelector(".card").textContent.includes("form_submitted")`)
	if noise := s.noise(); strings.Contains(noise, "Ada") || strings.Contains(noise, "form") {
		t.Errorf("the log has the call: %s", noise)
	}
	if out := m.do(0, "lint", dir); !strings.Contains(out, "no problems") {
		t.Errorf("lint: %s", out)
	}
	bad := simpleForm(t)
	if err := os.WriteFile(filepath.Join(bad, "actions.json"), []byte("{\n\"protocol\":\"actions.json\",\n\"version\":2,\"tools\":[]}"), 0o644); err != nil {
		t.Fatal(err)
	}
	m.do(1, "lint", bad)
	if !strings.Contains(m.lastOut, "actions.json:3: error: /version: ") {
		t.Errorf("lint: %s", m.lastOut)
	}
	other := newMachine(t)
	other.do(1, "serve", "--json", "--actions-page", bad)
	var failed struct{ Code, Message string }
	if err := json.Unmarshal([]byte(other.err), &failed); err != nil || failed.Code != "host_not_started" || !strings.Contains(failed.Message, "actions.json:3: /version: ") {
		t.Errorf("serve: %s, %v", other.err, err)
	}
}

// TestActionsPageReadme follows the README: its page, its manifest and its commands.
func TestActionsPageReadme(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	readme := text(t, "canvas/provider/actionsbridge/bridgecanvas/README.md")
	if err := os.Mkdir(filepath.Join(dir, "counter"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]string{"index.html": "html", "actions.json": "json"} {
		found := regexp.MustCompile("(?ms)^```" + kind + "\n(.*?)^```").FindStringSubmatch(readme)
		if found == nil {
			t.Fatalf("the README has no %s", name)
		}
		if err := os.WriteFile(filepath.Join(dir, "counter", name), []byte(found[1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commands := strings.Split(strings.TrimSpace(regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindStringSubmatch(readme)[1]), "\n")
	if len(commands) != 3 || commands[0] != "ahp-canvas serve --actions-page ./counter" || commands[1] != `ahp-canvas invoke counter counter.add --input '{"by":2}'` || commands[2] != "ahp-canvas events" {
		t.Fatalf("the README's commands are %q", commands)
	}
	m.do(0, "lint", filepath.Join(dir, "counter"))
	s := m.serve("--actions-page", filepath.Join(dir, "counter"))
	webtest.Start(t).Open(t, s.Link)
	if got := compact(m.do(0, "invoke", "counter", "counter.add", "--input", `{"by":2}`)); got != `{"now":2}` {
		t.Errorf("the tool answered %s", got)
	}
	if got := m.do(0, "events"); !strings.Contains(got, `"counter.changed"`) {
		t.Errorf("events: %s", got)
	}
}
