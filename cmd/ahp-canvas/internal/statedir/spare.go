package statedir

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// A state folder has a file that only takes space: on a full disk a host deletes it, so
// that it can start and show what it has.
const (
	spareFile = "spare"
	spareSize = 256 << 10 // what a store needs to open, several times
)

func (s *State) spare() string { return filepath.Join(filepath.Dir(s.file), spareFile) }

// KeepSpare makes the file that takes space, if the disk has space.
func (s *State) KeepSpare() {
	if s.file == "" {
		return
	}
	if info, err := os.Stat(s.spare()); err == nil && info.Size() == spareSize {
		return
	}
	data := make([]byte, spareSize)
	_, _ = rand.Read(data) // it never fails; a file system could compress zeros
	if err := os.WriteFile(s.spare(), data, 0o600); err != nil {
		_ = os.Remove(s.spare())
	}
}

// UseSpare deletes the file if err says that the disk is full. It reports whether that
// freed space, so that the caller can try again.
func (s *State) UseSpare(err error) bool {
	if s.file == "" || !errors.Is(err, channels.ErrStoreFull) || os.Remove(s.spare()) != nil {
		return false
	}
	s.spareUsed = true
	return true
}

// SpareNote says what a host that used the file cannot do; "" if it did not.
func (s *State) SpareNote() string {
	if !s.spareUsed {
		return ""
	}
	return "the disk is full. The host shows everything that it has, but it can store little more: then canvases cannot be opened, closed or changed. Free some disk space; a restart is not needed"
}
