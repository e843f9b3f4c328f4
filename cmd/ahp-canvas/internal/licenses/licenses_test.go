package licenses

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// TestEverythingIsNamed: licenses prints the Go modules and the packages of the page that
// renders A2UI, also those that they need.
func TestEverythingIsNamed(t *testing.T) {
	var out bytes.Buffer
	cmd := Command(&term.Env{Out: &out})
	cmd.SetArgs([]string{}) // nil means those of this program
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../../../canvas/provider/a2ui/a2uicanvas/build/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version,omitzero"`
		} `json:"packages"`
	}
	if err := ahp.Unmarshal(data, &lock); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"@a2ui/lit", "@a2ui/web_core", "lit", "lit-html", "markdown-it", "dompurify", "zod", "material-icons"} {
		version := lock.Packages["node_modules/"+name].Version
		if version == "" || !strings.Contains(out.String(), name+" "+version) {
			t.Errorf("package %s %q is not named", name, version)
		}
	}
	for _, module := range []string{"github.com/gorilla/websocket", "Go standard library"} {
		if !strings.Contains(out.String(), module) {
			t.Errorf("module %s is not named", module)
		}
	}
}

// TestUpToDate checks that third_party.licenses has the modules of today.
func TestUpToDate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "third_party.licenses")
	if out, err := exec.CommandContext(t.Context(), "go", "run", "./generate", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	now, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(now) != text {
		t.Error("third_party.licenses is stale; run go generate ./cmd/ahp-canvas/internal/licenses")
	}
}
