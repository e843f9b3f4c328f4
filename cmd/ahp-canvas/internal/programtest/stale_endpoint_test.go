package programtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// TestNoTokenForReusedProcessID checks that a process which has the id and the
// port of a killed host gets no token, although the host left its endpoint file.
func TestNoTokenForReusedProcessID(t *testing.T) {
	m := newMachine(t)
	asked := make(chan string, 16)
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
	}))
	defer stranger.Close()
	dir := filepath.Join(m.run, "ahp-canvas")
	e := reach.Published{
		Endpoint: reach.Endpoint{MCP: stranger.URL + "/mcp", AgentToken: "agent-secret", PID: os.Getpid()}, // a running process
		Started:  time.Now(), Locked: true,
	}
	name := filepath.Join(dir, strconv.Itoa(e.PID)+".json")
	if err := userdir.Ensure(dir); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(name, ahp.MustMarshal(e)); err != nil {
		t.Fatal(err)
	}
	m.do(1, "ls")
	if !strings.Contains(m.err, term.CodeNoHost) || len(asked) > 0 {
		t.Errorf("%s; the stranger received %d requests", m.err, len(asked))
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}

	remove, err := reach.Publish(dir, e)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // reading the file leaves the lock alone
		if hosts, err := reach.Running(dir); err != nil || len(hosts) != 1 || !hosts[0].Locked {
			t.Errorf("a host that lives: %+v, %v", hosts, err)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	remove()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
