package programtest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFoldersOfOthers checks that no secrets are written where other users can read them.
func TestFoldersOfOthers(t *testing.T) {
	m := newMachine(t)
	if err := os.Mkdir(filepath.Join(m.run, "ahp-canvas"), 0o755); err != nil {
		t.Fatal(err)
	}
	m.do(1, "serve", "--state", "memory")
	if !strings.Contains(m.err, "chmod 700") {
		t.Error(m.err)
	}
	m = newMachine(t)
	if err := os.Symlink(m.state, filepath.Join(m.run, "ahp-canvas")); err != nil {
		t.Fatal(err)
	}
	m.do(1, "serve", "--state", "memory")
	m = newMachine(t)
	file := filepath.Join(m.state, "ahp-canvas", "host.json")
	m.serve().stop(syscall.SIGTERM)
	if err := os.WriteFile(file, []byte(`{"viewToken":`), 0o600); err != nil {
		t.Fatal(err)
	}
	m.do(1, "serve")
	if !strings.Contains(m.err, "damaged") {
		t.Error(m.err)
	}
}

// TestLogs checks that no log line holds a token or the URL of the page.
func TestLogs(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--log-level", "debug")
	m.do(0, "ls")
	m.do(0, "open", "board", "--instance", "x", "--input", `{}`)
	m.do(1, "invoke", "x", "nothing", "--input", `{"word":"payload-of-a-call"}`)
	wrong := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(wrong, []byte("a-wrong-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.do(1, "ls", "--token-file", wrong)
	if got := s.stop(syscall.SIGTERM); got != 0 {
		t.Errorf("exit status %d", got)
	}
	log := s.errs.String()
	if !strings.Contains(log, "refused") {
		t.Errorf("nothing was logged that could be checked: %q", log)
	}
	for _, secret := range []string{s.ViewToken, s.AgentToken, "a-wrong-token", "payload-of-a-call", "http://", "tkn"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q:\n%s", secret, log)
		}
	}
}
