package proc

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Keep keeps a side on one of the processors that this process may use, counted
// from 0 (and from 0 again behind the last), or lets it go back to all of them
// (AnyCore). Two sides that are kept wake each other in the same way every time;
// otherwise it depends on where the kernel happens to have put them.
func (p *Process) Keep(core int) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return err
	}
	if core != AnyCore {
		set = nth(set, core%set.Count())
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

// nth is the set of the n-th processor of a set.
func nth(of unix.CPUSet, n int) (one unix.CPUSet) {
	for cpu := 0; ; cpu++ {
		if !of.IsSet(cpu) {
			continue
		}
		if n == 0 {
			one.Set(cpu)
			return one
		}
		n--
	}
}
