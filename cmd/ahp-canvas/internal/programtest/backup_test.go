package programtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// TestBackupWithKeys moves a host to another machine: the link through its relay, with the
// host's key, the tokens that were made for others, and the ticket of a canvas in a chat
// are good there. Without --keys the other machine keeps its own.
func TestBackupWithKeys(t *testing.T) {
	t.Parallel()
	one, other := newMachine(t), newMachine(t)
	_, relay := relayOf(t, one)
	serve := func(m *machine) *server {
		return m.serve(append([]string{"--browser", "none", "--open", "board"}, relay...)...)
	}
	s := serve(one)
	minted := strings.TrimSpace(one.do(0, "token", "create", "--role", "client", "--name", "Editor"))
	ticket := ticketOf(t, s)
	copied := filepath.Join(t.TempDir(), "backup.db")
	one.do(0, "state", "backup", "--keys", copied)
	one.do(0, "state", "backup", copied+"2")
	link := s.Link
	if status := s.stop(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d", status)
	}
	files, err := os.ReadDir(copied + ".keys")
	if err != nil || len(files) != 3 {
		t.Errorf("%d keys, %v", len(files), err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}

	other.do(0, "state", "restore", copied+"2")
	s = serve(other)
	if s.Link == link || shows(t, s, ticket) {
		t.Error("a backup without --keys has keys")
	}
	s.stop(syscall.SIGTERM)
	other.do(1, "state", "restore", "--keys", copied+"2")
	if !strings.Contains(other.err, `only "ahp-canvas state backup --keys" writes it`) {
		t.Error(other.err)
	}
	other.do(0, "state", "restore", "--keys", copied)
	s = serve(other)
	if s.Link != link {
		t.Error("the link has changed")
	}
	if !shows(t, s, ticket) {
		t.Error("the ticket is not good any more")
	}
	c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: minted})
	if err != nil {
		t.Fatalf("the token of an editor: %v", err)
	}
	c.Close()
}

// ticketOf opens the board as a chat does, and returns what its page needs to show it.
func ticketOf(t *testing.T, s *server) (view string) {
	t.Helper()
	var answer struct {
		Result struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
	}
	text := callTool(t, s, "open_canvas", `{"canvasId":"board","instanceId":"board"}`, nil)
	var at struct{ Channel, Ticket string }
	if err := json.NewDecoder(strings.NewReader(string(text))).Decode(&answer); err != nil || json.Unmarshal(answer.Result.Meta["ahp-canvas/view"], &at) != nil || at.Ticket == "" {
		t.Fatalf("%v: no ticket in %s", err, text)
	}
	return `{"view":"00000000000000000000000000000001","channel":"` + at.Channel + `","ticket":"` + at.Ticket + `"}`
}

// shows reports whether the page of a chat can show a canvas.
func shows(t *testing.T, s *server, view string) bool {
	t.Helper()
	text := string(callTool(t, s, "canvas_view_read", view, nil))
	return !strings.Contains(text, `"isError":true`)
}
