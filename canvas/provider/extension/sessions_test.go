package extension

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

func (b *bench) openIn(uri, instance string) error {
	b.t.Helper()
	_, err := b.Canvases.Open(b.t.Context(), canvas.OpenArgs{Session: uri, CanvasID: "board", InstanceID: instance})
	return err
}

func (b *bench) invokeIn(uri, instance, action string) (ahp.Value, error) {
	return b.Canvases.Invoke(b.t.Context(), canvas.InvokeArgs{Session: uri, InstanceID: instance, ActionName: action})
}

// Each session has a separate process from its first open on. The end of a process
// does not affect other sessions.
func TestOneProcessASession(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Idle = 50 * time.Millisecond })
	x := b.serving("kanban", "serve board")
	const other = "ahp-session:/other"
	if err := b.Sessions.Ensure(other, "Other"); err != nil {
		t.Fatal(err)
	}
	if n := workers(b.runner); n != 1 {
		t.Errorf("%d processes before the session opens anything", n)
	}
	for _, uri := range []string{canvastest.Session, other} {
		if err := b.openIn(uri, "one"); err != nil {
			t.Fatal(err)
		}
	}
	first, second := b.number(b.invokeIn(canvastest.Session, "one", "pid")), b.number(b.invokeIn(other, "one", "pid"))
	if first == second {
		t.Error("two sessions share a process")
	}
	env, err := b.invokeIn(other, "one", "env")
	if err != nil || string(env) != `{"session":"other","token":""}` {
		t.Errorf("its environment: %s, %v", env, err)
	}
	_, _ = b.invokeIn(other, "one", "crash")
	if again := b.number(b.invokeIn(canvastest.Session, "one", "pid")); again != first {
		t.Error("the crash also ended the other session's process")
	}
	eventually(t, "the restart of the crashed process", func() bool { _, err := b.invokeIn(other, "one", "pid"); return err == nil })
	if got := strings.Count(requestsOf(x), "canvas.open one\n"); got != 3 {
		t.Errorf("opened %d times", got)
	}
	if err := b.Canvases.Close(t.Context(), other, "one"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the idle process", func() bool { return workers(b.runner) == 1 })
	if err := b.openIn(other, "two"); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// A session's next process starts only after the previous one, which was idle, has
// ended.
func TestNeverTwoProcessesASession(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Idle = 10 * time.Millisecond })
	x := b.serving("kanban", "stay\nserve board")
	const other = "ahp-session:/other"
	if err := errors.Join(b.Sessions.Ensure(other, "Other"), b.openIn(other, "one")); err != nil {
		t.Fatal(err)
	}
	first := b.number(b.invokeIn(other, "one", "pid"))
	if err := b.Canvases.Close(t.Context(), other, "one"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the idle time", func() bool {
		b.runner.mu.Lock()
		defer b.runner.mu.Unlock()
		w := x.workers[other]
		return w == nil || w.leaving
	})
	if err := b.openIn(other, "two"); err != nil {
		t.Fatal(err)
	}
	if alive(first) {
		t.Error("the session has two processes")
	}
}

// The idle time begins when the last canvas is closed, after every use.
func TestIdleFromTheLastClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Runner{opts: Options{Session: "ahp-session:/default", Idle: time.Minute}}
		stopped := false
		w := &worker{stop: func() { stopped = true }, opening: map[string]int{}}
		w.ext = &Extension{runner: r, workers: map[string]*worker{"s": w}}
		ended := func() bool {
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			return stopped
		}
		use := func(wait time.Duration) {
			if _, err := w.ext.beginOpen(canvas.OpenRequest{Session: "s", InstanceID: "one"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait) // fake time of the synctest bubble
			w.endOpen("one")
		}
		use(0)
		time.Sleep(50 * time.Second)
		use(time.Minute)
		time.Sleep(59 * time.Second)
		if ended() {
			t.Error("it ended before the minute was over")
		}
		time.Sleep(2 * time.Second)
		if !ended() {
			t.Error("it did not end after the minute")
		}
	})
}

func workers(r *Runner) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.workers
}

// The default limit is 64. This test sets it to three, because starting 64 processes
// is slow.
func TestLimitOfProcesses(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Processes = 3; o.Idle = 10 * time.Millisecond })
	if def, err := New(Options{}); err != nil || def.opts.Processes != 64 {
		t.Errorf("the default is not 64, %v", err)
	} else {
		def.Close()
	}
	b.serving("kanban", "serve board")
	for n := range 3 {
		uri := fmt.Sprintf("ahp-session:/%d", n)
		if err := b.Sessions.Ensure(uri, "One more"); err != nil {
			t.Fatal(err)
		}
		err := b.openIn(uri, "one")
		if n < 2 && err != nil || n == 2 && code(err) != canvas.CodeLimitExceeded {
			t.Errorf("session %d: %v", n, err)
		}
	}
	if err := b.Canvases.Close(t.Context(), "ahp-session:/0", "one"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a free process", func() bool { return b.openIn("ahp-session:/2", "one") == nil })
}

// With AHP_LONG=1, the test starts 64 processes, and checks that another one fails.
func TestSixtyFourProcesses(t *testing.T) {
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("AHP_LONG=1 starts 64 processes")
	}
	b := newBench(t, nil)
	b.serving("kanban", "serve board")
	begun := time.Now()
	for n := range 64 {
		uri := fmt.Sprintf("ahp-session:/%d", n)
		if err := b.Sessions.Ensure(uri, "One more"); err != nil {
			t.Fatal(err)
		}
		if err := b.openIn(uri, "one"); (err != nil) != (n == 63) || n == 63 && code(err) != canvas.CodeLimitExceeded {
			t.Fatalf("session %d: %v", n, err)
		}
	}
	started := time.Now()
	b.runner.Close()
	t.Logf("64 processes in %v, ended in %v", started.Sub(begun), time.Since(started))
}
