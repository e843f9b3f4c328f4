//go:build unix

package extension

import (
	"os"
	"syscall"
)

// terminate asks the process and its children to end.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill ends the process and its children. It is also called after the process
// has been waited for: as long as a child lives, the group's number is its own.
// (After that the number is free, and would have to be given to a new group
// within microseconds for this to hit another.)
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
