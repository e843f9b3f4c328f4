package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// target is the host under attack.
type target struct {
	url, token string
	pid        int
	budget     int64 // bytes
	dir        string
	process    *exec.Cmd // nil if the host was not started here

	relay, relayToken string // of an attack on a relay
	app               *http.Server
	appEnded          chan struct{}
	others            []*exec.Cmd

	mu             sync.Mutex
	who            string // whose attempts are counted
	asked, entered int
	refused        error // why the last one did not get in
}

// reach returns the host at the given address, or starts one, perhaps with a relay.
func reach(ctx context.Context, o options, a attack) (*target, error) {
	t := &target{url: o.url, token: o.token, pid: o.pid, budget: o.memory << 20}
	if o.url != "" {
		return t, nil
	}
	dir, err := os.MkdirTemp("", "abuse-")
	if err != nil {
		return nil, err
	}
	t.dir = dir
	folder, err := largeFiles(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	args := []string{"serve", "--json", "--state", "memory", "--canvas", folder}
	if !o.noFlag {
		args = append(args, "--memory", fmt.Sprintf("%dMiB", o.memory))
	}
	more, err := t.startOthers(ctx, o, a)
	if err != nil {
		t.stop()
		return nil, err
	}
	t.process = exec.CommandContext(ctx, o.binary, append(args, more...)...)
	if a.app {
		t.process = limited(ctx, appFiles, o.binary, append(args, more...))
	}
	t.process.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir, "HOME="+dir)
	t.process.Stderr = os.Stderr
	if err := t.start(); err != nil {
		t.stop()
		return nil, err
	}
	if a.relay {
		t.pid = t.others[0].Process.Pid
	}
	return t, nil
}

// startOthers starts what an attack needs beside a host, and returns the host's flags.
func (t *target) startOthers(ctx context.Context, o options, a attack) ([]string, error) {
	switch {
	case a.relay:
		return t.startRelay(ctx, o.binary)
	case a.app:
		return t.startApp()
	}
	return nil, nil
}

// limited is a program that may open few files.
func limited(ctx context.Context, files int, program string, args []string) *exec.Cmd {
	script := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, files)
	return exec.CommandContext(ctx, "sh", append([]string{"-c", script, program}, args...)...)
}

// start starts the host and reads where it is.
func (t *target) start() error {
	out, err := t.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := t.process.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the host did not start: %w", err)
	}
	var at struct{ AHP, AgentToken string }
	if err := json.Unmarshal(line, &at); err != nil {
		return err
	}
	t.url, t.token, t.pid = at.AHP, at.AgentToken, t.process.Process.Pid
	return nil
}

// stop ends a host that was started here.
func (t *target) stop() {
	for _, p := range append(t.others, t.process) {
		if p != nil && p.Process != nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	}
	t.stopApp()
	if t.dir != "" {
		_ = os.RemoveAll(t.dir)
	}
}

// The files of the canvas that the attack on content reads.
const (
	largeName  = "large"
	largeCount = 8
	largeSize  = 15 << 20
)

// largeFiles makes the folder of a canvas with large files.
func largeFiles(dir string) (string, error) {
	folder := filepath.Join(dir, largeName)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "index.html"), []byte("<p>Large files.</p>"), 0o600); err != nil {
		return "", err
	}
	for n := range largeCount {
		data := bytes.Repeat([]byte{byte('a' + n), 0xff}, largeSize/2)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.bin", n)), data, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// rss returns the host's resident memory in bytes, 0 if it is not known.
func (t *target) rss() (int64, error) {
	if t.pid == 0 {
		return 0, nil
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t.pid))
	if errors.Is(err, os.ErrNotExist) {
		if _, absent := os.Stat("/proc/self"); absent != nil {
			return 0, nil // not Linux
		}
	}
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, errors.New("the host has ended")
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err
}

// processor returns the processor time that the host has used, 0 if it is not known.
func (t *target) processor() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.pid))
	if err != nil {
		return 0
	}
	// The name of the program is in parentheses; utime and stime are the twelfth and
	// thirteenth after it, in ticks of 10 ms.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// highest returns the highest memory until ctx is canceled.
func (t *target) highest(ctx context.Context) (peak int64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if now, err := t.rss(); err == nil {
			peak = max(peak, now)
		}
		select {
		case <-ctx.Done():
			return peak
		case <-tick.C:
		}
	}
}

// lowest waits until the memory is at most enough, for a limited time, and returns it.
func (t *target) lowest(ctx context.Context, within time.Duration, enough int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		now, err := t.rss()
		if err != nil || now <= enough || ctx.Err() != nil {
			return now, err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
