//go:build unix

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// Try locks a file exclusively until the file is closed. held reports that another
// process, or another open file of this one, holds a lock on it.
func Try(f *os.File) (held bool, err error) { return try(f, syscall.LOCK_EX) }

// TryShared is like Try, but files that are locked with TryShared do not exclude
// each other.
func TryShared(f *os.File) (held bool, err error) { return try(f, syscall.LOCK_SH) }

func try(f *os.File, how int) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// Create makes a file with a unique name in dir, with mode 0600. The file can be
// renamed and removed while it is open.
func Create(dir string) (*os.File, error) { return os.CreateTemp(dir, ".new-*") }
