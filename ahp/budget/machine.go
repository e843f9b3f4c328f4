package budget

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
)

// Most is the largest default: a host of usual size needs less.
const Most = 2 << 30

// OfMachine returns the default budget: a quarter of the memory of the machine or, if that
// is less, of the process's control group; at most Most, at least Least, and Default if
// the memory is not known.
func OfMachine() int64 { return quarter(machineMemory(os.ReadFile)) }

func quarter(memory int64) int64 {
	if memory <= 0 {
		return Default
	}
	return min(max(memory/4, Least), Most)
}

// readFile is os.ReadFile.
type readFile func(name string) ([]byte, error)

// machineMemory returns the bytes that the process may have on Linux, or 0.
func machineMemory(read readFile) int64 {
	memory := totalMemory(read)
	for _, limit := range groupLimits(read) {
		if limit > 0 && (memory == 0 || limit < memory) {
			memory = limit
		}
	}
	return memory
}

// totalMemory reads MemTotal of proc_meminfo(5).
func totalMemory(read readFile) int64 {
	info, err := read("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(info, []byte("MemTotal:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// groupLimits returns the limits of the process's control groups and of those above them,
// of both versions (cgroups(7)). In a container the path that the process sees might not
// exist below the mount, so the root counts too.
func groupLimits(read readFile) (limits []int64) {
	groups, err := read("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, file := "", ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			root, file = "/sys/fs/cgroup", "memory.max"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			if text, err := read(path.Join(root, at, file)); err == nil {
				// "max", and a number near the largest of version 1, are no limit.
				if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
					limits = append(limits, n)
				}
			}
			if at == "/" {
				break
			}
		}
	}
	return limits
}
