package extension

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestBrokenOutputEndsTheProcess(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"a giant header", `raw "Content-Length: ` + strings.Repeat("0", 8000) + `1\r\n\r\n"` + "\nhang", "a header is longer than 4096 bytes"},
		{"a giant body", `raw "Content-Length: 99999999\r\n\r\n"` + "\nhang", "99999999 bytes exceed the limit"},
		{"no length", `raw "Content-Type: x\r\n\r\n"` + "\nhang", "no Content-Length"},
		{"an end within a message", `raw "Content-Length: 100\r\n\r\n{}"` + "\nexit 0", "ended within its body"},
		{"no message at all", "hang", "did not declare its canvases in time"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, func(o *Options) {
				withoutRestart(o)
				if test.script == "hang" {
					o.Start = 200 * time.Millisecond
				}
			})
			if _, err := b.add("kanban", test.script); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// Invalid messages are answered with an error, and text between messages goes to the
// log.
func TestGarbageBetweenMessages(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, func(o *Options) { o.LogDir = dir })
	x := b.serving("kanban", strings.Join([]string{
		`raw "listening on 3000\n"`, `raw "no line end"`,
		`raw "Content-Length: 3\r\n\r\n{]}"`,
		`raw "Content-Length: 2\r\n\r\n[]"`,
		`raw "Content-Length: 38\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}} "`,
		"serve board",
	}, "\n"))
	b.Open("board", "one", nil)
	if _, err := b.invoke("one", "shout", ""); err != nil {
		t.Error(err)
	}
	text := logOf(t, x)
	if !strings.Contains(text, "listening on 3000\nno line end") {
		t.Errorf("the log lacks the printed text: %s", text)
	}
}

func TestHungProcessIsReplaced(t *testing.T) {
	h := canvastest.New(t, engine.Options{Timeouts: canvas.Timeouts{Invoke: 50 * time.Millisecond}})
	b := newBenchOn(t, h, nil)
	b.serving("kanban", "serve board")
	o := b.Open("board", "one", nil)
	v := b.Connect("view")
	v.Subscribe(o.Channel)
	for range maxTimeouts {
		if _, err := b.invoke("one", "silent", ""); code(err) != canvas.CodeTimeout {
			t.Errorf("no answer: %v", err)
		}
	}
	b.awaitAvailability(v, session.Stale)
	b.awaitAvailability(v, session.Ready)
}

func TestLateOpenIsClosed(t *testing.T) {
	h := canvastest.New(t, engine.Options{Timeouts: canvas.Timeouts{Open: 100 * time.Millisecond}})
	b := newBenchOn(t, h, nil)
	x := b.serving("kanban", "serve board")
	_, err := b.Canvases.Open(t.Context(), canvas.OpenArgs{
		Session: canvastest.Session, CanvasID: "board", InstanceID: "late", Input: ahp.Value(`{"late":true}`),
	})
	if code(err) != canvas.CodeTimeout {
		t.Fatalf("a late open: %v", err)
	}
	b.Open("board", "next", nil) // the extension answers the late open after this request
	eventually(t, "canvas.close", func() bool { return strings.Contains(requestsOf(x), "canvas.close late\n") })
}

// TestSlowProcessStays: late answers are dropped, and show that the process is alive.
func TestSlowProcessStays(t *testing.T) {
	h := canvastest.New(t, engine.Options{Timeouts: canvas.Timeouts{Invoke: 300 * time.Millisecond}})
	b := newBenchOn(t, h, nil)
	b.serving("kanban", "serve board")
	b.Open("board", "one", nil)
	pid := b.number(b.invoke("one", "pid", ""))
	for range maxTimeouts + 1 {
		if _, err := b.invoke("one", "slow", ""); code(err) != canvas.CodeTimeout {
			t.Fatalf("a late answer: %v", err)
		}
	}
	if now := b.number(b.invoke("one", "pid", "")); now != pid {
		t.Errorf("process %d was replaced by %d", pid, now)
	}
}

func TestChildrenEndWithTheProcess(t *testing.T) {
	b := newBench(t, nil)
	x := b.serving("kanban", "deaf\nchild\nserve board")
	b.Open("board", "one", nil)
	leader := b.number(b.invoke("one", "pid", ""))
	child := childOf(t, x)
	begun := time.Now()
	b.runner.Close()
	if alive(leader) {
		t.Error("the process lives")
	}
	eventually(t, "the child's end", func() bool { return !alive(child) })
	if took := time.Since(begun); runtime.GOOS != "windows" && took < program.TermGrace || took > program.TermGrace+5*time.Second {
		t.Errorf("a process that ignores SIGTERM took %v to end", took)
	}
}

func TestSIGTERMIsEnough(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	b := newBench(t, nil)
	b.serving("kanban", "stay\nserve board")
	begun := time.Now()
	b.runner.Close()
	if took := time.Since(begun); took < program.CloseGrace || took >= program.CloseGrace+program.TermGrace { // SIGKILL comes then
		t.Errorf("a process that obeys SIGTERM took %v to end", took)
	}
}

func TestChildrenEndWithACrash(t *testing.T) {
	b := newBench(t, withoutRestart)
	x := b.serving("kanban", "child\nserve board")
	o := b.Open("board", "one", nil)
	child := childOf(t, x)
	if !alive(child) {
		t.Fatal("the child does not run")
	}
	v := b.Connect("view")
	v.Subscribe(o.Channel)
	_, _ = b.invoke("one", "crash", "")
	b.awaitAvailability(v, session.Stale)
	eventually(t, "the child's end", func() bool { return !alive(child) })
	eventually(t, "the reason", func() bool { return x.Err() != nil })
	if err := x.Err().Error(); !strings.Contains(err, "exit status 7") || !strings.HasSuffix(err, "\nThe crash was requested. ("+canvas.CodeProviderUnavailable+")") {
		t.Errorf("%q", err)
	}
}

func childOf(t *testing.T, x *Extension) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(x.folder.Dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(data))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestRejectedDeclarations(t *testing.T) {
	b := newBench(t, withoutRestart)
	if _, err := b.add("kanban", "serve board board"); err == nil || !strings.Contains(err.Error(), "session.resume failed: ") || !strings.Contains(err.Error(), "each id once") {
		t.Error(err)
	}
}

func TestOneIDOnce(t *testing.T) {
	b := newBench(t, nil)
	b.serving("kanban", "serve board")
	if _, err := b.runner.Add(folderOf(t, "kanban", "serve board")); err == nil || !strings.Contains(err.Error(), "another name in its package.json") {
		t.Error(err)
	}
}
