//go:build !unix

package sqlitestore

import (
	"errors"
	"os"
)

const sqliteLocks = true

var errQuota = errors.New("no such error here")

func tryLock(*os.File) (held bool, err error) { return false, nil }

// syncFolder has nothing to do: these systems write names through.
func syncFolder(string) error { return nil }
