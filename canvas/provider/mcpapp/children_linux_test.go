package mcpapp_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestChildren: no child of a server outlives the runner.
func TestChildren(t *testing.T) {
	e := start(t)
	e.add(e.fake("child"))
	pid, err := strconv.Atoi(e.called())
	if err != nil {
		t.Fatal(err)
	}
	e.runner.Close()
	e.awaitEnd(pid)
}

// TestStubborn: a server that ignores the end of its input and SIGTERM is killed, with its
// children.
func TestStubborn(t *testing.T) {
	e := start(t)
	e.add(e.fake("stubborn"))
	pids := strings.Fields(e.called())
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil || syscall.Kill(pid, 0) != nil {
			t.Fatalf("no process %q: %v", text, err)
		}
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
	closed := make(chan struct{})
	go func() { e.runner.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(webtest.Timeout):
		t.Fatal("the runner waits for a program that does not end")
	}
	for _, text := range pids {
		pid, _ := strconv.Atoi(text)
		e.awaitEnd(pid)
	}
}

// awaitEnd waits until a process has ended.
func (e *env) awaitEnd(pid int) {
	e.t.Helper()
	e.await("the end of process "+strconv.Itoa(pid), func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z")
	})
}
