package authoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
)

func TestNewAndLint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My notes")
	status, out, errs := termtest.Run(t, NewCommand, dir)
	if status != term.ExitDone || errs != "" || !strings.Contains(out, "Created canvas My-notes in") || !strings.Contains(out, "--canvas '"+dir+"' --open My-notes") {
		t.Errorf("new: %d %q %q", status, out, errs)
	}
	if status, out, errs = termtest.Run(t, NewCommand, dir); status != term.ExitFailed || out != "" || !strings.Contains(errs, `"canvas.json" exists`) {
		t.Errorf("new again: %d %q %q", status, out, errs)
	}
	if status, out, errs = termtest.Run(t, LintCommand, dir); status != term.ExitDone || errs != "" || !strings.HasSuffix(out, ": no problems\n") {
		t.Errorf("lint: %d %q %q", status, out, errs)
	}
	if err := os.Remove(filepath.Join(dir, "style.css")); err != nil {
		t.Fatal(err)
	}
	status, out, errs = termtest.Run(t, LintCommand, dir)
	if want := "index.html:7: error: style.css does not exist\n  Write the file, or correct the name.\n"; status != term.ExitFailed || out != want || !strings.Contains(errs, "1 error") {
		t.Errorf("lint: %d %q %q, want %q", status, out, errs, want)
	}
	status, out, _ = termtest.Run(t, LintCommand, dir, "--json")
	var f folder.Finding
	if err := ahp.Unmarshal([]byte(out), &f); err != nil || status != term.ExitFailed || f.File != "index.html" || f.Line != 7 || f.Severity != folder.SeverityError || f.Fix == "" {
		t.Errorf("lint --json: %d %q %+v %v", status, out, f, err)
	}
	status, out, _ = termtest.Run(t, NewCommand, filepath.Join(t.TempDir(), "x"), "--json")
	var made newLine
	if err := ahp.Unmarshal([]byte(out), &made); err != nil || status != term.ExitDone || made.ID != "x" || len(made.Files) != 5 {
		t.Errorf("new --json: %d %q %v", status, out, err)
	}
	for _, command := range []func(*term.Env) *cobra.Command{NewCommand, LintCommand} {
		if status, _, errs := termtest.Run(t, command); status != term.ExitUsage || !strings.Contains(errs, "needs DIR") {
			t.Errorf("without arguments: %d %q", status, errs)
		}
	}
	if status, _, _ := termtest.Run(t, LintCommand, dir+"/none"); status != term.ExitFailed {
		t.Errorf("no such folder: %d", status)
	}
}
