//go:build unix

package ws

import "syscall"

// canTry reports whether sockets can be read and written without waiting.
const canTry = true

// readOnce reads from a non-blocking socket. again reports that nothing has arrived.
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

// writeOnce writes to a non-blocking socket, and returns how many bytes it took.
func writeOnce(fd uintptr, b []byte) int {
	for {
		n, err := syscall.Write(int(fd), b)
		if err == syscall.EINTR {
			continue
		}
		return max(n, 0)
	}
}
