//go:build !arm

package aap

import (
	"os"
	"syscall"
)

// startWriting has the kernel begin to write a file's content to the disk, so that several
// files are on their way before the first is synced. It is a hint: the sync says what was
// written.
func startWriting(f *os.File) {
	const write = 2 // SYNC_FILE_RANGE_WRITE: begin, and do not wait
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _ = syscall.SyncFileRange(int(fd), 0, 0, write) })
	}
}
