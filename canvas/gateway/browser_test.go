package gateway_test

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// socketEcho is an expression: a WebSocket of the page echoes.
const socketEcho = `(() => {
	if (!globalThis.socket) {
		globalThis.socket = new WebSocket(location.origin.replace("http", "ws") + "/ws");
		socket.onopen = () => socket.send("hello");
		socket.onmessage = ({ data }) => { globalThis.echoed = data; };
		socket.onerror = () => { globalThis.echoed = "error"; };
	}
	return globalThis.echoed === "hello";
})()`

// TestInABrowser: a canvas works at its address, alone and in a frame of another site, and
// neither that site nor another canvas reaches it.
func TestInABrowser(t *testing.T) {
	webtest.InShort(t)
	var hits atomic.Int32
	mux := app()
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/secret" {
			hits.Add(1)
		}
		if strings.Contains(r.Header.Get("Cookie"), "gateway") || r.Header.Get("X-Ahp-Cookies") != "" {
			t.Error("the app sees the gateway's cookie")
		}
		if r.URL.Path == "/start" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>app</title><p id=shown>shown")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	app, board := s.open("app"), s.open("board")
	b := webtest.Start(t)

	tab := b.Open(t, app)
	tab.Wait(t, `document.querySelector("#shown") && !location.search.includes("~t")`)
	tab.Wait(t, socketEcho)
	for _, name := range []string{"localhost", "127.0.0.1"} { // an app that knows its own port, as development servers do
		tab.Wait(t, fmt.Sprintf(`((globalThis.known ??= {})[%q] ??= (() => { const s = new WebSocket("ws://%[1]s:%d/ws"); s.onopen = () => s.send("x"); s.onmessage = ({ data }) => { s.echoed = data; }; return s; })()).echoed === "x"`, name, s.app.Listener.Addr().(*net.TCPAddr).Port))
	}
	tab.Wait(t, `document.cookie === ""`)
	tab.Wait(t, `(globalThis.away ??= fetch("/away").then((r) => { globalThis.to = r.url; }), globalThis.to?.endsWith("/start"))`)

	embedder := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>other site</title><iframe id=app src="%s"></iframe><iframe id=board src="%s"></iframe>`, html.EscapeString(app), html.EscapeString(board))
	}))
	defer embedder.Close()
	page := b.Open(t, embedder.URL)
	host := func(address string) func(*url.URL) bool {
		u, _ := url.Parse(address)
		return func(found *url.URL) bool { return found.Host == u.Host }
	}
	frame := page.Frames(t, 1, host(app))[0]
	frame.Wait(t, `document.querySelector("#shown") && !location.search.includes("~t")`)
	frame.Wait(t, socketEcho)
	cards := page.Frames(t, 1, host(board))[0]
	cards.Wait(t, `document.body.innerText.includes("To do")`)
	cards.Wait(t, `[...document.querySelectorAll("button")].find((b) => b.textContent.includes("Add a card"))?.click() ?? true`)

	u, _ := url.Parse(app)
	secret := "http://" + u.Host + "/secret"
	for name, from := range map[string]*webtest.Page{"the other site": page, "another canvas": cards} {
		from.Wait(t, fmt.Sprintf(`(globalThis.tried ??= fetch(%q, { mode: "no-cors", credentials: "include" }).catch(() => 0).then(() => { globalThis.over = true; }), globalThis.over)`, secret))
		from.Wait(t, fmt.Sprintf(`(globalThis.read ??= fetch(%q, { credentials: "include" }).then((r) => r.text()).catch(() => "").then((text) => { globalThis.got = text; }), globalThis.got === "")`, secret))
		from.Wait(t, `(() => { try { return !(parent.frames[0] === self ? parent.frames[1] : parent.frames[0]).document.title; } catch { return true; } })()`)
		if n := hits.Load(); n != 0 {
			t.Errorf("%s sent the app %d requests", name, n)
		}
	}
}

// TestFlood: a separate page that sends messages without end is replaced by a text.
func TestFlood(t *testing.T) {
	webtest.InShort(t)
	s := newStage(t, app())
	tab := webtest.Start(t).Open(t, s.open("board"))
	tab.Wait(t, `document.body.innerText.includes("To do")`)
	webtest.Eval[any](t, tab, `import("/.ahp/canvas.js").then(({ send }) => { setInterval(() => { for (let n = 0; n < 500; n++) send({ n }).catch(() => {}); }, 10); })`)
	for range 20 { // a wait ends with the page that it began in
		if tab.WaitAtMost(webtest.Timeout/20, `document.body?.innerText.startsWith("This canvas was stopped.")`) {
			return
		}
	}
	t.Errorf("the page shows %q", webtest.Eval[string](t, tab, `document.body.innerText`))
}
