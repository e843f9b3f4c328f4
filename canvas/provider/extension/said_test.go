package extension

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
)

// logOf ends the extension and returns its log.
func logOf(t *testing.T, x *Extension) string {
	t.Helper()
	dir := x.runner.opts.LogDir
	x.runner.Close()
	text, err := program.ReadLog(dir, x.ID())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSessionQuestions: an extension learns what is known of its session, and no invented number.
func TestSessionQuestions(t *testing.T) {
	b := newBench(t, func(o *Options) { o.WorkingDirectory = "/work" })
	x := b.serving("kanban", "serve board")
	b.Open("board", "one", nil)
	for _, c := range []struct{ method, session, want string }{
		{"session.metadata.snapshot", "test", `"result":{"sessionId":"test","workingDirectory":"/work","workspacePath":"` + filepath.ToSlash(x.runner.opts.WorkspaceDir)},
		{"session.usage.getMetrics", "test", `"result":{"totalPremiumRequestCost":null,"totalUserRequests":null,"totalApiDurationMs":null,"sessionStartTime":null,` +
			`"codeChanges":{"linesAdded":null,"linesRemoved":null,"filesModifiedCount":null,"filesModified":[]},"modelMetrics":{},"currentModel":null,"lastCallInputTokens":null,"lastCallOutputTokens":null}`},
		{"session.metadata.snapshot", "other", `"code":-32602`},
		{"session.usage.getMetrics", "other", `"code":-32602`},
	} {
		got, err := b.invoke("one", "ask", `{"method":"`+c.method+`","params":{"sessionId":"`+c.session+`"}}`)
		if err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%s of %s: %s, %v, want %s", c.method, c.session, got, err, c.want)
		}
	}
}

func TestAgentReceivesEvents(t *testing.T) {
	b := newBench(t, nil)
	b.serving("kanban", "serve board")
	b.Open("board", "one", nil)
	ask := func(input string) string {
		v, err := b.invoke("one", "ask", input)
		if err != nil {
			t.Fatal(err)
		}
		return string(v)
	}
	if got := ask(`{"method":"session.send","params":{"sessionId":"test","prompt":"move it"}}`); !strings.Contains(got, `"messageId":"`) {
		t.Errorf("session.send: %s", got)
	}
	if got := ask(`{"method":"session.log","params":{"sessionId":"test","message":"done","level":"warning"}}`); !strings.Contains(got, `"eventId":"`) {
		t.Errorf("session.log: %s", got)
	}
	for _, refused := range []struct{ input, code string }{
		{`{"method":"session.getMessages","params":{"sessionId":"test"}}`, `-32601`},
		{`{"method":"session.send","params":{"sessionId":"other","prompt":"x"}}`, `-32602`},
		{`{"method":"session.send","params":{"sessionId":"test"}}`, `-32602`},
		{`{"method":"session.send","params":{"sessionId":"test","prompt":"` + strings.Repeat("x", 66<<10) + `"}}`, `-32602`},
	} {
		if got := ask(refused.input); !strings.Contains(got, `"code":`+refused.code) {
			t.Errorf("%.80s: %s, want %s", refused.input, got, refused.code)
		}
	}
	page, err := b.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
	if err != nil || len(page.Events) != 2 {
		t.Fatalf("events %+v, %v", page, err)
	}
	want := []string{
		`{"type":"extension.prompt","extensionId":"kanban","prompt":"move it"}`,
		`{"type":"extension.log","extensionId":"kanban","level":"warning","message":"done"}`,
	}
	for i, e := range page.Events {
		if string(e.Event) != want[i] || e.InstanceID != "" {
			t.Errorf("event %s of %q, want %s", e.Event, e.InstanceID, want[i])
		}
	}
}

// Events from before the first open reach the agent in order.
func TestAgentReceivesEarlyEvents(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, func(o *Options) { o.LogDir = dir })
	x := b.serving("kanban", "prompt 3\nprompt 70000\nprompt 5\nserve board")
	eventually(t, "the last prompt", func() bool {
		text, _ := program.ReadLog(dir, x.ID())
		return strings.Contains(string(text), "prompt of 5 bytes")
	})
	var page canvas.EventPage
	eventually(t, "two events", func() bool {
		page, _ = b.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		return len(page.Events) == 2
	})
	for i, want := range []string{`"prompt":"xxx"`, `"prompt":"xxxxx"`} {
		if !strings.Contains(string(page.Events[i].Event), want) {
			t.Errorf("event %d: %s", i, page.Events[i].Event)
		}
	}
	if text := logOf(t, x); !strings.Contains(text, `prompt of 70000 bytes: {"code":-32602`) {
		t.Errorf("a prompt that is too large: %s", text)
	}
}

func TestFloodedLogIsLimited(t *testing.T) {
	b := newBench(t, nil)
	x := b.serving("kanban", "serve board")
	b.Open("board", "one", nil)
	begun := time.Now()
	for range 4 { // 8 MiB
		if _, err := b.invoke("one", "flood", ""); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("8 MiB of standard error in %v", time.Since(begun))
	text, err := program.ReadLog(b.runner.opts.LogDir, x.ID())
	if err != nil || len(text) == 0 || len(text) > 2*(256<<10) {
		t.Errorf("the log has %d bytes, %v", len(text), err)
	}
}

func TestLogContent(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, func(o *Options) { o.LogDir = dir })
	x := b.serving("kanban", "say hello\nserve board")
	b.Open("board", "one", nil)
	if _, err := b.invoke("one", "shout", ""); err != nil {
		t.Fatal(err)
	}
	text := logOf(t, x)
	for _, want := range []string{"ahp-canvas] process ", "hello\n", "printed, not sent\n", "the host ended it\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q: %s", want, text)
		}
	}
}
