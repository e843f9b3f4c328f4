package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// memoryParts are the names of what memory returns. They say where the memory of a host is: if
// its resident memory grows and its heap does not, it might have read more of the program
// from the disk, or SQLite might hold more.
var memoryParts = []string{"host heap unused", "host Go besides", "host outside Go", "host mapped files"}

// memory divides the resident memory of a process, in bytes: heap that Go keeps for later,
// what Go needs besides the heap, anonymous memory that Go does not know of, and mapped
// files, which are the program itself and the index of SQLite's log. go_memstats counts
// memory that was reserved and never touched, so that the third can be negative. Only Linux
// shows the last two.
func memory(h map[string]float64, pid int) []float64 {
	m := func(name string) float64 { return h["go_memstats_"+name+"_bytes"] }
	anonymous, files := resident(pid)
	unused := m("heap_idle") - m("heap_released")
	besides := m("sys") - m("heap_sys")
	return []float64{unused, besides, anonymous - unused - besides - m("heap_inuse"), files}
}

// resident returns the anonymous memory of a process and that of mapped files, in bytes.
func resident(pid int) (anonymous, files float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		switch name {
		case "RssAnon":
			anonymous = kib * 1024
		case "RssFile", "RssShmem":
			files += kib * 1024
		}
	}
	return anonymous, files
}

// table writes all measurements into a file: a line for each time, in seconds.
func table(path string, all []*measured) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := csv.NewWriter(f)
	head := []string{"seconds"}
	for _, m := range all {
		head = append(head, m.name)
	}
	if err := w.Write(head); err != nil {
		return err
	}
	for i, at := range all[0].at {
		row := []string{strconv.FormatFloat(at.Seconds(), 'f', 1, 64)}
		for _, m := range all {
			row = append(row, strconv.FormatFloat(m.values[i], 'f', 3, 64))
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// faster returns a plan that does everything n times as often, for as long.
func (p plan) faster(n int) plan {
	for _, d := range []*time.Duration{&p.call, &p.change, &p.stay, &p.pause, &p.crash, &p.restart} {
		*d /= time.Duration(n)
	}
	return p
}
