package programtest

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

func mode(t *testing.T, name string) os.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// TestStop checks that a host that is stopped by a signal answers, cleans up and exits
// with 0.
func TestStop(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		m := newMachine(t)
		s := m.serve()
		file := filepath.Join(m.run, "ahp-canvas", strconv.Itoa(s.PID)+".json")
		if mode(t, file) != 0o600 || mode(t, filepath.Dir(file)) != 0o700 {
			t.Errorf("endpoint file %v in %v", mode(t, file), mode(t, filepath.Dir(file)))
		}
		if got := s.stop(sig); got != 0 {
			t.Errorf("%v: exit status %d\n%s", sig, got, s.errs)
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%v: the endpoint file is still there", sig)
		}
		if noise := s.noise(); noise != "" {
			t.Errorf("%v: noise: %s", sig, noise)
		}
	}
}

// TestSecondSignal checks that the first signal waits for a running request, and that the
// second does not.
func TestSecondSignal(t *testing.T) {
	m := newMachine(t)
	s := m.serve()
	u, err := url.Parse(s.MCP)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n", u.Host, s.AgentToken)
	if _, err := conn.Read(make([]byte, 25)); err != nil { // 100 Continue: the request is being handled
		t.Fatal(err)
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	for { // until it accepts no connection: it has received the first signal
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			break
		}
		c.Close()
	}
	select {
	case <-s.done:
		t.Fatal("it did not wait for the request")
	default:
	}
	s.stop(syscall.SIGTERM)
	status := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", status)
	}
	// The files that it left are recognized as stale.
	m.do(1, "ls")
	if !strings.Contains(m.err, "host_not_found") {
		t.Error(m.err)
	}
}

// TestRestart checks that a host has the same port and tokens after a restart, so that
// open pages reconnect.
func TestRestart(t *testing.T) {
	m := newMachine(t)
	first := m.serve()
	first.stop(syscall.SIGTERM)
	second := m.serve()
	first.PID = second.PID
	if diff := cmp.Diff(first.Endpoint, second.Endpoint); diff != "" {
		t.Error(diff)
	}
	file := filepath.Join(m.state, "ahp-canvas", "host.json")
	if mode(t, file) != 0o600 || mode(t, filepath.Dir(file)) != 0o700 {
		t.Errorf("state %v in %v", mode(t, file), mode(t, filepath.Dir(file)))
	}
}

func TestStateMemory(t *testing.T) {
	m := newMachine(t)
	first := m.serve("--state", "memory")
	first.stop(syscall.SIGTERM)
	second := m.serve("--state", "memory")
	if first.ViewToken == second.ViewToken || first.AgentToken == second.AgentToken {
		t.Error("a token was kept")
	}
	if left, err := os.ReadDir(m.state); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestPortTaken checks that a host whose last port is in use says so, and keeps the new
// one.
func TestPortTaken(t *testing.T) {
	m := newMachine(t)
	first := m.serve()
	first.stop(syscall.SIGTERM)
	u, err := url.Parse(first.Page)
	if err != nil {
		t.Fatal(err)
	}
	squatter, err := net.Listen("tcp", "127.0.0.1:"+u.Port())
	if err != nil {
		t.Fatal(err)
	}
	defer squatter.Close()
	second := m.serve()
	second.stop(syscall.SIGTERM) // so that its output is complete
	if second.Page == first.Page || second.ViewToken != first.ViewToken || !strings.Contains(second.errs.String(), u.Port()+" of the last run is in use") {
		t.Errorf("%s then %s: %s", first.Page, second.Page, second.errs)
	}
	third := m.serve()
	third.stop(syscall.SIGTERM)
	if third.Page != second.Page {
		t.Errorf("%s was not kept: %s", second.Page, third.Page)
	}
	m.do(1, "serve", "--listen", "127.0.0.1:"+u.Port())
	if !strings.Contains(m.err, "host_not_started") || !strings.Contains(m.err, "in use") {
		t.Error(m.err)
	}
}

// TestTwoHosts checks that commands use the host that started last, that --host selects
// the other one, and that each keeps its port.
func TestTwoHosts(t *testing.T) {
	m := newMachine(t)
	first := m.serve()
	second := m.serve("--state", t.TempDir()+"/own")
	if got := m.do(0, "link"); got != second.Link+"\n" {
		t.Errorf("link of %s", got)
	}
	for _, name := range []string{first.Page, strings.Replace(first.Page, "localhost", "127.0.0.1", 1), first.MCP} {
		if got := m.do(0, "link", "--host", name); got != first.Link+"\n" {
			t.Errorf("link --host %s: %s", name, got)
		}
	}
	for name, want := range map[string]*server{"default": first, "own": second, strconv.Itoa(first.PID): first, strconv.Itoa(second.Port()): second} {
		if got := m.do(0, "link", "--host", name); got != want.Link+"\n" {
			t.Errorf("link --host %s: %s", name, got)
		}
	}
	m.do(1, "mcp", "--host", "other") // and starts no host
	if want := `no running host has the name, process id or port "other"; "ahp-canvas hosts" lists them`; !strings.Contains(m.err, want) {
		t.Errorf("--host other: %s", m.err)
	}
	if got := m.do(0, "hosts", "--json"); !strings.HasPrefix(got, `{"name":"own",`) || strings.Count(got, "\n") != 2 || strings.Contains(got, first.ViewToken) {
		t.Errorf("hosts: %s", got)
	}
	second.stop(syscall.SIGTERM)
	if first.Page == second.Page {
		t.Error(second.Page)
	}
	if got := m.do(0, "link"); got != first.Link+"\n" {
		t.Errorf("link of %s", got)
	}
	first.stop(syscall.SIGTERM)
	if third := m.serve(); third.Page != first.Page {
		t.Errorf("port of %s was not kept: %s", first.Page, third.Page)
	}
}

// TestStateLocked checks that two hosts do not share a state folder, that the second one
// names the first, and that the lock ends with its process, however that ended.
func TestStateLocked(t *testing.T) {
	m := newMachine(t)
	first := m.serve()
	m.do(1, "serve")
	if !strings.Contains(m.err, "host_not_started") || !strings.Contains(m.err, fmt.Sprintf("(process %d)", first.PID)) || !strings.Contains(m.err, "--state") {
		t.Error(m.err)
	}
	if got := m.do(0, "link"); got != first.Link+"\n" {
		t.Errorf("link: %s", got)
	}
	first.stop(syscall.SIGKILL)
	second := m.serve()
	if second.Page != first.Page || second.noise() != "" {
		t.Errorf("%s then %s: %s", first.Page, second.Page, second.errs)
	}
	second.stop(syscall.SIGTERM)
	if mode(t, filepath.Join(m.state, "ahp-canvas", "lock")) != 0o600 {
		t.Error("others can read the lock")
	}
}

// TestStaleEndpoint checks that the endpoint file of a process that has ended is removed,
// and that other files are left alone.
func TestStaleEndpoint(t *testing.T) {
	m := newMachine(t)
	dir := filepath.Join(m.run, "ahp-canvas")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	gone := m.command(t.Context(), "version")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, strconv.Itoa(gone.Process.Pid)+".json")
	for name, text := range map[string]string{stale: `{}`, filepath.Join(dir, "note.json"): `{}`, filepath.Join(dir, strconv.Itoa(os.Getpid())+".json"): `broken`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.do(1, "ls")
	if !strings.Contains(m.err, "host_not_found") {
		t.Error(m.err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestStopClosesPages checks that a connected page learns why its connection ends, and
// does not delay the end.
func TestStopClosesPages(t *testing.T) {
	m := newMachine(t)
	s := m.serve()
	page, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.ViewToken})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	if _, err := page.Subscribe(t.Context(), s.Session); err != nil {
		t.Fatal(err)
	}
	if st, ok := page.Session(s.Session); !ok || len(st.OpenCanvases) != 1 || st.OpenCanvases[0].InstanceID != "board" {
		t.Fatalf("the page sees %+v", st.OpenCanvases)
	}
	if got := s.stop(syscall.SIGTERM); got != 0 {
		t.Errorf("exit status %d\n%s", got, s.errs)
	}
	<-page.Disconnected()
	if closed, ok := errors.AsType[*client.Closed](page.Err()); !ok || closed.Code != ws.CodeGoingAway || !closed.Remote {
		t.Errorf("the page's connection ended with %v", page.Err())
	}
}
