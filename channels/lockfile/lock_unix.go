//go:build unix

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock of a file for as long as the file is open. held says that
// somebody else has it.
func Try(f *os.File) (held bool, err error) { return try(f, syscall.LOCK_EX) }

// TryShared is Try for who shares the lock with others that do the same.
func TryShared(f *os.File) (held bool, err error) { return try(f, syscall.LOCK_SH) }

func try(f *os.File, how int) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// Create makes a file with a new name, mode 0600, in a folder. It can be renamed
// and removed while it is open.
func Create(dir string) (*os.File, error) { return os.CreateTemp(dir, ".new-*") }
