package look

import (
	"os"
	"os/exec"
	"strconv"
)

func ownGroup(*exec.Cmd) {}

// killGroup kills a browser with its children.
func killGroup(p *os.Process) {
	if p != nil {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() // fails only if it has ended
	}
}

const maxMemory = MaxMemory

// memoryOf is not known on this system: only the JavaScript heap has a limit.
func memoryOf(int) int64 { return 0 }
