//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// hasLocks says that tryLock locks.
const hasLocks = true

// tryLock takes the lock of a file for as long as the file is open: it goes with
// the process, however that ends. held says that somebody else has it.
func tryLock(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
