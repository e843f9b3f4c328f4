//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// withFiles limits how many files the programs of a machine may have open.
func (m *machine) withFiles(n int) {
	m.via = []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$@"`, n), "sh"}
}

// A host takes as many connections as it may have open files for, and says so in one
// line; what was asked for and cannot be had is refused.
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
	var said struct {
		Msg            string
		Files          int
		MaxConnections int `json:"max_connections"`
	}
	if err := json.Unmarshal([]byte(s.errs.String()), &said); err != nil || said.Files != 800 || said.MaxConnections != 600 || !strings.Contains(said.Msg, "ulimit -n") {
		t.Errorf("%v: %s", err, s.errs)
	}
	m.do(1, "serve", "--state", "memory", "--max-connections", "601")
	for _, want := range []string{"host_not_started", "--max-connections 601", "may have 800", "ulimit -n"} {
		if !strings.Contains(m.err, want) {
			t.Errorf("no %q in %s", want, m.err)
		}
	}
	if s := m.serve("--state", "memory", "--max-connections", "600"); s.stop(syscall.SIGTERM) != 0 || s.errs.String() != "" {
		t.Error(s.errs)
	}
}
