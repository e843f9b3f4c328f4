//go:build !unix

package extension

import (
	"os"
	"os/exec"
)

func asGroup(*exec.Cmd) {}

// terminate ends the process: here it cannot be asked.
func terminate(p *os.Process) { _ = p.Kill() }

// kill ends the process; its children are not found here.
func kill(p *os.Process) { _ = p.Kill() }
