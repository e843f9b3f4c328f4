package extension

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestProvider(t *testing.T) {
	b := newBench(t, nil)
	x := b.serving("kanban", "serve board")
	canvastest.TestProvider(t, canvastest.Config{
		Provider: x, Declaration: x.Declarations()[0],
		Input: ahp.Value(`{"title":"A","url":"http://127.0.0.1:1/"}`), Other: ahp.Value(`{"title":"B"}`),
		Action: "echo", ActionInput: ahp.Value(`{"x":1}`),
	})
}

func TestOpenInvokeClose(t *testing.T) {
	b := newBench(t, nil)
	x := b.serving("kanban", "serve board list")
	list, err := b.Canvases.List(canvastest.Session)
	if err != nil || len(list) != 2 || list[0].ExtensionID != "kanban" || list[0].CanvasID != "board" || list[0].DisplayName != "Canvas board" {
		t.Fatalf("declared: %+v, %v", list, err)
	}
	o := b.Open("board", "one", ahp.Value(`{"title":"Hello","status":"fine","url":"https://example.com/x"}`))
	if o.Title != "Hello" || o.Status != "fine" || o.URL != "https://example.com/x" || o.ExtensionID != "kanban" {
		t.Errorf("opened as %+v", o)
	}
	if v, err := b.invoke("one", "echo", `{"a":[1,"<&>"]}`); err != nil || !ahp.Equal(v, ahp.Value(`{"a":[1,"<&>"]}`)) {
		t.Errorf("echo: %s, %v", v, err)
	}
	if v, err := b.invoke("one", "shout", ""); err != nil || v != nil {
		t.Errorf("no value: %s, %v", v, err)
	}
	if err := b.Canvases.Close(t.Context(), canvastest.Session, "one"); err != nil {
		t.Error(err)
	}
	want := "canvas.open one\ncanvas.action.invoke one\ncanvas.action.invoke one\ncanvas.close one\n"
	if got := requestsOf(x); got != want {
		t.Errorf("its requests were\n%swant\n%s", got, want)
	}
}

func TestCodesPassThrough(t *testing.T) {
	b := newBench(t, nil)
	b.serving("kanban", "serve board")
	b.Open("board", "one", nil)
	for _, test := range []struct{ action, code, message string }{
		{"fail", "workspace_unavailable", "no workspace"},
		{"error", canvas.CodeHandlerError, "plain"},
		{"undeclared", canvas.CodeNoHandler, ""},
	} {
		_, err := b.invoke("one", test.action, "")
		if code(err) != test.code || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: %v, want %s", test.action, err, test.code)
		}
	}
}

func TestPagesFollowTheURL(t *testing.T) {
	b := newBench(t, nil)
	b.serving("kanban", "serve board")
	open := func(url string) (canvas.OpenCanvas, error) {
		return b.Canvases.Open(t.Context(), canvas.OpenArgs{
			Session: canvastest.Session, CanvasID: "board", InstanceID: "one", Input: ahp.MustMarshal(map[string]string{"url": url, "n": fresh()}),
		})
	}
	for _, url := range []string{"http://127.0.0.1:1/?token=x", "http://127.0.0.1:1/?token=x", "http://localhost:2/", "http://127.0.0.1:9/refused"} {
		o, err := open(url)
		if strings.Contains(url, "refused") {
			if code(err) != canvas.CodeHandlerError {
				t.Errorf("a page that cannot be shown: %v", err)
			}
			continue
		}
		if err != nil || o.URL != "ahp-canvas-content:/one/" {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	if got, want := strings.Join(b.pages.brief(), ", "), "http://127.0.0.1:1/?token=x closed, http://localhost:2/"; got != want {
		t.Errorf("pages: %s, want %s", got, want)
	}
	if err := b.Canvases.Close(t.Context(), canvastest.Session, "one"); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(b.pages.brief(), ", "), "http://127.0.0.1:1/?token=x closed, http://localhost:2/ closed"; got != want {
		t.Errorf("pages after the close: %s, want %s", got, want)
	}
}

// TestReopenThatFailsClosesNothing checks that the host does not close an open canvas
// when a reopen with another input fails.
func TestReopenThatFailsClosesNothing(t *testing.T) {
	b := newBench(t, nil)
	x := b.serving("kanban", "serve board")
	b.Open("board", "one", ahp.Value(`{"url":"http://127.0.0.1:1/"}`))
	_, err := b.Canvases.Open(t.Context(), canvas.OpenArgs{
		Session: canvastest.Session, CanvasID: "board", InstanceID: "one", Input: ahp.Value(`{"url":"file:///etc/passwd"}`),
	})
	if code(err) != canvas.CodeHandlerError {
		t.Errorf("opened again: %v", err)
	}
	if _, err := b.invoke("one", "echo", ""); err != nil {
		t.Error(err)
	}
	if err := b.Canvases.Shutdown(t.Context()); err != nil { // waits for pending requests
		t.Error(err)
	}
	if got, want := requestsOf(x), "canvas.open one\ncanvas.open one\ncanvas.action.invoke one\n"; got != want {
		t.Errorf("its requests were\n%swant\n%s", got, want)
	}
}

var number int

// fresh returns an input that was not used before.
func fresh() string { number++; return strings.Repeat("x", number) }

func TestCrashIsStaleThenReady(t *testing.T) {
	b := newBench(t, nil)
	x := b.serving("kanban", "serve board")
	o := b.Open("board", "one", ahp.Value(`{"title":"kept"}`))
	v := b.Connect("view")
	v.Subscribe(o.Channel)
	before, err := b.invoke("one", "pid", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.invoke("one", "crash", ""); code(err) != canvas.CodeProviderUnavailable {
		t.Errorf("the request during the crash: %v", err)
	}
	b.awaitAvailability(v, session.Stale)
	if list, err := b.Canvases.List(canvastest.Session); err != nil || len(list) != 1 {
		t.Errorf("%d canvases are listed meanwhile, %v", len(list), err)
	}
	b.awaitAvailability(v, session.Ready)
	after, err := b.invoke("one", "pid", "")
	if err != nil || string(after) == string(before) {
		t.Errorf("process %s, was %s, %v", after, before, err)
	}
	if st := b.State(o.Channel); *st.Title != "kept" {
		t.Errorf("title %v", st.Title)
	}
	if got := strings.Count(requestsOf(x), "canvas.open one\n"); got != 2 {
		t.Errorf("opened %d times", got)
	}
}

func TestOpenReportsWhyItDoesNotRun(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Backoff = func() backoff.BackOff { return backoff.NewConstantBackOff(time.Hour) }
	})
	x, err := b.add("kanban", "say one\nsay \x1b[31mError\x1b[0m: Cannot find package 'x'\nexit 3")
	want := "extension \"kanban\" does not run: it ended with exit status 3. Its last output:\none\nError: Cannot find package 'x'\nInstall its packages: run npm install in its folder."
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("started: %v, want %s", err, want)
	}
	_, err = b.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "kanban", InstanceID: "one"})
	if code(err) != canvas.CodeProviderUnavailable || !strings.Contains(err.Error(), want) {
		t.Errorf("open: %v, want %s", err, want)
	}
	if len(x.Declarations()) != 0 {
		t.Error("the extension has declarations")
	}
}

func TestMissingNode(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Node = "no-such-node" })
	_, err := b.add("kanban", "")
	if code(err) != canvas.CodeProviderUnavailable || !strings.Contains(err.Error(), "install Node.js") {
		t.Error(err)
	}
}

// An extension that is fixed later starts without a restart of the host.
func TestFixedExtensionIsListed(t *testing.T) {
	b := newBench(t, nil)
	v := b.Connect("view")
	v.Subscribe(canvastest.Session)
	f := folderOf(t, "kanban", "once 1\nserve board")
	if err := os.WriteFile(filepath.Join(f.Dir, "extension.next"), []byte("serve board"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.runner.Add(f); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"kanban", "board"} {
		v.Await(id, func(e ahp.ActionEnvelope) bool { return strings.Contains(string(e.Action), `"canvasId":"`+id+`"`) })
	}
}

// If a page's server ends while the process lives, the host opens the canvas again.
func TestLostPageIsOpenedAgain(t *testing.T) {
	b := newBench(t, nil)
	x := b.serving("kanban", "serve board")
	o := b.Open("board", "one", ahp.Value(`{"url":"http://127.0.0.1:1/"}`))
	b.Open("board", "two", ahp.Value(`{"url":"http://127.0.0.1:2/"}`))
	v := b.Connect("view")
	v.Subscribe(o.Channel)
	b.pages.mu.Lock()
	lost := b.pages.pages[0].unreachable
	b.pages.mu.Unlock()
	lost(errors.New("refused"))
	b.awaitAvailability(v, session.Stale)
	b.awaitAvailability(v, session.Ready)
	if got := requestsOf(x); strings.Count(got, "canvas.open one\n") != 2 || strings.Count(got, "canvas.open two\n") != 1 {
		t.Errorf("its requests were\n%s", got)
	}
	if got, want := strings.Join(b.pages.brief(), ", "), "http://127.0.0.1:1/ closed, http://127.0.0.1:2/, http://127.0.0.1:1/"; got != want {
		t.Errorf("pages: %s, want %s", got, want)
	}
	lost(errors.New("late")) // a report about the previous page
	if st := b.State(o.Channel); st.Availability != session.Ready {
		t.Errorf("a report about a closed page makes the canvas %s", st.Availability)
	}
}
