package look

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

const maxMemory = MaxMemory

// memoryOf returns the memory of a process group in bytes, without files that the
// processes share.
func memoryOf(group int) (sum int64) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid pgrp …; the name can have any character
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(name), "status"))
		if err != nil {
			continue
		}
		sum += 1024 * (kib(status, "RssAnon:") + kib(status, "RssShmem:"))
	}
	return sum
}

// kib returns the value of a line of /proc/PID/status in KiB.
func kib(status []byte, name string) int64 {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[0]), 10, 64) // a number of the kernel
	return n
}
