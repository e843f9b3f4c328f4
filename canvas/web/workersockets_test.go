package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// echoWorker is a worker's script that sends each message to the app's WebSocket at URL and
// posts what the app answers.
const echoWorker = `onmessage = ({ data }) => {
	const s = new WebSocket(URL);
	s.onopen = () => s.send(data);
	s.onmessage = (e) => postMessage(e.data);
	s.onclose = (e) => postMessage("closed " + e.code);
};`

// workers adds scripts of workers, and /watched, which reports the code with which a WebSocket ends.
func (a *app) workers() (left chan int) {
	a.sockets()
	script := func(path, text string) {
		a.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(text))
		})
	}
	script("/classic.js", `undeclared = "/ws"; `+strings.Replace(echoWorker, "URL", "undeclared", 1)) // fails in strict mode
	script("/module.js", `import { path } from "./path.js"; `+strings.Replace(echoWorker, "URL", "path", 1))
	script("/path.js", `export const path = "/ws";`)
	script("/nested.js", `const w = new Worker("/classic.js"); w.onmessage = (e) => postMessage(e.data); onmessage = (e) => w.postMessage(e.data);`)
	left = make(chan int, 8)
	a.HandleFunc("/watched", func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		if _, _, err = c.ReadMessage(); err == nil {
			_ = c.WriteMessage(websocket.TextMessage, []byte("open"))
			_, _, err = c.ReadMessage()
		}
		code := 0
		if e, ok := err.(*websocket.CloseError); ok {
			code = e.Code
		}
		left <- code
	})
	return left
}

// TestWebSocketsInWorkers: dedicated workers of an app have WebSockets through a relay. One
// that is terminated closes its own.
func TestWebSocketsInWorkers(t *testing.T) {
	a := newApp(t)
	left := a.workers()
	e := start(t, nil, appSite("one", a))
	link := web.ViewAt(startRelayWith(t, e.host, seal.NewHost(seal.NewKey(), relaytest.Host, true), nil)+"/#tkn="+relaytest.Token+"&host="+relaytest.Host, viewToken)
	frame := shown(t, webtest.Start(t).Open(t, link), 1)[0]
	const ask = `const ask = (w, said) => new Promise((go) => { w.onmessage = (e) => go(e.data); w.onerror = (e) => go("error " + e.message); w.postMessage(said); });
		const blob = (text, type) => { const url = URL.createObjectURL(new Blob([text])); const w = new Worker(url, { type }); URL.revokeObjectURL(url); return w; };
		const echo = (path) => ` + "`" + echoWorker + "`" + `.replace("URL", JSON.stringify(location.origin.replace("http", "ws") + path));`
	for name, worker := range map[string]string{
		"classic": `new Worker("/classic.js")`, "module": `new Worker("module.js", { type: "module" })`, "nested": `new Worker(new URL("/nested.js", location.href))`,
		"blob": `blob(echo("/ws"))`, "module of a blob": `blob(echo("/ws"), "module")`,
	} {
		if got := inCanvas[string](t, frame, ask+`return ask(`+worker+`, "hello")`); got != "hello" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := inCanvas[string](t, frame, ask+`const w = blob(echo("/watched")); const got = await ask(w, "x"); w.terminate(); return got`); got != "open" {
		t.Fatalf("the worker got %q", got)
	}
	select {
	case code := <-left:
		if code != websocket.CloseGoingAway {
			t.Errorf("the app read code %d", code)
		}
	case <-t.Context().Done():
	}
}

// TestWebSocketsInSingleDocuments: a single document has the app's WebSockets.
func TestWebSocketsInSingleDocuments(t *testing.T) {
	a := newApp(t)
	a.sockets()
	a.page("/single", `<title>One</title><p id="said"></p><script>
		const s = new WebSocket(new URL("/ws", "`+strings.Replace(a.URL, "http", "ws", 1)+`")), own = new WebSocket("/ws");
		s.onopen = () => s.send("to the app's address");
		s.onmessage = () => own.send("to a path");
		own.onmessage = () => parent.postMessage({ type: "canvas/message", payload: "done" }, "*");
	</script>`)
	s := appSite("one", a)
	s.path = "/single"
	e := start(t, without(noWorker), s)
	p := webtest.Start(t).Open(t, e.link)
	p.Frames(t, 1, singleDocument)
	p.Wait(t, `document.querySelector(".card .status").textContent === "done"`)
}
