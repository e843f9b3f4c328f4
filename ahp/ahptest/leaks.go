package ahptest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines may take to end after whoever owns them said
// that they did: the last instructions of one run after its last signal.
const patience = 3 * time.Second

// Leaks fails the test if goroutines that it started are alive when it ends, or
// descriptors that it opened are open. It is called first, before other
// cleanups are registered, and not in a parallel test or a synctest bubble
// (which has a gate of its own).
func Leaks(t testing.TB) {
	t.Helper()
	before := goroutines()
	files := Descriptors()
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		var left string
		if !eventually(func() bool { left = newSince(before); return left == "" }) {
			t.Errorf("goroutines that are still alive:\n\n%s", left)
		}
		var now int
		if !eventually(func() bool { now = Descriptors(); return now <= files }) {
			t.Errorf("%d descriptors are open, %d were before the test", now, files)
		}
	})
}

// VerifyNoLeaks runs a package's tests and then looks for goroutines that are
// left. It is the body of TestMain and does not return.
func VerifyNoLeaks(m *testing.M) {
	before := goroutines()
	code := m.Run()
	var left string
	if code == 0 && !eventually(func() bool { left = newSince(before); return left == "" }) {
		fmt.Fprintf(os.Stderr, "goroutines that are still alive after the tests:\n\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// Descriptors returns how many file descriptors the process has open, or -1
// where the system does not say.
func Descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

// eventually asks until the answer is yes, or patience is over.
func eventually(ok func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// goroutines returns the stacks of all goroutines by their header's number.
func goroutines() map[string]string {
	buf := make([]byte, 1<<16)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	stacks := map[string]string{}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		id, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		stacks[id] = strings.TrimSpace(stack)
	}
	return stacks
}

// ours are frames of goroutines that the runtime and the test runner keep.
var ours = []string{
	"testing.(*T).Run(", "testing.(*F).Fuzz", "testing.RunTests", "testing.runFuzz", "testing.tRunner.func", "testing.(*B).",
	"os/signal.", "runtime.ensureSigM", "runtime/trace.", "internal/fuzz.", "ahptest.goroutines(",
}

func newSince(before map[string]string) string {
	var left []string
next:
	for id, stack := range goroutines() {
		if _, old := before[id]; old {
			continue
		}
		for _, frame := range ours {
			if strings.Contains(stack, frame) {
				continue next
			}
		}
		left = append(left, stack)
	}
	return strings.Join(left, "\n\n")
}
