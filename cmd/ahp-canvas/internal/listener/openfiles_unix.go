//go:build unix

package listener

import "syscall"

// openFiles returns how many files this process can have open, or 0 if that is unknown.
// It is the hard limit, to which Go raises the soft one at start.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // it is signed on some systems
}
