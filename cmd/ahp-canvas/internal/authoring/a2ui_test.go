package authoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
)

const (
	a2uiSurface = `{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"}}`
	a2uiText    = `{"version":"v0.9","updateComponents":{"surfaceId":"s","components":[{"id":"root","component":"Text","text":"Hello"}]}}`
	a2uiWrong   = `{"version":"v0.9","updateComponents":{"surfaceId":"s","components":[{"id":"root","component":"Text","text":"Hello"},{"id":"x","component":"Foo"}]}}`
)

func TestA2UICheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "messages.json")
	for content, want := range map[string]struct {
		status int
		out    string // has it
		errs   string
	}{
		"[" + a2uiSurface + "," + a2uiText + "]":                         {term.ExitDone, ": 2 messages, 0 warnings\n", ""},
		a2uiSurface + "\n\n" + a2uiText + "\n":                           {term.ExitDone, ": 2 messages, 0 warnings\n", ""},
		`{"messages":[` + a2uiSurface + `]}`:                             {term.ExitDone, ": 1 message, ", ""},
		"[" + a2uiSurface + "," + a2uiWrong + "]":                        {term.ExitFailed, "1: error: /updateComponents/components/1/component: ", "1 error"},
		`[{"version":"v0.8","beginRendering":{}}]`:                       {term.ExitFailed, "(a2ui_version_unsupported)", "1 error"},
		a2uiSurface + "\n{":                                              {term.ExitFailed, "", "line 2 is not JSON"},
		`{"kind":"data","metadata":{"mimeType":"text/plain"},"data":[]}`: {term.ExitFailed, "", "application/"},
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errs := termtest.Run(t, A2UICommand, "check", file)
		if status != want.status || !strings.Contains(out, want.out) || !strings.Contains(errs, want.errs) {
			t.Errorf("%s:\n%d %q %q, want %+v", content, status, out, errs, want)
		}
	}
	if err := os.WriteFile(file, []byte("["+a2uiSurface+","+a2uiWrong+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, _ := termtest.Run(t, A2UICommand, "check", file, "--json")
	var f finding
	if err := ahp.Unmarshal([]byte(out), &f); err != nil || status != term.ExitFailed || f.Severity != "error" || f.Index != 1 || f.SurfaceID != "s" {
		t.Errorf("--json: %d %q %+v %v", status, out, f, err)
	}
	if status, _, _ := termtest.Run(t, A2UICommand, "check"); status != term.ExitUsage {
		t.Errorf("without a file: %d", status)
	}
}

// TestA2UILicenses: the text of each license of the renderer is printed.
func TestA2UILicenses(t *testing.T) {
	for _, name := range []string{"licences", "licenses"} {
		status, out, errs := termtest.Run(t, A2UICommand, name)
		if status != term.ExitDone || errs != "" {
			t.Fatalf("%s: %d %q", name, status, errs)
		}
		for _, part := range []string{"@a2ui/lit 0.11.0 (Apache-2.0)", "material-icons 1.13.14 (Apache-2.0)", "dompurify ", "lit 3.", "zod ", "markdown-it ", "entities ", "zod-to-json-schema ", "date-fns ", "Apache License", "Permission is hereby granted"} {
			if !strings.Contains(out, part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
	}
}
