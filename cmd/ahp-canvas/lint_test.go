package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
)

// alone runs one command, and returns its exit status and what it printed.
func alone(t *testing.T, command func(*app) *cobra.Command, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{out: &o, errs: &e, getenv: func(string) string { return "" }}
	cmd := command(a)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{}, args...)) // of nil it would take the test's own
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	status = a.report(cmd.ExecuteContext(t.Context()))
	return status, o.String(), e.String()
}

func TestNewAndLint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My notes")
	status, out, errs := alone(t, (*app).newCommand, dir)
	if status != exitDone || errs != "" || !strings.Contains(out, "Made canvas My-notes in") || !strings.Contains(out, "--canvas '"+dir+"' --open My-notes") {
		t.Errorf("new: %d %q %q", status, out, errs)
	}
	if status, out, errs = alone(t, (*app).newCommand, dir); status != exitFailed || out != "" || !strings.Contains(errs, "canvas.json is there already") {
		t.Errorf("new again: %d %q %q", status, out, errs)
	}
	if status, out, errs = alone(t, (*app).lintCommand, dir); status != exitDone || errs != "" || !strings.HasSuffix(out, ": nothing is wrong\n") {
		t.Errorf("lint: %d %q %q", status, out, errs)
	}
	if err := os.Remove(filepath.Join(dir, "style.css")); err != nil {
		t.Fatal(err)
	}
	status, out, errs = alone(t, (*app).lintCommand, dir)
	if want := "index.html:7: error: style.css is not there\n  Write the file, or correct the name.\n"; status != exitFailed || out != want || !strings.Contains(errs, "1 thing does not work") {
		t.Errorf("lint: %d %q %q, want %q", status, out, errs, want)
	}
	status, out, _ = alone(t, (*app).lintCommand, dir, "--json")
	var f folder.Finding
	if err := ahp.Unmarshal([]byte(out), &f); err != nil || status != exitFailed || f.File != "index.html" || f.Line != 7 || f.Severity != folder.SeverityError || f.Fix == "" {
		t.Errorf("lint --json: %d %q %+v %v", status, out, f, err)
	}
	status, out, _ = alone(t, (*app).newCommand, filepath.Join(t.TempDir(), "x"), "--json")
	var made newLine
	if err := ahp.Unmarshal([]byte(out), &made); err != nil || status != exitDone || made.ID != "x" || len(made.Files) != 5 {
		t.Errorf("new --json: %d %q %v", status, out, err)
	}
	for _, command := range []func(*app) *cobra.Command{(*app).newCommand, (*app).lintCommand} {
		if status, _, errs := alone(t, command); status != exitUsage || !strings.Contains(errs, "needs DIR") {
			t.Errorf("without arguments: %d %q", status, errs)
		}
	}
	if status, _, _ := alone(t, (*app).lintCommand, dir+"/none"); status != exitFailed {
		t.Errorf("no such folder: %d", status)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"a/b-c.d": "a/b-c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'"} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
