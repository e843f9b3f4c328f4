//go:build unix

package sqlitestore

import (
	"errors"
	"os"
	"syscall"
)

// sqliteLocks says whether SQLite's own lock keeps others away. Where the system
// has flock, the lock file does, and others can read beside a host.
const sqliteLocks = false

var errQuota error = syscall.EDQUOT

// tryLock locks a file for as long as it is open. held says that somebody else
// has it.
func tryLock(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
