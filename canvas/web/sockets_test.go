package web_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// sockets adds a WebSocket at /ws that echoes, except for "close CODE REASON" and "drop",
// and one at /no-ws that is refused.
func (a *app) sockets() {
	a.HandleFunc("/no-ws", http.NotFound)
	a.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{Subprotocols: []string{"b"}}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for {
			kind, text, err := c.ReadMessage()
			if err != nil || string(text) == "drop" {
				return
			}
			if command, ok := strings.CutPrefix(string(text), "close "); ok {
				said, reason, _ := strings.Cut(command, " ")
				code, _ := strconv.Atoi(said)
				_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Minute))
				_, _, _ = c.ReadMessage() // the answer
				return
			}
			if c.WriteMessage(kind, text) != nil {
				return
			}
		}
	})
}

// socketScript uses WebSockets in all ways, and returns what a page sees of them.
const socketScript = `
	const log = [];
	const at = location.origin.replace("http", "ws");
	const shown = (v) => String(v).replaceAll(location.host, "HOST");
	const thrown = (what, fn) => { try { fn(); log.push(what + " works"); } catch (e) { log.push(what + ": " + e.name); } };
	const event = (s, type) => new Promise((r) => s.addEventListener(type, r, { once: true }));
	const text = async (e) => typeof e.data === "string" ? e.data : e.data instanceof Blob ? "blob " + await e.data.text() : "buffer " + new TextDecoder().decode(e.data);

	for (const url of ["/ws#a", "ftp://x/", "http://", "//[", at + "/ws#"]) thrown(url.startsWith("ws") ? "empty fragment" : url, () => new WebSocket(url));
	for (const list of [["a", "a"], "a b", [""], "é"]) thrown("protocols " + list, () => new WebSocket("/ws", list));
	thrown("no url", () => new WebSocket());
	thrown("a call", () => WebSocket("/ws"));
	log.push([WebSocket.CONNECTING, WebSocket.OPEN, WebSocket.CLOSING, WebSocket.CLOSED, WebSocket.prototype.CLOSED, WebSocket.name, Object.prototype.toString.call(WebSocket.prototype)].join());
	thrown("a getter of the prototype", () => WebSocket.prototype.readyState);

	const s = new WebSocket("/ws?x=1", ["a", "b"]);
	log.push(shown(s.url), s.readyState, s.protocol === "", s.extensions === "", s.binaryType, s.bufferedAmount, s instanceof WebSocket, s instanceof EventTarget, s.onopen);
	thrown("send before open", () => s.send("x"));
	thrown("close 1001", () => s.close(1001));
	thrown("close with a long reason", () => s.close(1000, "ä".repeat(62)));
	let order = "";
	s.onopen = () => { order += "never"; };
	s.addEventListener("open", () => { order += "a"; });
	s.onopen = function (e) { order += "b" + (this === s) + e.type; };
	const e = await event(s, "open");
	log.push(order, s.readyState, s.protocol, e.constructor.name, e.target === s);
	thrown("send nothing", () => s.send());

	s.send("größer " + "\u{1f600}");
	s.send(new Blob(["from a blob"]));
	s.send(new TextEncoder().encode("xbytesx").subarray(1, 6));
	s.send(new TextEncoder().encode("buffer").buffer);
	s.send("");
	s.send(null);
	s.send({ toString: () => "object" });
	const got = [];
	await new Promise((r) => { s.onmessage = (m) => { got.push(m); if (got.length === 7) r(); }; });
	for (const m of got) log.push(await text(m));
	log.push(shown(got[0].origin), got[0].constructor.name, got[0].source, got[0].lastEventId);
	s.binaryType = "neither";
	s.binaryType = "arraybuffer";
	s.send(new Blob(["in a buffer"]));
	log.push(await text(await event(s, "message")), s.binaryType);

	const large = new Uint8Array(1_500_000).map((_, i) => i * 7);
	s.send(large);
	log.push(s.bufferedAmount > 1_000_000);
	s.send("after it");
	const [back, after] = await new Promise((r) => { const all = []; s.onmessage = (m) => { all.push(m); if (all.length === 2) r(all); }; });
	const same = new Uint8Array(back.data);
	log.push(same.length === large.length && same.every((b, i) => b === large[i]), after.data, s.bufferedAmount);
	s.send("é".repeat(100_000));
	log.push((await event(s, "message")).data === "é".repeat(100_000));

	const events = [];
	for (const type of ["error", "close"]) s.addEventListener(type, (e) => events.push([type, e.constructor.name, e.code, e.reason, e.wasClean].join(" ")));
	s.close(4001, "done");
	log.push(s.readyState);
	s.close(4002);
	s.send("12345");
	log.push(s.bufferedAmount);
	await event(s, "close");
	log.push(...events, s.readyState);

	const ends = async (what, url, then) => {
		const s = new WebSocket(url);
		const events = [];
		s.onerror = (e) => events.push("error " + s.readyState + e.constructor.name);
		s.onclose = (e) => events.push(["close", e.code, e.reason, e.wasClean, s.readyState].join(" "));
		then(s);
		await event(s, "close");
		await new Promise((r) => setTimeout(r));
		log.push(what + ": " + events.join(", "));
	};
	await ends("refused", "/no-ws", () => {});
	await ends("closed before it is open", "/ws", (s) => s.close(1000, "x"));
	await ends("closed by the app", "/ws", (s) => { s.onopen = () => s.send("close 4123 bye"); });
	await ends("closed without a code", "/ws", (s) => { s.onopen = () => s.send("close 1005 "); });
	await ends("dropped", "/ws", (s) => { s.onopen = () => s.send("drop"); });
	await ends("closed without a code here", "/ws", (s) => { s.onopen = () => s.close(); });
	await ends("messages before the close arrive", "/ws", (s) => { s.onopen = () => { s.send("close 4000 seen"); }; });
	await ends("of the app's other name", location.port === "PORT" ? "/ws" : "ws://localhost:PORT/ws", (s) => { s.onopen = () => s.send("close 4000 other"); });
	await ends("of the app's port at this page's name", location.port === "PORT" ? "/ws" : "ws://" + location.hostname + ":PORT/ws", (s) => { s.onopen = () => s.send("close 4000 port"); });
	return log.map(String);`

// TestWebSockets: a canvas's WebSocket behaves as the browser's own does in the app's page,
// also in a frame of the canvas.
func TestWebSockets(t *testing.T) {
	a := newApp(t)
	a.sockets()
	e := start(t, nil, appSite("one", a))
	b := webtest.Start(t)
	port := a.URL[strings.LastIndex(a.URL, ":")+1:]
	script := "(async () => {" + strings.ReplaceAll(socketScript, "PORT", port) + "})()"
	native := b.Open(t, strings.Replace(a.URL, "127.0.0.1", "localhost", 1))
	want := webtest.Eval[[]string](t, native, script)
	p := b.Open(t, e.link)
	frame := shown(t, p, 1)[0]
	if webtest.Eval[bool](t, frame, win+`.eval("WebSocket.toString().includes('[native code]')")`) {
		t.Fatal("the canvas has the browser's own WebSocket")
	}
	got := webtest.Eval[[]string](t, frame, win+`.eval(`+strconv.Quote(script)+`)`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a canvas sees other WebSockets than a page (-page +canvas):\n%s", diff)
	}
	if len(want) < 60 {
		t.Errorf("the script saw %d things", len(want))
	}
	const inner = `return (await new Promise((r) => { const f = document.createElement("iframe"); f.src = "/"; f.onload = () => {
		const s = new f.contentWindow.WebSocket("/ws"); s.onopen = () => s.send("inner"); s.onmessage = (e) => r(e.data); s.onclose = () => r("closed"); }; document.body.append(f); }))`
	if got := inCanvas[string](t, frame, inner); got != "inner" {
		t.Errorf("a frame of the canvas got %q", got)
	}
}

// TestWebSocketsEnd: the app's WebSockets end with their document, and fail when the
// provider is lost; new ones work when it is back.
func TestWebSocketsEnd(t *testing.T) {
	a := newApp(t)
	a.sockets()
	left := make(chan int, 8)
	a.HandleFunc("/watched", func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		_, _, err = c.ReadMessage()
		code := 0
		if e, ok := err.(*websocket.CloseError); ok {
			code = e.Code
		}
		left <- code
	})
	e, _, frame := showApp(t, a)
	const opened = `const s = globalThis.watched = new WebSocket("/watched"); globalThis.ended = new Promise((r) => { s.onclose = (e) => r(e.code + " " + e.wasClean); });
		await new Promise((r) => { s.onopen = r; })`
	wait := func(what string) {
		t.Helper()
		select {
		case code := <-left:
			if code != websocket.CloseGoingAway {
				t.Errorf("%s: the app read code %d", what, code)
			}
		case <-time.After(webtest.Timeout):
			t.Fatalf("%s: the app's WebSocket did not end", what)
		}
	}
	inCanvas[any](t, frame, opened)
	inCanvas[any](t, frame, `location.reload()`)
	wait("a reload")
	frame.Wait(t, document+`.title === "App" && `+document+`.readyState === "complete" && `+win+`.watched === undefined`)
	inCanvas[any](t, frame, opened)
	e.reg.SetReachable(false)
	if got := inCanvas[string](t, frame, `return ended`); got != "1006 false" {
		t.Errorf("the WebSocket of a stale canvas ended with %s", got)
	}
	wait("a stale canvas")
	e.reg.SetReachable(true)
	frame.Wait(t, win+`.eval("new WebSocket('/ws').onopen = () => { globalThis.again = true; }, globalThis.again === true")`)
}
