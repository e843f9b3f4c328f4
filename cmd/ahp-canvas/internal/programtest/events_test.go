package programtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
)

// bell starts a host in this process, which the program finds like any other. The action
// of its canvas raises its input as an event.
func (m *machine) bell() *host.Host {
	m.t.Helper()
	h, err := host.New(host.Options{
		Now:    func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Limits: canvas.Limits{Events: 3},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	open := func(_ context.Context, _ canvas.OpenRequest, c *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{Title: "鐘 Bell", Instance: &canvas.App{Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){
			"ring": func(_ context.Context, input ahp.Value) (ahp.Value, error) { return nil, c.Raise(input) },
		}}}, nil
	}
	declared := canvas.Declaration{CanvasID: "bell", DisplayName: "鐘", Actions: []canvas.Action{{Name: "ring"}}}
	if _, err := h.Canvases().Register(canvas.Extension{ID: "tower"}, canvas.Func(open), declared); err != nil {
		m.t.Fatal(err)
	}
	hosttest.Serve(m.t, h)
	remove, err := reach.Publish(filepath.Join(m.run, "ahp-canvas"), reach.Published{Endpoint: endpointOf(h), Started: time.Now()})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(remove)
	m.env = append(m.env, "TZ=UTC")
	m.do(0, "open", "bell", "--instance", "b")
	return h
}

func endpointOf(h *host.Host) reach.Endpoint {
	at := h.Endpoints()
	view, agent := h.Tokens()
	return reach.Endpoint{
		Link: h.Link(host.DefaultSession), Page: at.Page, AHP: at.AHP, MCP: at.MCP,
		ViewToken: view, AgentToken: agent, Session: host.DefaultSession, PID: os.Getpid(),
	}
}

func (m *machine) ring(words ...string) {
	m.t.Helper()
	for _, w := range words {
		m.do(0, "invoke", "b", "ring", "--input", `{"word":"`+w+`"}`)
	}
}

func event(cursor int, word string) string {
	return fmt.Sprintf(`{"type":"event","cursor":%d,"instanceId":"b","time":"2026-01-02T03:04:05Z","event":{"word":"%s"}}`+"\n", cursor, word)
}

// TestEvents checks that events are printed once, from a cursor on.
func TestEvents(t *testing.T) {
	m := newMachine(t)
	m.bell()
	if got := m.do(0, "events"); got != "No events.\n" {
		t.Errorf("none: %q", got)
	}
	if got := m.do(0, "events", "--json"); got != "" {
		t.Errorf("none: %q", got)
	}
	m.ring("one", `\u001b[31m鐘`)
	for _, tc := range []struct{ args, want string }{
		{"events", "03:04:05  b  {\"word\":\"one\"}\n03:04:05  b  {\"word\":\"\\u001b[31m鐘\"}\n"},
		{"events --json", event(1, "one") + event(2, `\u001b[31m鐘`)},
		{"events --json --after 1", event(2, `\u001b[31m鐘`)},
		{"events --json --after 2 --timeout 10ms", ""},
	} {
		if diff := cmp.Diff(tc.want, m.do(0, strings.Fields(tc.args)...)); diff != "" {
			t.Errorf("%s: %s", tc.args, diff)
		}
	}
	m.ring("three", "four") // the host keeps three
	if diff := cmp.Diff(`{"type":"dropped","count":1}`+"\n"+event(2, `\u001b[31m鐘`)+event(3, "three")+event(4, "four"), m.do(0, "events", "--json")); diff != "" {
		t.Error(diff)
	}
	if m.do(0, "events"); !strings.Contains(m.err, "1 earlier event was lost") {
		t.Error(m.err)
	}
	m.do(1, "events", "--session", "ahp-session:/none")
	if !strings.Contains(m.err, "canvas_session_not_found") {
		t.Error(m.err)
	}
	m.do(2, "events", "--after", "-1")
	m.do(2, "events", "--timeout", "-1s")
}

// TestEventsFollow checks that --follow prints an event when it happens, and that Ctrl-C
// is a success.
func TestEventsFollow(t *testing.T) {
	m := newMachine(t)
	m.bell()
	cmd := m.command(t.Context(), "events", "--follow", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := &lockedBuffer{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for i, word := range []string{"one", "two"} {
		m.ring(word)
		if line, err := lines.ReadString('\n'); err != nil || line != event(i+1, word) {
			t.Fatalf("%q, %v", line, err)
		}
	}
	begun := time.Now()
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil || time.Since(begun) > 4*time.Second || errs.String() != "" {
		t.Errorf("Ctrl-C: %v: %s", err, errs)
	}
	// With --timeout it ends when no event came for that long.
	if got := m.do(0, "events", "--follow", "--json", "--timeout", "50ms"); got != event(1, "one")+event(2, "two") {
		t.Error(got)
	}
}

// TestMCPWaits checks that an agent on standard streams waits for an event and continues
// after it.
func TestMCPWaits(t *testing.T) {
	m := newMachine(t)
	m.bell()
	a := m.agent()
	told := make(chan string)
	go func() { told <- string(a.tool("wait_for_canvas_events", `{"timeout":20}`)) }()
	m.ring("now")
	if got, want := <-told, `{"events":[{"instanceId":"b","time":"2026-01-02T03:04:05Z","event":{"word":"now"},"cursor":1}],"next":1,"dropped":0}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := string(a.tool("wait_for_canvas_events", `{"after":1,"timeout":0}`)), `{"events":[],"next":1,"dropped":0}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	a.leave()
}

// TestStopEndsWaits checks that a host that stops does not wait until calls that wait for
// events time out.
func TestStopEndsWaits(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	a := m.agent()
	fmt.Fprintln(a.in, `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"wait_for_canvas_events","arguments":{"timeout":50}}}`)
	a.tool("list_open_canvases", `{}`) // its answer comes after the wait has begun, or instead of it
	begun := time.Now()
	if got := s.stop(syscall.SIGTERM); got != 0 || time.Since(begun) > 8*time.Second {
		t.Errorf("exit status %d after %v\n%s", got, time.Since(begun), s.errs)
	}
	a.leave()
}
