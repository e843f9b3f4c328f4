//go:build unix

package look

import (
	"os/exec"
	"testing"
	"time"
)

// TestResidentMemory: ps finds the memory of a process group, and none of a group that has
// ended.
func TestResidentMemory(t *testing.T) {
	if _, err := exec.LookPath("ps"); err != nil {
		t.Skip("there is no ps")
	}
	cmd := exec.Command("sh", "-c", "sleep 60 & sleep 60")
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := cmd.Process.Pid
	for end := time.Now().Add(time.Minute); residentOf(group) < 64<<10; <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes of a shell and its children", residentOf(group))
		}
	}
	killGroup(cmd.Process)
	_ = cmd.Wait() // it was killed
	for end := time.Now().Add(time.Minute); residentOf(group) != 0; <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes after its end", residentOf(group))
		}
	}
}
