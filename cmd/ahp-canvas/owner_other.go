//go:build !unix

package main

import "io/fs"

// ownedByUser trusts the system's own folders for temporary files, which are
// the user's there.
func ownedByUser(fs.FileInfo) bool { return true }
