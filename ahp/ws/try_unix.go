//go:build unix

package ws

import "syscall"

const canTry = true

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
