package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// echoSockets adds a WebSocket that echoes to an app.
func (a *app) echoSockets(path string) {
	a.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for {
			kind, text, err := c.ReadMessage()
			if err != nil || c.WriteMessage(kind, text) != nil {
				return
			}
		}
	})
}

// near matches the frames of canvases on the host's listener.
func near(u *url.URL) bool { return strings.HasPrefix(u.Host, "g-") }

// TestOnTheListener: a web app is framed at its address on the host's listener, where it has
// WebSockets and storage that lasts; if that shows nothing, through the channel.
func TestOnTheListener(t *testing.T) {
	b := webtest.Start(t)
	var closed atomic.Bool // the listener's addresses cannot be reached
	front := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if closed.Load() && strings.HasPrefix(r.Host, "g-") {
				http.Error(w, "unreachable", http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	a := newApp(t)
	a.echoSockets("/socket")
	a.page("/app", `<title>Near</title><p id=said>…</p><script>
		const before = localStorage.getItem("n");
		localStorage.setItem("n", Number(before) + 1);
		const socket = new WebSocket(location.origin.replace("http", "ws") + "/socket");
		socket.onopen = () => socket.send("hello");
		socket.onmessage = ({ data }) => { document.querySelector("#said").textContent = data + " " + before; };
		socket.onerror = () => { document.querySelector("#said").textContent = "no socket"; };
	</script>`)
	e := startWith(t, setup{name: "localhost", direct: true, wrap: front}, site{id: "near", title: "Near", app: a, path: "app"})
	const said = `document.querySelector("iframe")?.contentDocument?.querySelector("#said")?.textContent`
	p := b.Open(t, e.link)
	frame := p.Frames(t, 1, near)[0]
	frame.Wait(t, said+` === "hello null"`)
	frame.Wait(t, `document.querySelector("iframe").contentDocument.documentElement.dataset.colorMode`)
	p.Wait(t, `!document.querySelector(".card .message:not([hidden])")`)

	p.Reload(t)
	p.Frames(t, 1, near)[0].Wait(t, said+` === "hello 1"`)

	closed.Store(true)
	p.Reload(t)
	far := func(u *url.URL) bool { return strings.HasPrefix(u.Host, "c-") }
	p.Frames(t, 1, far)[0].Wait(t, said+` !== undefined`)

	closed.Store(false)
	p.Reload(t)
	p.Frames(t, 1, near)[0].Wait(t, said+` === "hello 2"`)
}

// TestStorageClearedOnTheListener: the button of the card also clears what a web app stored at
// its address on the host's listener, and a close does.
func TestStorageClearedOnTheListener(t *testing.T) {
	a := newApp(t)
	a.page("/app", `<p id=n></p><script>localStorage.setItem("n", Number(localStorage.getItem("n")) + 1); document.getElementById("n").textContent = localStorage.getItem("n")</script>`)
	e := startWith(t, setup{name: "localhost", direct: true}, site{id: "near", title: "Near", app: a, path: "app"})
	p := webtest.Start(t).Open(t, e.link)
	p.Frames(t, 1, near)[0].Wait(t, counted+` === "1"`)
	p.Reload(t)
	p.Frames(t, 1, near)[0].Wait(t, counted+` === "2"`)
	origin := contentOrigin(t, p)
	if got := stored(t, p, origin, "clear.js"); got == "" {
		t.Error("nothing is stored")
	}
	choose(t, p, "Clear what it stored here")
	p.Wait(t, fmt.Sprintf(`document.querySelector(".card iframe") && new URL(document.querySelector(".card iframe").src).origin !== %q && localStorage.getItem("kept gone") === "[]"`, origin))
	p.Frames(t, 1, func(u *url.URL) bool { return near(u) && u.Scheme+"://"+u.Host != origin })[0].Wait(t, counted+` === "1"`)
	second := contentOrigin(t, p)
	if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "near"); err != nil {
		t.Fatal(err)
	}
	p.Wait(t, `document.querySelectorAll(".card").length === 0 && localStorage.getItem("kept") === "{}" && localStorage.getItem("kept gone") === "[]"`)
	for _, at := range []string{origin, second} {
		if got := stored(t, p, at, "clear.js"); got != "" {
			t.Errorf("%q is left", got)
		}
	}
}

// TestOnTheListenerAgain: the page of a web app stays while its provider is stale, and works
// when it is back.
func TestOnTheListenerAgain(t *testing.T) {
	b := webtest.Start(t)
	a := newApp(t)
	a.page("/app", `<title>Near</title><p id=kept></p>`)
	e := startWith(t, setup{name: "localhost", direct: true}, site{id: "near", title: "Near", app: a, path: "app"})
	p := b.Open(t, e.link)
	frame := p.Frames(t, 1, near)[0]
	frame.Wait(t, `document.querySelector("iframe")?.contentDocument?.querySelector("#kept")?.append("kept") ?? document.querySelector("iframe")?.contentDocument?.querySelector("#kept")`)
	const fetched = `(document.querySelector("iframe").contentWindow.fetch("/echo").then((r) => { globalThis.answered = r.status; }), globalThis.answered === `
	frame.Wait(t, fetched+`200)`)
	e.reg.SetReachable(false)
	frame.Wait(t, fetched+`503)`)
	e.reg.SetReachable(true)
	frame.Wait(t, fetched+`200)`)
	frame.Wait(t, `document.querySelector("iframe").contentDocument.querySelector("#kept").textContent.startsWith("kept")`)
}

// TestFramedOnTheListener: a web app and its WebSocket work where the host frames canvases on
// its listener, in any browser. WebKit stores no cookie of such a frame over http, so there
// the page shows the canvas through the channel.
func TestFramedOnTheListener(t *testing.T) {
	b := webtest.Start(t)
	a := newApp(t)
	a.echoSockets("/socket")
	a.page("/app", `<title>App</title><p id=said>…</p><script>
		const socket = new WebSocket(location.origin.replace("http", "ws") + "/socket");
		socket.onopen = () => socket.send("hello");
		socket.onmessage = ({ data }) => { document.querySelector("#said").textContent = data; };
	</script>`)
	e := startWith(t, setup{name: "localhost", direct: true}, site{id: "near", title: "Near", app: a, path: "app"})
	p := b.Open(t, e.link)
	where := near
	if b.Kind == webtest.WebKit {
		where = func(u *url.URL) bool { return strings.HasPrefix(u.Host, "c-") }
		p.Wait(t, `[...document.querySelectorAll("iframe")].some((f) => new URL(f.src).host.startsWith("c-"))`)
	}
	p.Frames(t, 1, where)[0].Wait(t, `document.querySelector("iframe")?.contentDocument?.querySelector("#said")?.textContent === "hello"`)
}

// TestSocketsWithoutAnApp: an app that the host reaches by http/1 and ws/1 only is shown
// through the channel, where its WebSockets work.
func TestSocketsWithoutAnApp(t *testing.T) {
	a := newApp(t)
	a.echoSockets("/socket")
	e := startWith(t, setup{name: "localhost", direct: true}, site{id: "one", title: "One", app: a, plain: true})
	frame := shownAt(t, webtest.Start(t).Open(t, e.link), false)
	got := inCanvas[string](t, frame, `const s = new WebSocket(location.origin.replace("http", "ws") + "/socket"); s.onopen = () => s.send("hello");
		return new Promise((go) => { s.onmessage = ({ data }) => go(data); s.onerror = () => go("no socket"); })`)
	if got != "hello" {
		t.Errorf("the canvas got %q", got)
	}
}
