//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// asGroup makes the process the leader of a new process group.
func asGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
