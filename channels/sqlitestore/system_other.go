//go:build !unix

package sqlitestore

import "errors"

var errQuota = errors.New("quota exceeded")

// syncFolder does nothing: these systems make names durable with the file.
func syncFolder(string) error { return nil }
