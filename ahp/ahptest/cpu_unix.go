//go:build unix

package ahptest

import (
	"syscall"
	"time"
)

// CPU is what the process has used, garbage collection and kernel included; 0
// where the system has no getrusage.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
