package web_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// reloadable is an instance whose pages view.Pages can reload.
type reloadable struct {
	*view.Pages
	canvas.App
}

func (r *reloadable) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	return r.Pages.Invoke(ctx, action, input)
}
func (r *reloadable) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	r.Pages.Message(ctx, from, payload)
}
func (r *reloadable) ViewGone(from canvas.View)       { r.Pages.ViewGone(from) }
func (r *reloadable) Close(ctx context.Context) error { return r.Pages.Close(ctx) }

// TestReload: Pages.Reload reloads the page of the named View at its scroll position,
// and not that of another View; without arguments it reloads both.
func TestReload(t *testing.T) {
	e := start(t, nil)
	loaded := make(chan canvas.View, 16)
	pages := make(chan *view.Pages, 1)
	files := fstest.MapFS{"index.html": {Data: []byte(`<!doctype html><body style="min-height:5000px"><p id="typed">` + "\n" +
		`<script type="module">import { send } from "/.ahp/canvas.js"; await send("loaded")</script>`)}}
	provide := canvas.Func(func(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		p := view.New(view.Options{To: h, OnMessage: func(_ context.Context, from canvas.View, _ ahp.Value) { loaded <- from }})
		pages <- p
		return canvas.Opened{Instance: &reloadable{p, canvas.App{Files: files}}, URL: h.ContentURL("/")}, nil
	})
	if _, err := e.host.Canvases().Register(canvas.Extension{ID: "reload"}, provide, canvas.Declaration{CanvasID: "reloadable", DisplayName: "Reloadable"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.host.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "reloadable", InstanceID: "one"}); err != nil {
		t.Fatal(err)
	}
	await := func() canvas.View {
		t.Helper()
		select {
		case v := <-loaded:
			return v
		case <-time.After(webtest.Timeout):
			t.Fatal("no page was loaded")
			return canvas.View{}
		}
	}
	const mark = `.getElementById("typed").textContent = "kept"`
	const window = `document.querySelector("iframe").contentWindow`
	b := webtest.Start(t)
	open := func() (canvas.View, *webtest.Page) {
		frame := shown(t, b.Open(t, e.link), 1)[0]
		webtest.Eval[any](t, frame, document+mark)
		return await(), frame
	}
	first, firstFrame := open()
	second, secondFrame := open()
	webtest.Eval[any](t, firstFrame, `void `+window+`.scrollTo(0, 1234)`)
	p := <-pages
	if err := p.Reload(first); err != nil {
		t.Fatal(err)
	}
	if got := await(); got.Conn != first.Conn {
		t.Errorf("View %d loaded again, want %d", got.Conn, first.Conn)
	}
	firstFrame.Wait(t, document+`.readyState === "complete" && `+document+`.getElementById("typed").textContent !== "kept" && `+window+`.scrollY === 1234`)
	if !webtest.Eval[bool](t, secondFrame, document+`.getElementById("typed").textContent === "kept"`) {
		t.Error("the View that was not named was reloaded too")
	}
	if err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	if a, b := await(), await(); a.Conn+b.Conn != first.Conn+second.Conn {
		t.Errorf("Views %d and %d loaded again, want %d and %d", a.Conn, b.Conn, first.Conn, second.Conn)
	}
}
