//go:build unix

package extension

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }

// zombie reports whether a process has ended but was not waited for. The init process
// waits for orphans after a moment; a container without an init never does.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}
