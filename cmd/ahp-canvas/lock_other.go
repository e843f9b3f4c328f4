//go:build !unix

package main

import "os"

// hasLocks says that tryLock locks.
const hasLocks = false

// tryLock locks nothing: the standard library has no lock for these systems.
func tryLock(*os.File) (held bool, err error) { return false, nil }
