//go:build unix

package aap_test

import (
	"syscall"
	"testing"
)

// TestPipe: a pipe is absent, and does not block the reader.
func TestPipe(t *testing.T) {
	e := open(t)
	e.page("a.html", "")
	if err := syscall.Mkfifo(e.canvas("pipe.html"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Page(agentID, "pipe.html"); code(err) != "not_found" {
		t.Errorf("a pipe: %v", err)
	}
}
