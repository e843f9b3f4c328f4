//go:build !unix

package sqlitestore

import "errors"

var errQuota = errors.New("quota exceeded")
