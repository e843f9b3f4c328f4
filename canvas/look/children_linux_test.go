package look_test

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/look"
)

// A browser that is ended leaves no process and no profile.
func TestChildrenEnd(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := browser(t)
	b.SetLimit(4 * time.Second)
	if _, err := b.Shoot(t.Context(), serve(t, `<script>globalThis.ahpLook = async () => ({ phase: "live" })</script>`)); err != nil {
		t.Fatal(err)
	}
	group := b.Process()
	if err := syscall.Kill(-group, 0); err != nil {
		t.Fatalf("the browser has no process group %d: %v", group, err)
	}
	if _, err := b.Shoot(t.Context(), serve(t, `<script>globalThis.ahpLook = async () => { for (;;); }</script>`)); !errors.Is(err, look.ErrTime) {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	deadline, again := time.After(time.Minute), time.NewTicker(10*time.Millisecond)
	defer again.Stop()
	for syscall.Kill(-group, 0) == nil { // killed children are reaped by init
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("processes of the group %d are left", group)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) != 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
}
