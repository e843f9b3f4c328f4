package programtest

import (
	"bufio"
	"io"
	"strings"
	"syscall"
	"testing"
)

// TestViewEnds checks that Ctrl-C does not report canvases as closed, because they are
// still open.
func TestViewEnds(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	cmd := m.command(t.Context(), "view", s.Link)
	errs := &lockedBuffer{}
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "board ") || !strings.Contains(line, "http://127.0.0.1:") {
		t.Errorf("%q, %v", line, err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("%v: %q", err, rest)
	}
	if want := "Each open canvas has a URL on this machine. Press Ctrl-C to stop.\n\nThe URLs no longer work. The canvases stay open at the host.\n"; errs.String() != want {
		t.Errorf("%q", errs)
	}
}

// TestViewRefused checks that a wrong link is explained, with what to do.
func TestViewRefused(t *testing.T) {
	m := newMachine(t)
	s := m.serve("--state", "memory")
	for _, tc := range []struct{ link, says string }{
		{strings.Replace(s.Link, "tkn=", "tkn=x", 1), "ahp-canvas: link_refused: " + strings.TrimSuffix(s.Page, "/") + " refuses this link's token"},
		{s.Link + "x", "has no session"},
		{"http://localhost:1/#tkn=x", "ahp-canvas: host_unreachable: http://localhost:1 cannot be reached"},
		{s.Page + "elsewhere/#tkn=x&host=laptop", "is not a canvas host: it responds with 404"},
	} {
		m.do(1, "view", tc.link)
		if !strings.Contains(m.err, tc.says) || strings.Contains(m.err, "has a URL") || strings.Contains(m.err, "tkn") {
			t.Errorf("%s: %s", tc.says, m.err)
		}
	}
	m.do(2, "view", s.Page)
	if !strings.Contains(m.err, "the link has no token") {
		t.Error(m.err)
	}
}
