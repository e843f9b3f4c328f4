//go:build unix

package ahptest

import (
	"syscall"
	"time"
)

// CPU returns the CPU time that the process has used, including garbage collection and
// the kernel. It is 0 on systems without getrusage.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
