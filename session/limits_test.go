package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestManySessions: a host has at most 1,024 sessions (canvas/PROTOCOL.md section 8). One
// that was removed does not count.
func TestManySessions(t *testing.T) {
	b := newBench(t, session.Options{})
	s, _ := b.connect(1, "c1")
	create := func(n int) error {
		return b.create(s, session.CreateSessionParams{Channel: fmt.Sprint("ahp-session:/", n)})
	}
	for n := range 1024 {
		if err := create(n); err != nil {
			t.Fatal(n, err)
		}
	}
	if err := create(1024); !errors.Is(err, &ahp.Error{Code: ahp.CodePermissionDenied}) {
		t.Errorf("one more: %v", err)
	}
	if _, err := b.svc.DisposeSession(t.Context(), s, ahp.ChannelParams{Channel: "ahp-session:/7"}); err != nil {
		t.Fatal(err)
	}
	if err := create(1024); err != nil {
		t.Errorf("after one was removed: %v", err)
	}
}

// TestLongURI: the URI of a session has at most 2,048 bytes.
func TestLongURI(t *testing.T) {
	b := newBench(t, session.Options{})
	s, _ := b.connect(1, "c1")
	const scheme = "ahp-session:/"
	name := scheme + "x" + strings.Repeat("é", (2048-len(scheme)-1)/2)
	err := b.create(s, session.CreateSessionParams{Channel: name + "x"})
	if !errors.Is(err, &ahp.Error{Code: ahp.CodeInvalidParams}) || !strings.Contains(err.Error(), "2048 bytes") {
		t.Errorf("%d bytes: %v", len(name)+1, err)
	}
	if err := b.create(s, session.CreateSessionParams{Channel: name}); err != nil {
		t.Errorf("%d bytes: %v", len(name), err)
	}
}

// TestWorkingDirectoryLimit: a working directory has at most 4,096 bytes, because every
// result of listSessions has it.
func TestWorkingDirectoryLimit(t *testing.T) {
	b := newBench(t, session.Options{})
	long := strings.Repeat("é", 2048)
	s, _ := b.connect(1, "c1")
	for _, dir := range []string{long + "x", long} {
		err := b.create(s, session.CreateSessionParams{Channel: "ahp-session:/a", WorkingDirectory: &dir})
		if refused := errors.Is(err, &ahp.Error{Code: ahp.CodeInvalidParams}); refused != (dir != long) {
			t.Errorf("a working directory of %d bytes: %v", len(dir), err)
		}
	}
}
