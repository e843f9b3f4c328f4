package proc

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Pin pins a side to one of the processors that this process may use, counted
// from 0 and modulo their number, or removes the pinning (AnyCore). Two pinned
// sides wake each other the same way every time; otherwise that depends on
// where the kernel has put them.
func (p *Process) Pin(core int) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return err
	}
	if core != AnyCore {
		set = nth(set, core%set.Count())
	}
	// A thread that starts in between can inherit from a thread that is not
	// pinned yet, so one pass is not enough.
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

// nth returns the set with only the n-th processor of a set.
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
