package mcpapp_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
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
	e.await("the child's end", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z")
	})
}
