//go:build unix

package notify_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap/notify"
)

var someone = aap.Agent{ID: "id-1", Name: "Some One"}

// until waits for a condition that another process fulfills.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// script writes a program.
func script(t *testing.T, body string) (path, dir string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ncd "+dir+"\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, dir
}

// hostile are elements that a shell would run.
var hostile = []string{`'; touch X #`, `$(touch X)`, "`touch X`", `x' > X '`, `& touch X`, "a\ntouch X"}

// TestProgram: arguments, input and environment; nothing is run, and the order is kept.
func TestProgram(t *testing.T) {
	path, dir := script(t, `{ printf '%s|' "$#" "$1" "$2" "$AAP_RECORD"; cat; } >> out`)
	n := notify.New(notify.Program(path), nil)
	var want strings.Builder
	for i, element := range hostile {
		r := aap.Record{ID: fmt.Sprint(i), Timestamp: "2026-05-18T15:30:00.000Z", CanvasFile: "p.html", Action: "click", Element: element}
		r.Summary = aap.Summary(aap.Interaction{Action: "click", Element: element, CanvasFile: "p.html"})
		n.Notify(someone, r, aap.Line(r))
		fmt.Fprintf(&want, "2|id-1|Some One|%s|%s\n", someone.RecordPath(r), aap.Line(r))
	}
	until(t, "output", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "out"))
		return strings.Count(string(b), "\n") == len(hostile)
	})
	if got, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(got) != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got, want.String())
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "X")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a shell ran an element: %v", err)
	}
}

// TestHangs: a program that hangs is killed with its children when the notifier closes,
// and Notify never waits for it.
func TestHangs(t *testing.T) {
	path, dir := script(t, "sleep 1000 & echo $! > pid\nwait")
	n := notify.New(notify.Program(path), nil)
	for range 1000 {
		n.Notify(someone, aap.Record{}, "line")
	}
	var pid int
	until(t, "child", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "pid"))
		_, err := fmt.Sscan(string(b), &pid)
		return err == nil
	})
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	until(t, "end of the child", func() bool {
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return syscall.Kill(pid, 0) != nil || bytes.Contains(state, []byte(") Z "))
	})
}

// TestQueue: 256 wait for an agent and the oldest is dropped, each takes 10 s at most,
// another agent does not wait, and a failure is logged once without the line.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var got []string
		var others atomic.Int32
		n := notify.New(func(ctx context.Context, x notify.Notification) error {
			if x.Agent.ID == "other" {
				others.Add(1)
				return nil
			}
			got = append(got, x.Line)
			<-ctx.Done()
			return ctx.Err()
		}, slog.New(slog.NewTextHandler(&log, nil)))
		n.Notify(someone, aap.Record{}, "first")
		synctest.Wait()
		for i := range 300 {
			n.Notify(someone, aap.Record{}, fmt.Sprint("word-", i))
		}
		n.Notify(aap.Agent{ID: "other"}, aap.Record{}, "x")
		synctest.Wait()
		if others.Load() != 1 {
			t.Error("another agent waits")
		}
		time.Sleep(258 * 10 * time.Second)
		synctest.Wait()
		if len(got) != 257 || got[1] != "word-44" || got[256] != "word-299" {
			t.Errorf("%d notifications, %q first", len(got), got[:2])
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if s := log.String(); strings.Count(s, "could not be notified") != 1 || strings.Contains(s, "word-") {
			t.Errorf("log %s", s)
		}
	})
}

// TestTmux: a real tmux: a line that a program reads, and a shell that must not run it.
func TestTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	dir := t.TempDir()
	wrapper, _ := script(t, "exec "+tmux+" -S "+dir+"/socket -f /dev/null \"$@\"\n")
	for name, command := range map[string]string{"reads.it": "exec cat > " + dir + "/cat.out", "shell": "cd " + dir + " && PS1='$ ' exec sh -i"} {
		out, err := exec.Command(wrapper, "new-session", "-d", "-s", name, "-x", "300", "-y", "50", "sh", "-c", command).CombinedOutput()
		if err != nil {
			t.Skipf("tmux does not start here: %v: %s", err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command(wrapper, "kill-server").Run() })
	n := notify.New(notify.Tmux(wrapper), nil)
	t.Cleanup(func() { _ = n.Close() })
	foreground := func(name string) string {
		out, _ := exec.Command(wrapper, "display-message", "-p", "-t", "="+name+":", "#{pane_current_command}").Output()
		return strings.TrimSpace(string(out))
	}
	until(t, "cat", func() bool { return foreground("reads_it") == "cat" })
	screen := func() string {
		out, _ := exec.Command(wrapper, "capture-pane", "-p", "-S", "-100", "-t", "=shell:").Output()
		return string(out)
	}
	until(t, "prompt", func() bool { return foreground("shell") == "sh" && strings.Contains(screen(), "$") })
	var want strings.Builder
	for _, element := range hostile {
		line := aap.Line(aap.Record{CanvasFile: "p.html", Summary: aap.Summary(aap.Interaction{Action: "click", Element: element, CanvasFile: "p.html"})})
		n.Notify(aap.Agent{ID: "1", Name: "reads.it"}, aap.Record{}, line)
		n.Notify(aap.Agent{ID: "2", Name: "shell"}, aap.Record{}, line)
		want.WriteString(line + "\n")
	}
	until(t, "typed lines", func() bool { b, _ := os.ReadFile(dir + "/cat.out"); return string(b) == want.String() })
	until(t, "echoes", func() bool { // a line can be typed while the shell still prints the one before
		now := screen()
		return strings.Count(now, "[CANVAS] ")-strings.Count(now, "echo '[CANVAS] ") == len(hostile)
	})
	if _, err := os.Stat(dir + "/X"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the shell ran an element: %v", err)
	}
}
