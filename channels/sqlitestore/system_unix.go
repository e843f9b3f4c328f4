//go:build unix

package sqlitestore

import "syscall"

var errQuota error = syscall.EDQUOT
