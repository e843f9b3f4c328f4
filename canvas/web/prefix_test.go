package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// prefixed is a proxy that has the page under /canvas/, and content hosts at their root.
type prefixed struct {
	next http.Handler

	mu      sync.Mutex
	outside []string // requests of the page for other paths
}

func (p *prefixed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case webtest.IsContentHost(r.Host):
		p.next.ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, "/canvas/"):
		http.StripPrefix("/canvas", p.next).ServeHTTP(w, r)
	default:
		p.mu.Lock()
		p.outside = append(p.outside, r.URL.Path)
		p.mu.Unlock()
		http.NotFound(w, r)
	}
}

// TestUnderAPrefix: behind a proxy that has the page under a path, the page, its
// WebSocket and all kinds of frames work, and it verifies the host when it connects
// again. It requests nothing outside of the path.
func TestUnderAPrefix(t *testing.T) {
	proxy := &prefixed{}
	with := setup{name: "localhost", prefix: "/canvas", wrap: func(next http.Handler) http.Handler { proxy.next = next; return proxy }}
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(plainDocument))
	}))
	t.Cleanup(app.Close)
	e := startWith(t, with, helloSite("one"), site{id: "direct", url: app.URL})
	if !strings.HasPrefix(e.link, e.origin+"/canvas/#tkn=") {
		t.Errorf("the link is %s", strings.Split(e.link, "#")[0])
	}
	p := webtest.Start(t).Open(t, e.link)
	e.message(t, func(payload any) bool { return payload == "started" })
	frame := shownOf(t, p, 2, 1)[0]
	frame.Wait(t, document+`.getElementById("said").textContent === 'input {"start":7}'`)
	if got := webtest.Eval[string](t, p, "location.href"); got != e.origin+"/canvas/" {
		t.Errorf("the address bar shows %s", got)
	}
	e.gone()
	p.Wait(t, `document.getElementById("connection").textContent === "Not connected"`)
	e.back(t)
	p.Wait(t, `document.getElementById("connection").textContent === "Connected"`)
	p.Reload(t)
	shownOf(t, p, 2, 1)
	proxy.mu.Lock()
	defer proxy.mu.Unlock()
	if len(proxy.outside) > 0 {
		t.Errorf("requests outside of the path: %q", proxy.outside)
	}
}

// TestSingleUnderAPrefix: so does single-document mode.
func TestSingleUnderAPrefix(t *testing.T) {
	e := startWith(t, setup{name: "localhost", prefix: "/canvas", wrap: func(next http.Handler) http.Handler {
		return &prefixed{next: without(noWorker)(next)}
	}}, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	e.message(t, func(payload any) bool { return isView(payload, "hello") })
	p.Frames(t, 1, func(u *url.URL) bool { return u.Path == "/canvas/single.html" })
}
