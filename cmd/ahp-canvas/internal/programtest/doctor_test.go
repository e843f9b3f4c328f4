package programtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/doctor"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
)

// findings runs doctor and returns its findings by check.
func (m *machine) findings(want int, args ...string) map[string]doctor.Finding {
	m.t.Helper()
	all := map[string]doctor.Finding{}
	for line := range strings.Lines(m.do(want, append([]string{"doctor", "--json"}, args...)...)) {
		var f doctor.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			m.t.Fatalf("%s: %v", line, err)
		}
		all[f.Check] = f
	}
	return all
}

func statuses(all map[string]doctor.Finding) map[string]string {
	short := map[string]string{}
	for check, f := range all {
		short[check] = f.Status
	}
	return short
}

// withBrowser makes a script the only browser of a machine; an empty script leaves none.
func (m *machine) withBrowser(name, script string) {
	m.t.Helper()
	bin := m.t.TempDir()
	m.env = append(m.env, "PATH="+bin)
	if script == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

func TestDoctor(t *testing.T) {
	m := newMachine(t)
	m.withBrowser("chromium", "exit 3")
	want := map[string]string{"state folder": "ok", "runtime folder": "ok", "host": "failed", "browser": "ok", "service worker": "warning"}
	if diff := cmp.Diff(want, statuses(m.findings(1))); diff != "" || !strings.Contains(m.err, "checks_failed") {
		t.Errorf("without a host: %s: %s", diff, m.err)
	}
	m.withBrowser("firefox", "exit 3")
	want["browser"] = "warning" // of what a canvas reaches there
	if all := m.findings(1); !cmp.Equal(want, statuses(all)) || !strings.Contains(all["browser"].Found+all["browser"].Advice, "WebRTC") {
		t.Errorf("with Firefox: %+v", all["browser"])
	}
	s := m.serve()
	m.withBrowser("", "")
	all := m.findings(0)
	delete(want, "host")
	for _, check := range []string{"host", "state file", "endpoint files", "listener", "health", "agent token", "AHP, view token"} {
		want[check] = "ok"
	}
	want["browser"], want["content origin"] = "warning", all["content origin"].Status
	if diff := cmp.Diff(want, statuses(all)); diff != "" || all["content origin"].Status == "failed" {
		t.Errorf("with a host: %s: %+v", diff, all["content origin"])
	}
	out := m.do(0, "doctor")
	if !strings.Contains(out, "\nok       listener         localhost:") || strings.Contains(out, s.ViewToken) || strings.Contains(out, s.AgentToken) {
		t.Error(out)
	}
}

// TestDoctorFindsWhatIsWrong checks that a problem fails the right check, with advice.
func TestDoctorFindsWhatIsWrong(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, check, status, said string
		arrange                   func(m *machine, s *server) (args []string)
	}{
		{"a wrong token", "agent token", "failed", "--token-file", func(*machine, *server) []string { return []string{"--token-file", token} }},
		{"an open folder", "state folder", "failed", "chmod 700", func(m *machine, _ *server) []string {
			return try(m.t, os.Chmod(filepath.Join(m.state, "ahp-canvas"), 0o755))
		}},
		{"an open file", "state file", "failed", "chmod 600", func(m *machine, _ *server) []string {
			return try(m.t, os.Chmod(filepath.Join(m.state, "ahp-canvas", "host.json"), 0o644))
		}},
		{"a damaged file", "state file", "failed", "Remove it", func(m *machine, _ *server) []string {
			return try(m.t, os.WriteFile(filepath.Join(m.state, "ahp-canvas", "host.json"), []byte("{"), 0o600))
		}},
		{"a killed host", "endpoint files", "warning", "now removed", func(_ *machine, s *server) []string {
			s.stop(syscall.SIGKILL)
			return nil
		}},
		{"a file of another version", "endpoint files", "warning", "another version", func(m *machine, _ *server) []string {
			return try(m.t, os.WriteFile(filepath.Join(m.run, "ahp-canvas", strconv.Itoa(os.Getpid())+".json"), []byte("{}"), 0o600))
		}},
		{"no listener", "listener", "failed", "ahp-canvas serve", func(m *machine, s *server) []string {
			e := reach.Published{Endpoint: s.Endpoint, Started: time.Now()}
			e.PID, e.MCP = os.Getpid(), "http://localhost:"+freePort(m.t)+"/mcp"
			return try(m.t, os.WriteFile(filepath.Join(m.run, "ahp-canvas", strconv.Itoa(e.PID)+".json"), ahp.MustMarshal(e), 0o600))
		}},
		{"a host that hangs", "health", "failed", "hangs", func(m *machine, s *server) []string {
			suspend(m.t, s.PID)
			return nil
		}},
		{"names without an address", "content origin", "failed", "wildcard DNS", func(m *machine, s *server) []string {
			s.stop(syscall.SIGTERM)
			port := freePort(m.t)
			m.serve("--listen", "127.0.0.1:"+port, "--content-origin", "http://*.c.invalid:"+port)
			return nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			m.withBrowser("", "")
			args := tc.arrange(m, m.serve())
			code := 1
			if tc.status == "warning" && tc.name != "a killed host" {
				code = 0
			}
			if f := m.findings(code, args...)[tc.check]; f.Status != tc.status || !strings.Contains(f.Found+f.Advice, tc.said) {
				t.Errorf("%+v, want %s with %q\n%s%s", f, tc.status, tc.said, m.lastOut, m.err)
			}
		})
	}
}

// suspend stops a process and waits until it stands still. The signal alone does not wait:
// on a busy machine the process can still answer a request.
func suspend(t *testing.T, pid int) {
	t.Helper()
	try(t, exec.Command("kill", "-STOP", strconv.Itoa(pid)).Run())
	for end := time.Now().Add(30 * time.Second); ; {
		state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
		if strings.HasPrefix(strings.TrimSpace(string(state)), "T") {
			return
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("process %d was not suspended: state %q, %v", pid, state, err)
		}
	}
}

func try(t *testing.T, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return nil
}

// TestDoctorAsksTheBrowser checks the service workers of real browsers.
func TestDoctorAsksTheBrowser(t *testing.T) {
	for _, name := range []string{"chromium", "firefox-esr"} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			exe, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("no %s on this machine", name)
			}
			m.withBrowser(name, "exec "+exe+` "$@"`)
			f := m.findings(1)["service worker"]
			for tries := 1; tries < 3 && strings.Contains(f.Found, "did not respond within"); tries++ { // on a busy machine
				f = m.findings(1)["service worker"]
			}
			if f.Status != "ok" {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestNoProxyIsUsed checks that no command uses the proxy that the environment names,
// because it would see the token.
func TestNoProxyIsUsed(t *testing.T) {
	m := newMachine(t)
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	m.env = append(m.env, "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=", "AHP_CANVAS_TOKEN=sesame")
	// This name never resolves (RFC 6761 section 6.4), so only a proxy would answer.
	m.do(1, "ls", "--host", "http://canvas.invalid:80")
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}
