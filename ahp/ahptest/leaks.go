package ahptest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// leakTimeout is how long goroutines have to end. A goroutine still runs for a moment
// after it has signaled its end.
const leakTimeout = 3 * time.Second

// Leaks fails the test if goroutines that it started or descriptors that it opened are
// left when it ends. It must be called before other cleanups are registered. It must not
// be called in a parallel test, or in a synctest bubble, which checks goroutines itself.
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
			t.Errorf("goroutines are still running:\n\n%s", left)
		}
		var now int
		if !eventually(func() bool { now = Descriptors(); return now <= files }) {
			t.Errorf("%d descriptors are open, and %d were open before the test", now, files)
		}
	})
}

// VerifyNoLeaks runs a package's tests and fails if they leave goroutines. It is the body
// of TestMain and does not return.
func VerifyNoLeaks(m *testing.M) {
	before := goroutines()
	code := m.Run()
	var left string
	if code == 0 && !eventually(func() bool { left = newSince(before); return left == "" }) {
		fmt.Fprintf(os.Stderr, "goroutines are still running after the tests:\n\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// Descriptors returns how many file descriptors the process has open, or -1 if the system
// does not report it.
func Descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

// eventually calls ok until it returns true or leakTimeout has passed.
func eventually(ok func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(leakTimeout); !ok(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// goroutines returns the stacks of all goroutines by their ids.
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

// runnerFrames identify goroutines of the runtime and of the test runner.
var runnerFrames = []string{
	"testing.(*T).Run(", "testing.(*F).Fuzz", "testing.RunTests", "testing.runFuzz", "testing.tRunner.func", "testing.(*B).",
	"os/signal.", "runtime.ensureSigM", "runtime/trace.", "internal/fuzz.", "ahptest.goroutines(",
}

// newSince returns the stacks of the goroutines that are not in before.
func newSince(before map[string]string) string {
	var left []string
next:
	for id, stack := range goroutines() {
		if _, old := before[id]; old {
			continue
		}
		for _, frame := range runnerFrames {
			if strings.Contains(stack, frame) {
				continue next
			}
		}
		left = append(left, stack)
	}
	return strings.Join(left, "\n\n")
}
