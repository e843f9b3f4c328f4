package programtest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// pageLedger is what a host has confirmed of one page, over all its runs.
type pageLedger struct {
	revision int64             // the newest confirmed one
	files    map[string]string // the confirmed contents
	unsure   map[string]string // a content whose write was not answered
	answered int
}

// write writes files until the host is gone.
func (l *pageLedger) write(t *testing.T, s *server) {
	door, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: s.MCP, Token: s.AgentToken})
	if err != nil {
		return // it was killed before
	}
	defer door.Close()
	for {
		path, text := fmt.Sprintf("f%d.txt", rand.N(20)), fmt.Sprint(rand.Int64(), strings.Repeat(".", rand.N(20_000)))
		l.unsure = map[string]string{path: text}
		value, err := door.Call(t.Context(), mcp.ToolInvoke, ahp.MustMarshal(map[string]any{
			"instanceId": "p", "actionName": "write_files", "input": map[string]any{"files": map[string]string{path: text}},
		}))
		if err != nil {
			return
		}
		var answer struct {
			Value struct {
				Revision int64 `json:"revision"`
				Files    int   `json:"files"`
				Bytes    int   `json:"bytes"`
			} `json:"value"`
		}
		if err := ahp.Unmarshal(value, &answer); err != nil {
			t.Errorf("%s: %v", value, err)
			return
		}
		l.revision, l.files[path], l.unsure = answer.Value.Revision, text, nil
		l.answered++
	}
}

// audit compares the page of a host with what was confirmed.
func (l *pageLedger) audit(t *testing.T, s *server) {
	t.Helper()
	door, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: s.MCP, Token: s.AgentToken})
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	for path, want := range l.files {
		text, revision := readPage(t, door, path)
		if other, ok := l.unsure[path]; text != want && (!ok || text != other) {
			t.Errorf("%s has %.20q (%d bytes), confirmed was %.20q (%d bytes)", path, text, len(text), want, len(want))
		}
		l.files[path] = text
		if revision < l.revision || revision > l.revision+1 {
			t.Errorf("revision %d, confirmed was %d", revision, l.revision)
		}
	}
}

func readPage(t *testing.T, door *mcp.Client, path string) (text string, revision int64) {
	t.Helper()
	var answer struct {
		Value struct {
			Text     string    `json:"text,omitzero"`
			Revision int64     `json:"revision"`
			Rest     ahp.Value `json:",embed"`
		} `json:"value"`
	}
	value, err := callUntil(t, door, map[string]any{"instanceId": "p", "actionName": "read_file", "input": map[string]any{"path": path}})
	if err == nil {
		err = ahp.Unmarshal(value, &answer)
	}
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return answer.Value.Text, answer.Value.Revision
}

// callUntil repeats a call while the canvas is not open again after a restart.
func callUntil(t *testing.T, door *mcp.Client, args any) (value ahp.Value, err error) {
	t.Helper()
	for range 400 {
		if value, err = door.Call(t.Context(), mcp.ToolInvoke, ahp.MustMarshal(args)); err == nil || !strings.Contains(err.Error(), "canvas_provider_unavailable") {
			break
		}
		after(10 * time.Millisecond)
	}
	return value, err
}

// TestKillPage kills a host while an agent writes files of a page. What was answered
// survives, and nothing else is left on the disk.
func TestKillPage(t *testing.T) {
	m, l := newMachine(t), &pageLedger{files: map[string]string{}}
	n := runs(5, 100)
	s := m.serve()
	m.do(0, "open", "page", "--instance", "p", "--input", `{"html":"<h1>Hi</h1>"}`)
	for run := range n {
		if run > 0 {
			s = m.serve()
			l.audit(t, s)
		}
		done := make(chan struct{})
		go func() { defer close(done); l.write(t, s) }()
		after(100*time.Millisecond + rand.N(300*time.Millisecond))
		_ = s.cmd.Process.Kill()
		<-s.done
		<-done
	}
	s = m.serve()
	l.audit(t, s)
	t.Logf("%d kills: %d answers", n, l.answered)
	if l.answered < n { // a busy machine writes few
		t.Errorf("%d answers are too few for a load", l.answered)
	}
	if left, _ := filepath.Glob(filepath.Join(m.state, "ahp-canvas", "pages", "*", "new-*")); len(left) > 0 {
		t.Errorf("unfinished files were left: %v", left)
	}
	if kept, _ := filepath.Glob(filepath.Join(m.state, "ahp-canvas", "pages", "*", "*")); len(kept) < len(l.files) || len(kept) > 200 {
		t.Errorf("%d files in the state folder", len(kept))
	}
	m.do(0, "close", "p")
	s.stop(syscall.SIGTERM)
	m.serve()
	if left, _ := filepath.Glob(filepath.Join(m.state, "ahp-canvas", "pages", "*")); len(left) > 0 {
		t.Errorf("files of a closed page were left: %v", left)
	}
}

// TestShow shows a folder, follows its changes, and closes the page at Ctrl-C.
func TestShow(t *testing.T) {
	m := newMachine(t)
	m.serve()
	dir := webFolder(t, "site")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".secret", "no")
	cmd := m.command(context.WithoutCancel(t.Context()), "show", dir, "--instance", "app", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := &lockedBuffer{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, `"instanceId":"app"`) || !strings.Contains(line, `"title":"Mine"`) {
		t.Fatalf("%s %v %s", line, err, errs)
	}
	lists := func(wants ...string) {
		t.Helper()
		var got string
		for range 1000 {
			got = m.do(0, "invoke", "app", "list_files", "--json")
			missing := false
			for _, want := range wants {
				missing = missing || !strings.Contains(got, want)
			}
			if !missing {
				return
			}
			after(20 * time.Millisecond)
		}
		t.Fatalf("the page has no %v: %s %s", wants, got, errs)
	}
	lists(`"revision":1`, `"files":[{"path":"index.html","size":41}]`)
	write("big.js", strings.Repeat("x", 700<<10)) // more than one call carries
	lists(`"revision":2`, `{"path":"big.js","size":716800}`)
	write("index.html", "<!doctype html><title>Other</title><p>changed")
	if err := os.Remove(filepath.Join(dir, "big.js")); err != nil {
		t.Fatal(err)
	}
	lists(`"files":[{"path":"index.html","size":45}]`)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v %s", err, errs)
	}
	if got := m.do(0, "ls"); strings.Contains(got, "app ") {
		t.Errorf("the page is still open:\n%s", got)
	}
	m.do(2, "show", t.TempDir()) // no index.html
	m.do(1, "show", filepath.Join(dir, "none.html"))
}

// TestNoPage: a host need not offer pages.
func TestNoPage(t *testing.T) {
	m := newMachine(t)
	m.serve("--no-page", "--open", "board")
	if got := m.do(0, "ls"); strings.Contains(got, "page ") {
		t.Errorf("page is offered:\n%s", got)
	}
}
