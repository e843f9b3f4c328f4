//go:build unix

package programtest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// withFiles limits how many files a machine's programs can have open.
func (m *machine) withFiles(n int) {
	m.via = []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, n), "sh"}
}

// fewerLine is the log line about lowered connection limits.
type fewerLine struct {
	Msg            string
	Files          int
	MaxConnections int `json:"max_connections"`
	MaxHTTP        int `json:"max_http"`
	MaxHosts       int `json:"max_hosts"`
}

func fewer(t *testing.T, text string) (said fewerLine) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &said); err != nil || !strings.Contains(said.Msg, "ulimit -n") {
		t.Errorf("%v: %s", err, text)
	}
	return said
}

// TestOpenFiles checks that a host lowers its connection limits to the limit of open files
// and logs that in one line, and that it refuses numbers that were given and do not fit.
func TestOpenFiles(t *testing.T) {
	m := newMachine(t)
	m.withFiles(800)
	admin := "127.0.0.1:" + freePort(t)
	s := m.serve("--state", "memory", "--admin", admin)
	have := numbers(t, admin)
	if have["ahp_canvas_connections_max"] != 600 || have["ahp_canvas_http_connections_max"] != 100 {
		t.Errorf("%v", have)
	}
	s.stop(syscall.SIGTERM)
	if said := fewer(t, s.errs.String()); said.Files != 800 || said.MaxConnections != 600 {
		t.Errorf("%s", s.errs)
	}
	m.do(1, "serve", "--state", "memory", "--max-connections", "601")
	for _, want := range []string{"host_not_started", "--max-connections 601", "limit is 800", "ulimit -n"} {
		if !strings.Contains(m.err, want) {
			t.Errorf("no %q in %s", want, m.err)
		}
	}
	s = m.serve("--state", "memory", "--max-connections", "600")
	s.stop(syscall.SIGTERM)
	if said := fewer(t, s.errs.String()); said.MaxConnections != 600 || said.MaxHTTP != 100 { // which was not given, so it is lowered
		t.Errorf("%s", s.errs)
	}
	if s := m.serve("--state", "memory", "--max-connections", "600", "--max-http", "100"); s.stop(syscall.SIGTERM) != 0 || s.errs.String() != "" {
		t.Error(s.errs)
	}
}

// TestOpenFilesOfARelay checks the same for a relay, where a client takes two sockets.
func TestOpenFilesOfARelay(t *testing.T) {
	m := newMachine(t)
	tokens := filepath.Join(t.TempDir(), "tokens.json")
	m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")
	m.withFiles(800)
	r := m.start("relay", "--json", "--listen", "127.0.0.1:0", "--tokens", tokens)
	r.stop()
	if said := fewer(t, r.errs.String()); said.Files != 800 || said.MaxConnections != 250 || said.MaxHosts != 100 {
		t.Errorf("%s", r.errs)
	}
	m.do(1, "relay", "--listen", "127.0.0.1:0", "--tokens", tokens, "--max-http", "700")
	for _, want := range []string{"relay_not_started", "--max-http 700", "limit is 800", "ulimit -n"} {
		if !strings.Contains(m.err, want) {
			t.Errorf("no %q in %s", want, m.err)
		}
	}
}
