//go:build unix

package extension

import (
	"os/exec"
	"syscall"
)

// group is a process and its children, as a process group. The zero value has no
// process.
type group struct{ leader int }

// start starts cmd as the group's leader.
func (g *group) start(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	asGroup(cmd)
	if err := start(cmd); err != nil {
		return err
	}
	g.leader = cmd.Process.Pid
	return nil
}

// terminate sends SIGTERM to the process and its children.
func (g *group) terminate() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }

// kill sends SIGKILL to the process and its children. It is also called after Wait
// has returned for the leader. While a child lives, the system does not reuse the
// group's number; after that, kill could only hit a group that got the same number
// within microseconds.
func (g *group) kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

// has reports whether a process belongs to the group.
func (g *group) has(pid int) bool {
	id, err := syscall.Getpgid(pid)
	return err == nil && id == g.leader
}
