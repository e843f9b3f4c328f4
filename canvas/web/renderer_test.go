package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// renderer returns the renderer of testcases/PORTING.md.
func renderer(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../testcases/PORTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, open := strings.Cut(string(text), "```html\n")
	page, _, closed := strings.Cut(page, "```\n")
	if !open || !closed {
		t.Fatal("testcases/PORTING.md has no renderer")
	}
	return page
}

// startRenderer starts a host beside whose page the renderer is served.
func startRenderer(t *testing.T) *env {
	t.Helper()
	page := renderer(t)
	return start(t, func(front http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/renderer.html" {
				front.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprint(w, page)
		})
	})
}

// render opens the renderer and returns it with the frame of the canvas.
func (e *env) render(t *testing.T, b *webtest.Browser) (p, frame *webtest.Page) {
	t.Helper()
	fragment := url.Values{"host": {strings.Replace(e.origin, "http", "ws", 1)}, "token": {viewToken}, "session": {host.DefaultSession}}
	p = b.Open(t, e.origin+"/renderer.html#"+fragment.Encode())
	return p, p.Frames(t, 1, func(u *url.URL) bool { return u.String() == "about:srcdoc" })[0]
}

// add registers a provider and opens one of its canvases.
func (e *env) add(t *testing.T, id string, p canvas.Provider, d canvas.Declaration, input string) {
	t.Helper()
	if _, err := e.host.Canvases().Register(canvas.Extension{ID: id}, p, d); err != nil {
		t.Fatal(err)
	}
	args := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: d.CanvasID, InstanceID: "one"}
	if input != "" {
		args.Input = ahp.Value(input)
	}
	if _, err := e.host.Canvases().Open(t.Context(), args); err != nil {
		t.Fatal(err)
	}
}

func (e *env) invoke(t *testing.T, action, input string) string {
	t.Helper()
	got, err := e.host.Canvases().Invoke(t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "one", ActionName: action, Input: ahp.Value(input)})
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	return string(got)
}

// TestRendererBoard: in a renderer that has only AHP and a frame, a person ticks a
// card of a board off, and the agent's changes appear.
func TestRendererBoard(t *testing.T) {
	e := startRenderer(t)
	p := board.New()
	e.add(t, "board", p, p.Declarations()[0], `{"title":"Release"}`)
	e.invoke(t, "add_card", `{"list":"todo","title":"Write notes"}`)
	page, frame := e.render(t, webtest.Start(t))
	frame.Wait(t, `document.querySelector(".card .name")?.textContent === "Write notes"`)
	frame.Click(t, ".card input[type=checkbox]")
	frame.Wait(t, `document.querySelector(".card.done") !== null`)
	if got := e.invoke(t, "get_board", `{}`); !strings.Contains(got, `"done":true`) {
		t.Errorf("the board of the provider: %s", got)
	}
	e.invoke(t, "add_card", `{"list":"todo","title":"Tag"}`)
	frame.Wait(t, `document.querySelectorAll(".card").length === 2`)
	save(t, "renderer", page)
}

// TestRendererFolder: in such a renderer the page of a starter folder runs the agent's
// actions, and its messages are events.
func TestRendererFolder(t *testing.T) {
	e := startRenderer(t)
	dir := t.TempDir() + "/notes"
	if err := folder.New(dir); err != nil {
		t.Fatal(err)
	}
	app, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Close() })
	e.add(t, app.ID(), app, app.Declarations()[0], "")
	_, frame := e.render(t, webtest.Start(t))
	if got := e.invoke(t, "add_note", `{"text":"first"}`); got != `{"notes":1}` {
		t.Errorf("the action's value is %s", got)
	}
	frame.Wait(t, `document.querySelector("#notes li")?.textContent === "first"`)
	frame.Click(t, "#done")
	frame.Wait(t, `document.querySelector("#message").textContent !== ""`)
	events, err := e.host.Canvases().Events(t.Context(), host.DefaultSession, 0, 0)
	if err != nil || len(events.Events) != 1 || !strings.Contains(string(events.Events[0].Event), `"first"`) {
		t.Errorf("the events: %v, %v", events, err)
	}
}
