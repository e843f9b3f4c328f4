package extension

import (
	"os/exec"
	"syscall"
)

// asGroup makes the process the leader of a group of its own, which the kernel
// kills when the thread that starts it ends.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
