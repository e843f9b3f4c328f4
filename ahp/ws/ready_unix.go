//go:build unix

package ws

import "syscall"

const canReadOnce = true

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
