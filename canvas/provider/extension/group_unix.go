//go:build unix

package extension

import (
	"os/exec"
	"syscall"
)

// group is a process and its children: a process group. The zero value has none.
type group struct{ leader int }

// start starts the leader.
func (g *group) start(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	asGroup(cmd)
	if err := start(cmd); err != nil {
		return err
	}
	g.leader = cmd.Process.Pid
	return nil
}

// terminate asks the process and its children to end.
func (g *group) terminate() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }

// kill ends the process and its children. It is also called after the process
// has been waited for: as long as a child lives, the group's number is its own.
// (After that the number is free, and would have to be given to a new group
// within microseconds for this to hit another.)
func (g *group) kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }
