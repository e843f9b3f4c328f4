package proc

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// OneCore keeps a side on the first processor, or lets it go back to all of them.
// Two sides on one processor wake each other in the same way every time; on
// several it depends on where the kernel happens to have put them.
func (p *Process) OneCore(on bool) error {
	var set unix.CPUSet
	if on {
		set.Set(0)
	} else if err := unix.SchedGetaffinity(0, &set); err != nil {
		return err
	}
	// A thread that begins meanwhile inherits from one that may not be done yet.
	for range 2 {
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.cmd.Process.Pid))
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			if err := unix.SchedSetaffinity(id, &set); err != nil && err != unix.ESRCH {
				return err
			}
		}
	}
	return nil
}
