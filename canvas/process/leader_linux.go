package process

import (
	"os/exec"
	"syscall"
)

// asGroup makes the process the leader of a new process group. The kernel kills the
// process when the thread that started it ends.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
