//go:build unix

package extension

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }

// zombie: a child of a process that is gone is waited for by whoever adopts it,
// which takes a moment, or for ever in a container without an init.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}
