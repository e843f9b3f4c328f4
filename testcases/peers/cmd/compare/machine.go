package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machine describes the machine and its load.
func machine() string {
	return fmt.Sprintf("%s, %s/%s, %d cores of %s, kernel %s, %s, load before %s",
		time.Now().UTC().Format("2006-01-02 15:04 MST"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), kernel(), runtime.Version(), load())
}

func processor() string {
	for line := range strings.Lines(text("/proc/cpuinfo")) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unknown processor"
}

func kernel() string { return first(text("/proc/sys/kernel/osrelease")) }
func load() string   { return first(text("/proc/loadavg")) }

func first(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return "unknown"
}

func text(name string) string {
	b, _ := os.ReadFile(name)
	return string(b)
}
