//go:build unix

package ws

import "syscall"

// canTry: a socket can be read and written without a wait.
const canTry = true

// readOnce reads from a socket that never blocks; again says that nothing is
// there.
func readOnce(fd uintptr, b []byte) (n int, again bool, err error) {
	for {
		n, err := syscall.Read(int(fd), b)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return 0, true, nil
		default:
			return max(n, 0), false, err
		}
	}
}

// writeOnce writes to a socket that never blocks, and returns how much it took.
func writeOnce(fd uintptr, b []byte) int {
	for {
		n, err := syscall.Write(int(fd), b)
		if err == syscall.EINTR {
			continue
		}
		return max(n, 0)
	}
}
