package licenses

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

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
