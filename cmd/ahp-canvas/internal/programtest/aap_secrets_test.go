package programtest

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// TestAAPLogs searches the log of a whole run of the program: a click in a View, one over
// HTTP, refused ones, a push, an acknowledgment, a page read with the token in the address,
// a page that cannot be opened and a notification that fails. No token, address, page name,
// summary or data is in it.
func TestAAPLogs(t *testing.T) {
	t.Parallel()
	m, dir := newMachine(t), t.TempDir()
	fails := filepath.Join(dir, "fails")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(fails, "#!/bin/sh\ncat >&2\nexit 3\n", 0o755)
	canvasDir := filepath.Join(dir, "canvas")
	write(filepath.Join(canvasDir, "private-page.html"), "<title>private-title</title><p>private-body</p>", 0o644)
	s := m.serve("--log-level", "debug", "--aap-agent", "builder="+canvasDir, "--aap-notify", fails)
	var opened struct {
		Channel string    `json:"channel"`
		Rest    ahp.Value `json:",embed"`
	}
	if out := m.do(0, "open", "aap-page", "--instance", "p", "--json", "--input", `{"file":"private-page.html"}`); ahp.Unmarshal([]byte(out), &opened) != nil {
		t.Fatal(out)
	}
	view := func(payload string) string { return pressInView(t, s, opened.Channel, payload) }
	if got := view(`{"type":"canvas:interaction","action":"private-action","element":"private-element","data":{"k":"private-data"},"ref":"r1"}`); got != "aap:stored" {
		t.Fatal(got)
	}
	if got := view(`{"type":"canvas:interaction","action":7,"data":"private-data","ref":"r2"}`); got != "aap:refused" {
		t.Fatal(got)
	}
	for body, want := range map[string]int{
		`{"action":"private-action","canvasFile":"private-page.html","data":"private-data"}`: 201,
		`{"action":"private-action","canvasFile":"../private-page.html"}`:                    400,
		`{"private-data`: 400,
	} {
		if status, _, err := s.click("builder", s.ViewToken, body); err != nil || status != want {
			t.Errorf("%s: %d, %v", body, status, err)
		}
	}
	if status, _, err := s.click("builder", "a-wrong-token", `{}`); err != nil || status != 401 {
		t.Errorf("a wrong token: %d, %v", status, err)
	}
	resp, err := http.Get(s.Page + "api/agents/builder/canvas?file=private-page.html&tkn=" + url.QueryEscape(s.ViewToken))
	if err != nil {
		t.Fatal(err)
	}
	if raw, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 || !strings.Contains(string(raw), "private-body") {
		t.Errorf("the page: %d", resp.StatusCode)
	}
	_ = resp.Body.Close()
	m.do(0, "invoke", "p", "push", "--input", `{"data":"private-data"}`)
	m.do(1, "invoke", "p", "acknowledge", "--input", `{"id":"private-id","note":"private-note"}`)
	m.do(1, "open", "aap-page", "--instance", "q", "--input", `{"file":"private-absent.html"}`)
	m.do(0, "events")
	untilTrue(t, "a failed notification in the log", func() bool { return strings.Contains(s.errs.String(), "could not be notified") })
	if got := s.stop(syscall.SIGTERM); got != 0 {
		t.Errorf("exit status %d", got)
	}
	log := s.errs.String()
	for _, secret := range []string{s.ViewToken, s.AgentToken, "a-wrong-token", "private-", "[CANVAS]", "http://", "tkn", dir} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q:\n%s", secret, log)
		}
	}
}

// pressInView sends a message of a View as the page does, and returns the type of the answer.
func pressInView(t *testing.T, s *server, channel, payload string) string {
	t.Helper()
	c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.ViewToken, Subscriptions: []string{channel}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := c.Watch(channel)
	defer w.Close()
	if err := c.Message(t.Context(), channel, ahp.Value(payload)); err != nil {
		t.Fatal(err)
	}
	for {
		event, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Type string    `json:"type,omitzero"`
			Rest ahp.Value `json:",embed"`
		}
		if m, ok := event.Action.(canvas.Message); ok && event.Origin == nil && ahp.Unmarshal(m.Payload, &answer) == nil && answer.Type != "" {
			return answer.Type
		}
	}
}
