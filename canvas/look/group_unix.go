//go:build unix

package look

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the browser the leader of a process group, and lets it end with this
// process where the system can do so.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// killGroup kills a browser with its children.
func killGroup(p *os.Process) {
	if p != nil {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // fails only if it has ended
	}
}
