package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// helloSite is a well-behaved canvas: it shows its input and messages, answers an
// action, and reports when it is ready.
func helloSite(id string) site {
	return site{id: id, title: "Hello " + id, input: object{"start": 7}, files: map[string]string{
		"index.html": `<!doctype html><html lang="en"><meta charset="utf-8"><title>Hello</title><link rel="stylesheet" href="/style.css">
			<h1>Hello</h1><p id="said">…</p><p><label>Name <input id="name"></label></p><script type="module" src="/main.js"></script>`,
		"style.css": "body{font:16px/1.5 var(--font-sans);background:var(--background-color-default);color:var(--text-color-default);padding:1rem;margin:0}",
		"main.js": `import { onAction, onMessage, send, input } from "/.ahp/canvas.js";
			const said = document.getElementById("said");
			onAction("add", ({ n }) => ({ sum: n + 1 }));
			onAction("fail", () => { throw Object.assign(new Error("no luck"), { code: "unlucky" }); });
			onMessage((v) => { said.textContent = JSON.stringify(v); });
			said.textContent = "input " + JSON.stringify(await input);
			await send({ ready: true });`,
	}}
}

// document is an expression for the canvas's document in its outer frame.
const document = `document.querySelector("iframe").contentDocument`

// shown waits until all canvases of a page are visible, and returns their outer frames.
func shown(t testing.TB, p *webtest.Page, n int) []*webtest.Page {
	t.Helper()
	return shownOf(t, p, n, n)
}

// shownOf is shown for n canvases of which only some have content frames.
func shownOf(t testing.TB, p *webtest.Page, n, framed int) []*webtest.Page {
	t.Helper()
	p.Wait(t, fmt.Sprintf(`document.querySelectorAll(".card").length === %d && [...document.querySelectorAll(".card .words")].every((w) => w.hidden)`, n))
	return p.Frames(t, framed, webtest.ContentFrame)
}

func TestCanvas(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	frame.Wait(t, document+`.getElementById("said").textContent === 'input {"start":7}'`)

	if diff := cmp.Diff(object{"ready": true}, e.message(t, func(payload any) bool { return !isView(payload, "hello") })); diff != "" {
		t.Errorf("the View's message (-want +got):\n%s", diff)
	}
	e.send(t, "one", object{"n": []any{1.0, "two"}})
	frame.Wait(t, document+`.getElementById("said").textContent === '{"n":[1,"two"]}'`)
}

func TestActions(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	e.message(t, func(payload any) bool { return isView(payload, "hello") })
	for _, tt := range []struct {
		action string
		want   object
	}{
		{"add", object{"x-ahp": "view/1", "type": "result", "id": "7", "value": object{"sum": 42.0}}},
		{"fail", object{"x-ahp": "view/1", "type": "error", "id": "7", "error": object{"code": "unlucky", "message": "no luck"}}},
		{"unknown", object{"x-ahp": "view/1", "type": "error", "id": "7", "error": object{"code": "canvas_action_no_handler", "message": `this page has no handler for "unknown"`}}},
	} {
		e.send(t, "one", object{"x-ahp": "view/1", "type": "invoke", "id": "7", "action": tt.action, "input": object{"n": 41}})
		got := e.message(t, func(payload any) bool { return isView(payload, "result") || isView(payload, "error") })
		if diff := cmp.Diff(any(tt.want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.action, diff)
		}
	}
	// When the page is reloaded, an unanswered action is answered, and the View says
	// bye.
	frame := shown(t, p, 1)[0]
	webtest.Eval[any](t, frame, document+`.location.reload()`)
	e.message(t, func(payload any) bool { return isView(payload, "bye") })
	e.message(t, func(payload any) bool { return isView(payload, "hello") })
}

// TestMessageLimits: the page checks a canvas's messages, canvas.js does not matter.
func TestMessageLimits(t *testing.T) {
	webtest.InShort(t)
	s := helloSite("one")
	s.files["main.js"] = `
		const { port1: port, port2 } = new MessageChannel(); // like canvas.js, but without its checks
		parent.postMessage({ "x-ahp": "view" }, location.origin, [port2]);
		const refused = [];
		port.onmessage = ({ data }) => { if (data.t === "refused") refused.push(data.reason); document.title = refused.join("|"); };
		port.postMessage({ t: "send", id: 1, value: "x".repeat(65536) });
		port.postMessage({ t: "send", id: 2, value: { "x-ahp": "http/1" } });
		port.postMessage({ t: "send", id: 3, value: undefined });
		port.postMessage({ t: "result", id: 9, value: "nobody asked" });
		port.postMessage(null);
		for (let i = 0; i < 1000; i++) port.postMessage({ t: "send", id: 100 + i, value: i });`
	e := start(t, nil, s)
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	frame.Wait(t, document+`.title.split("|").length > 300`)
	got := webtest.Eval[[]string](t, frame, `[...new Set(`+document+`.title.split("|"))]`)
	want := []string{"a message can have at most 64 KiB", `the member "x-ahp" is reserved`, "only a JSON value can be sent", "this canvas sends too many messages"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
	// The answer to no call was sent first, and is ignored.
	if first := e.message(t, func(any) bool { return true }); first != 0.0 {
		t.Errorf("the provider received %v first, want the first of the numbers", first)
	}
}

func TestClose(t *testing.T) {
	e := start(t, nil, helloSite("one"), helloSite("two"))
	p := webtest.Start(t).Open(t, e.link)
	frames := shown(t, p, 2)
	stays := frames[slices.IndexFunc(frames, func(f *webtest.Page) bool { return webtest.Eval[string](t, f, "document.title") == "Hello two" })]
	webtest.Eval[any](t, stays, `void(`+document+`.mark = 1)`)
	// By keyboard: the button has a name and takes the focus, which moves to the next
	// one.
	webtest.Eval[any](t, p, `document.querySelector("[aria-label='Close “Hello one”']").focus()`)
	p.Keys(t, "\r")
	p.Wait(t, `document.querySelector(".undo span").textContent === "“Hello one” is closed." && document.activeElement.matches(".undo-close")`)
	p.Click(t, ".undo .now")
	p.Wait(t, `document.querySelectorAll(".card").length === 1 && document.querySelector(".undo").hidden`)
	if got := webtest.Eval[int](t, stays, document+`.mark`); got != 1 {
		t.Error("the canvas that stayed was loaded again")
	}
	p.Wait(t, `document.activeElement === document.getElementById("canvases")`)
	p.Click(t, ".close")
	p.Wait(t, `document.querySelector("#empty h2").textContent === "Nothing is open" && !document.getElementById("empty").hidden`)
}

// TestUndoClose: a person undoes the closes of several canvases at once. They were not
// loaded again, nothing reached their provider, and others saw that they were closing.
func TestUndoClose(t *testing.T) {
	e := start(t, nil, helloSite("one"), helloSite("two"))
	b := webtest.Start(t)
	p, other := b.Open(t, e.link), b.Open(t, e.link)
	for _, frame := range shown(t, p, 2) {
		webtest.Eval[any](t, frame, `void(`+document+`.mark = 1)`)
	}
	shown(t, other, 2)
	webtest.Eval[any](t, p, `document.querySelectorAll(".close").forEach((b) => b.click())`)
	p.Wait(t, `document.querySelector(".undo span").textContent === "2 canvases are closed." && document.querySelectorAll(".card:not([data-closing=here])").length === 0 && !document.getElementById("empty").hidden`)
	other.Wait(t, `[...document.querySelectorAll(".words h3")].filter((h) => h.textContent === "Closing").length === 2 && document.querySelector(".undo").hidden`)
	p.Click(t, ".undo-close")
	p.Wait(t, `document.querySelector(".undo").hidden && document.querySelectorAll(".card:not([data-closing=here])").length === 2 && document.getElementById("empty").hidden`)
	other.Wait(t, `[...document.querySelectorAll(".words")].every((w) => w.hidden)`)
	for _, frame := range shown(t, p, 2) {
		if webtest.Eval[int](t, frame, document+`.mark || 0`) != 1 {
			t.Error("a canvas was loaded again")
		}
	}
}

// TestCloseIsLost: a close that was lost with the connection is sent again on the next
// one.
func TestCloseIsLost(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)
	webtest.Eval[any](t, p, `void (() => {
		const { send } = WebSocket.prototype;
		WebSocket.prototype.send = function (m) {
			if (!m.includes("closeRequested")) return send.call(this, m);
			WebSocket.prototype.send = send;
			this.close();
		};
	})()`)
	p.Click(t, ".close")
	p.Click(t, ".undo .now")
	p.Wait(t, `document.querySelectorAll(".card").length === 0`)
}

func TestStaleKeepsTheFrame(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	webtest.Eval[any](t, frame, `void(`+document+`.getElementById("name").value = "typed")`)
	e.update(t, "one", canvas.Updated{Availability: new(session.Stale)})
	p.Wait(t, `document.querySelector(".words.veil h3").textContent === "Not up to date" && document.querySelector("iframe").inert`)
	e.update(t, "one", canvas.Updated{Availability: new(session.Ready), Title: ahp.Set("Back")})
	p.Wait(t, `document.querySelector(".words").hidden && !document.querySelector("iframe").inert && document.querySelector(".card h2").textContent === "Back"`)
	if got := webtest.Eval[string](t, frame, document+`.getElementById("name").value`); got != "typed" {
		t.Errorf("the page lost what was typed: %q", got)
	}
}

// TestHostLeavesDuringMount: a canvas whose service worker cannot be fetched because the host
// left is not taken for a browser without service workers, and is shown when the host is back.
func TestHostLeavesDuringMount(t *testing.T) {
	var e *env
	var leave, left atomic.Bool
	e = start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/.ahp/sw.js" && leave.Swap(false) {
				e.gone()
				left.Store(true)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, `document.getElementById("connection").textContent === "Connected"`)
	leave.Store(true)
	e.open(t, helloSite("one"))
	p.Wait(t, `document.getElementById("banner").textContent.startsWith("The connection to the host is lost.")`)
	if !left.Load() {
		t.Fatal("the host left before the worker was fetched")
	}
	p.Wait(t, `document.querySelector(".card .words h3").textContent === "Not connected"`)
	e.back(t)
	shown(t, p, 1)
	p.Wait(t, `document.querySelector(".card .note").hidden`) // not in single-document mode
}

// TestTheme: a canvas has the theme before its first paint, and follows changes.
func TestTheme(t *testing.T) {
	s := helloSite("one")
	s.files["index.html"] = `<!doctype html><script>document.first = document.documentElement.dataset.colorMode + getComputedStyle(document.documentElement).getPropertyValue("--text-color-default")</script><p>x`
	e := start(t, nil, s)
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	if got, want := webtest.Eval[string](t, frame, document+`.first`), "lightrgb(27, 31, 36)"; got != want {
		t.Errorf("the first script of the canvas saw %q, want %q", got, want)
	}
	p.Click(t, "#theme") // system -> light
	p.Click(t, "#theme") // light -> dark
	p.Wait(t, `document.documentElement.dataset.colorMode === "dark"`)
	frame.Wait(t, document+`.documentElement.dataset.colorMode === "dark" && `+document+`.documentElement.style.getPropertyValue("--background-color-default") === "rgb(21, 24, 29)"`)
}

func TestTokenLeavesTheAddressBar(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)
	if got := webtest.Eval[string](t, p, `location.href + history.length`); strings.Contains(got, viewToken) {
		t.Errorf("the address bar still has the token: %s", got)
	}
	p.Reload(t)
	shown(t, p, 1)
}

// TestHostRestarted: the page initializes again on the same socket if a restarted host
// knows neither it nor its canvases.
func TestHostRestarted(t *testing.T) {
	webtest.InShort(t)
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)
	e.gone()
	e.startHost(t)
	e.back(t)
	p.Wait(t, `document.querySelectorAll(".card").length === 0 && document.querySelector("#empty h2").textContent === "Nothing is open"`)
	e.open(t, helloSite("two"))
	shown(t, p, 1)
	p.Wait(t, `document.querySelector(".card h2").textContent === "Hello two"`)
}

// TestPageReconnects: a page that lost the host keeps what was typed, and connects again. A
// document can begin to take part meanwhile: canvas.js does not come from the host then.
func TestPageReconnects(t *testing.T) {
	webtest.InShort(t)
	late := site{id: "one", title: "Late", files: map[string]string{"index.html": `<!doctype html><input id="name"><script>
		globalThis.begin = () => import("/.ahp/canvas.js").then(() => "began");
	</script>`}}
	e := start(t, nil, late)
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	webtest.Eval[any](t, frame, `void(`+document+`.getElementById("name").value = "typed")`)
	e.gone()
	p.Wait(t, `document.getElementById("banner").textContent.startsWith("The connection to the host is lost.")`)
	if got := webtest.Eval[string](t, frame, win+`.begin().catch(String)`); got != "began" {
		t.Errorf("the document that began without the host: %s", got)
	}
	e.back(t)
	p.Wait(t, `document.getElementById("banner").hidden && document.getElementById("connection").textContent === "Connected"`)
	if got := webtest.Eval[string](t, frame, document+`.getElementById("name").value`); got != "typed" {
		t.Errorf("the page lost what was typed: %q", got)
	}
}
