//go:build !unix

package sqlitestore

import "errors"

var errQuota = errors.New("no such error here")

// syncFolder has nothing to do: these systems write names through.
func syncFolder(string) error { return nil }
