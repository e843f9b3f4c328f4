package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestADamagedHostFile checks that a host does not start with tokens or a port that it never
// wrote, and that a file without a checksum is accepted.
func TestADamagedHostFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetPort(4711); err != nil {
		t.Fatal(err)
	}
	s.Release()
	written, err := os.ReadFile(File(dir))
	if err != nil {
		t.Fatal(err)
	}
	_, sum, _ := strings.Cut(string(written), `,"sum"`)
	for text, want := range map[string]error{
		string(written): nil,
		strings.Replace(string(written), "4711", "4710", 1):          errSum,
		strings.Replace(string(written), s.ViewToken[:4], "AAAA", 1): errSum,
		strings.Replace(string(written), `,"sum"`+sum, "}", 1):       nil,
	} {
		if err := os.WriteFile(File(dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
		if err == nil {
			s.Release()
		}
	}
}

// TestSealKey: the key stays the same, only the user can read it, and a damaged one is an
// error and not a new key.
func TestSealKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	first, err := s.SealKey()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.SealKey(); err != nil || again.Public() != first.Public() {
		t.Errorf("another key: %v", err)
	}
	file := filepath.Join(dir, "seal.key")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(file, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SealKey(); err == nil || !strings.Contains(err.Error(), "is damaged; remove it") || strings.Contains(err.Error(), "not a key") {
		t.Errorf("a damaged key: %v", err)
	}
	memory, err := Open(Memory)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := memory.SealKey(); err != nil || key.Public() == first.Public() {
		t.Errorf("in memory: %v", err)
	}
}
