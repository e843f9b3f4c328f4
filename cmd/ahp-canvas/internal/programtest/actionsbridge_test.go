package programtest

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// dialBridge connects a runtime with one action, which answers until the test ends or stop
// is called.
func dialBridge(t *testing.T, address, id string) (stop func()) {
	t.Helper()
	c, _, err := websocket.DefaultDialer.DialContext(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	say := func(item string) { _ = c.WriteMessage(websocket.TextMessage, []byte(item)) }
	say(`{"type":"runtime_ready","runtime_id":"` + id + `","runtime_key":"key","url":"https://shop.example/?private=1","title":"Shop","manifest":{"tools":[{"name":"buy"}],"signals":[{"name":"sold","ingestion":"enabled"}]}}`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			var item struct{ Type, Call_ID string }
			if c.ReadJSON(&item) != nil {
				return
			}
			switch item.Type {
			case "runtime_status":
				say(`{"type":"runtime_status","runtime_id":"` + id + `"}`)
			case "action_call":
				say(`{"type":"dom_event","event_id":"e","runtime_id":"` + id + `","name":"sold","payload":{"n":1}}`)
				say(fmt.Sprintf(`{"type":"action_call_output","call_id":%q,"runtime_id":%q,"output":{"ok":true,"by":%q}}`, item.Call_ID, id, id))
			}
		}
	}()
	stop = func() { _ = c.Close(); <-done }
	t.Cleanup(stop)
	return stop
}

// eventually repeats a command until its output contains a text.
func (m *machine) eventually(want string, args ...string) {
	m.t.Helper()
	out := ""
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
		cmd := m.command(m.t.Context(), args...)
		raw, _ := cmd.CombinedOutput()
		if out = string(raw); strings.Contains(out, want) {
			return
		}
	}
	m.t.Fatalf("%q: no %q in %s", args, want, out)
}

// TestActionsBridge: pages of a browser connect to a listener with its own token, agents
// work with them by the usual commands, and a card survives a restart of the host.
func TestActionsBridge(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--actions-bridge", "127.0.0.1:0")
	if got := m.do(0, "link", "--actions-bridge"); got != s.ActionsBridge+"\n" || !strings.Contains(got, "/extension?tkn=") {
		t.Errorf("link --actions-bridge printed %q, the first line has %q", got, s.ActionsBridge)
	}
	stop := dialBridge(t, s.ActionsBridge, "r1")
	m.eventually(`"r1"`, "invoke", "browser", "list_runtimes")
	m.do(0, "open", "browser-page", "--instance", "p", "--input", `{"target_url_contains":"shop.example"}`)
	if got := compact(m.do(0, "invoke", "p", "call", "--input", `{"name":"buy"}`)); got != `{"ok":true,"by":"r1"}` {
		t.Errorf("the action answered %s", got)
	}
	if got := m.do(0, "events", "--timeout", "30s"); !strings.Contains(got, `"actions.dom_event"`) {
		t.Errorf("events: %s", got)
	}
	m.do(1, "invoke", "p", "call", "--json", "--input", `{"name":"sell"}`)
	for _, part := range []string{`"code":"unknown_action"`, `"details":{`, `"runtime_id":"r1"`, `"evidence":{"tool":"sell"}`} {
		if !strings.Contains(m.err, part) {
			t.Errorf("a failure has no %s: %s", part, m.err)
		}
	}
	tokens(t, s)
	if noise := s.noise(); strings.Contains(noise, "private") || strings.Contains(noise, "tkn") {
		t.Errorf("the log has secrets: %s", noise)
	}
	stop()
	m.eventually("stale", "ls", "--json")
	_ = s.cmd.Process.Kill()
	<-s.done
	again := m.serve("--actions-bridge", "127.0.0.1:0")
	first, _ := url.Parse(s.ActionsBridge)
	second, _ := url.Parse(again.ActionsBridge)
	if first.RawQuery != second.RawQuery {
		t.Error("a restart changes the token")
	}
	m.eventually("stale", "ls", "--json")
	dialBridge(t, again.ActionsBridge, "other")
	m.eventually(`"other"`, "invoke", "p", "call", "--input", `{"name":"buy"}`)
}

// tokens checks that the runtime token opens one endpoint, and that the others do not open
// that one.
func tokens(t *testing.T, s *server) {
	t.Helper()
	u, err := url.Parse(s.ActionsBridge)
	if err != nil {
		t.Fatal(err)
	}
	runtime := u.Query().Get("tkn")
	for _, at := range []string{s.MCP, strings.Replace(s.AHP, "ws://", "http://", 1)} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader("{}"))
		req.Header.Set("Authorization", "Bearer "+runtime)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("the runtime token at %s: %d", at, resp.StatusCode)
		}
	}
	for _, token := range []string{s.ViewToken, s.AgentToken, "", "x"} {
		_, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+u.Host+"/extension", http.Header{"Authorization": {"Bearer " + token}})
		if err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("another token: %v", err)
		}
	}
}

// TestActionsBridgeFlags: what cannot be served ends the start with a reason.
func TestActionsBridgeFlags(t *testing.T) {
	m := newMachine(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "of this machine alone", []string{"--actions-bridge", "0.0.0.0:17345"}},
		{2, "of this machine alone", []string{"--actions-bridge", "192.0.2.1:17345"}},
		{2, "want an address and a port", []string{"--actions-bridge", "17345"}},
		{2, "need --actions-bridge", []string{"--actions-bridge-origin", "https://shop.example"}},
		{2, "need --actions-bridge", []string{"--actions-bridge-scripts"}},
		{2, "want a web origin", []string{"--actions-bridge", "127.0.0.1:0", "--actions-bridge-origin", "https://shop.example/path"}},
		{2, "want a web origin", []string{"--actions-bridge", "127.0.0.1:0", "--actions-bridge-origin", "*"}},
		{1, "in use", []string{"--actions-bridge", taken.Addr().String()}},
	} {
		m.do(c.status, append([]string{"serve", "--state", "memory"}, c.args...)...)
		if !strings.Contains(m.err, c.want) {
			t.Errorf("%q: %s", c.args, m.err)
		}
	}
	s := m.serve()
	if s.ActionsBridge != "" {
		t.Errorf("without the flag the first line has %q", s.ActionsBridge)
	}
	m.do(1, "link", "--actions-bridge")
	if !strings.Contains(m.err, "--actions-bridge 127.0.0.1:17345") {
		t.Errorf("link --actions-bridge: %s", m.err)
	}
}
