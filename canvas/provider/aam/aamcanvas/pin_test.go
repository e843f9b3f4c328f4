package aamcanvas

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// openTestPIN is OpenPIN with few rounds and a clock.
func openTestPIN(path string, now *time.Time) *PIN {
	p := OpenPIN(path)
	p.rounds = 10
	if now != nil {
		p.now = func() time.Time { return *now }
	}
	return p
}

func codeOf(err error) string {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestPIN: it is long enough, kept as a hash that only its user reads, and locked after
// five wrong tries, also after a restart.
func TestPIN(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "aam", "pin")
	p := openTestPIN(path, &now)
	if got := codeOf(p.Check("123456")); got != CodePINUnset || p.IsSet() {
		t.Fatalf("without a PIN: %s", got)
	}
	if err := p.Set("12345"); err == nil {
		t.Error("a PIN of 5 characters was taken")
	}
	if err := p.Set("geheim"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if info, _ := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(b), "geheim") {
		t.Errorf("the file: %v %v", info.Mode(), err)
	}
	for range 4 {
		if got := codeOf(p.Check("wrong!")); got != CodePINWrong {
			t.Fatal(got)
		}
	}
	if err := p.Check("geheim"); err != nil { // it forgets the wrong ones
		t.Fatal(err)
	}
	for range pinTries {
		if got := codeOf(p.Check("wrong!")); got != CodePINWrong {
			t.Fatal(got)
		}
	}
	p = openTestPIN(path, &now) // a restart
	if got := codeOf(p.Check("geheim")); got != CodePINLocked {
		t.Errorf("after five wrong ones: %q", got)
	}
	now = now.Add(pinLock)
	if err := p.Check("geheim"); err != nil {
		t.Errorf("after the lock: %v", err)
	}
	var own PIN
	own.now, own.rounds = time.Now, 10
	if err := own.Set("in memory"); err != nil || own.Check("in memory") != nil || codeOf(own.Check("other")) != CodePINWrong {
		t.Error("a PIN in memory does not work")
	}
}
