package statedir

import (
	"errors"
	"os"
	"path/filepath"
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
