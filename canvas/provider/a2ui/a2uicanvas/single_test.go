package a2uicanvas_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestSingleDocument: without a service worker the page is one document with an opaque
// origin. It draws, and a click is an event.
func TestSingleDocument(t *testing.T) {
	b := webtest.Start(t)
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := a2uicanvas.New(a2uicanvas.Options{})
	if _, err := h.Add(p); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SetAddr(ln.Addr()); err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.ahp/sw.js" {
			http.NotFound(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = h.Close(); _ = srv.Close(); <-done; _ = p.Close() })
	s := &stage{t, h}
	s.open("a2ui", "x", `{"messages":`+rows+`}`)
	tab := b.Open(t, h.Link(host.DefaultSession))
	tab.Wait(t, `document.body.textContent.includes("Single-document mode") && document.querySelector(".words").hidden`)
	at := webtest.Eval[[2]float64](t, tab, `(() => { const r = document.querySelector(".card iframe").getBoundingClientRect(); return [r.x + r.width / 2, r.y + 20]; })()`)
	// The frame's document has another origin, so the click is the mouse's, on a row of the
	// list. It is repeated because a document that is not drawn yet has no row there.
	for n := 0; !strings.Contains(strings.Join(s.events(), ""), `"name":"pick"`); n++ {
		if n == 100 {
			t.Fatal("no event")
		}
		tab.ClickAt(t, at[0]-300, at[1]+20)
		tab.WaitAtMost(webtest.Timeout/100, `false`)
	}
}
