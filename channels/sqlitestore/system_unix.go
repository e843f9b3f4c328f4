//go:build unix

package sqlitestore

import (
	"errors"
	"os"
	"syscall"
)

var errQuota error = syscall.EDQUOT

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
