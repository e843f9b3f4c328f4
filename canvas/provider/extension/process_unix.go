//go:build unix && !linux

package extension

import (
	"os/exec"
	"syscall"
)

// asGroup makes the process the leader of a group of its own.
func asGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
