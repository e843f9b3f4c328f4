package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
)

func TestState(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, sqlitestore.FileName)
	run := func(want int, word string, args ...string) string {
		t.Helper()
		status, out, errs := termtest.Run(t, Command, args...)
		if status != want || !strings.Contains(out+errs, word) {
			t.Errorf("%q: %d %q %q, want %d %q", args, status, out, errs, want, word)
		}
		return out
	}
	run(term.ExitFailed, "no host has kept anything there yet", "check", "--state", dir)
	s, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Commit(t.Context(),
		channels.Change{Key: "a", Value: []byte(`{"title": "red\u001b[31m", "n": 1.0}`)},
		channels.Change{Key: "b\x1b", Value: []byte("\x1b[2J" + strings.Repeat("x", 200))},
		channels.Change{Key: "c", Value: []byte{0xff}})
	if err != nil {
		t.Fatal(err)
	}
	run(term.ExitDone, ": verified: 3 records, ", "check", "--state", dir)
	out := run(term.ExitDone, "uses it", "check", "--state", dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "process id ") {
		t.Errorf("who has it: %q", out)
	}
	run(term.ExitDone, "no host uses it", "check", "--state", dir)
	var r sqlitestore.Report
	if err := ahp.Unmarshal([]byte(run(term.ExitDone, "", "check", "--state", dir, "--json")), &r); err != nil || r.Records != 3 || !r.Closed || r.PID != 0 {
		t.Errorf("%+v %v", r, err)
	}
	out = run(term.ExitDone, `{"title":"red\u001b[31m","n":1.0}`, "dump", "--state", dir)
	if lines := strings.Split(out, "\n"); len(lines) != 4 || strings.Contains(out, "\x1b") || !strings.HasSuffix(lines[1], "xxx…") {
		t.Errorf("dump: %q", out)
	}
	want := `{"key":"a","value":{"title":"red\u001b[31m","n":1.0}}`
	if out := run(term.ExitDone, "", "dump", "--state", dir, "--json"); !strings.HasPrefix(out, want+"\n") || !strings.HasSuffix(out, `{"key":"c","base64":"/w=="}`+"\n") {
		t.Errorf("dump --json: %q, want %q", out, want)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	run(term.ExitDone, backup+": copied: 3 records, ", "backup", backup, "--state", dir)
	run(term.ExitFailed, "already exists", "backup", backup, "--state", dir)
	run(term.ExitUsage, "backup needs FILE", "backup")
	run(term.ExitUsage, `state has no command "chek"`, "chek")
	run(term.ExitUsage, "keeps nothing", "check", "--state", "memory")
	if err := os.Truncate(file, 5000); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"check", "dump"} {
		if out := run(term.ExitFailed, "state_damaged: "+file+": the store is damaged: ", command, "--state", dir); out != "" {
			t.Errorf("%s of a damaged store: %q", command, out)
		}
	}
	run(term.ExitFailed, "the store is damaged", "backup", backup+"2", "--state", dir)
}
