//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// Group is a process and its children, as a process group. The zero value has no
// process.
type Group struct{ leader int }

// Start starts cmd as the group's leader.
func (g *Group) Start(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	asGroup(cmd)
	if err := start(cmd); err != nil {
		return err
	}
	g.leader = cmd.Process.Pid
	return nil
}

// Terminate sends SIGTERM to the process and its children.
func (g *Group) Terminate() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }

// Kill sends SIGKILL to the process and its children. It is also called after Wait
// has returned for the leader. While a child lives, the system does not reuse the
// group's number; after that, Kill could only hit a group that got the same number
// within microseconds.
func (g *Group) Kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

// Has reports whether a process belongs to the group.
func (g *Group) Has(pid int) bool {
	id, err := syscall.Getpgid(pid)
	return err == nil && id == g.leader
}
