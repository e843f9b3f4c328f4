package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// plainDocument takes part without canvas.js: it echoes what it receives, adds for the
// agent, and has a nested frame that posts past it.
const plainDocument = `<!doctype html><title>Plain</title><script>
	const post = (payload) => parent.postMessage({ type: "canvas/message", payload }, "*");
	addEventListener("message", ({ source, data }) => {
		if (source !== parent || data.type !== "canvas/message") return;
		const { payload: p } = data;
		if (p === "nest") nest();
		else if (p?.["x-ahp"] === "view/1") post({ "x-ahp": "view/1", type: "result", id: p.id, value: { sum: p.input.n + 1 } });
		else post({ echo: p });
	});
	const nest = () => {
		const frame = document.createElement("iframe");
		addEventListener("message", ({ source, data }) => { if (source === frame.contentWindow && data === "posted") post("after the nested frame"); });
		frame.srcdoc = "<script>parent.parent.postMessage({ type: 'canvas/message', payload: 'nested' }, '*'); parent.postMessage('posted', '*')<\/script>";
		document.body.append(frame);
	};
	post("started");
	post({ "x-ahp": "view/1", type: "hello" });
	post({ "x-ahp": "http/1", type: "request" });
</script><body>`

// TestPlainDocument: a document that knows nothing of canvas.js takes part by messages
// to and from its parent window, in every kind of frame.
func TestPlainDocument(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) *env{
		"with a service worker": func(t *testing.T) *env {
			return start(t, nil, site{id: "one", files: map[string]string{"index.html": plainDocument}})
		},
		"a single document": func(t *testing.T) *env {
			return start(t, without(noWorker), site{id: "one", files: map[string]string{"index.html": plainDocument}})
		},
		"at a direct url": func(t *testing.T) *env {
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = fmt.Fprint(w, plainDocument)
			}))
			t.Cleanup(app.Close)
			return start(t, nil, site{id: "one", url: app.URL})
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t)
			webtest.Start(t).Open(t, e.link)
			e.takesPart(t)
		})
	}
}

// takesPart exchanges messages with a plainDocument.
func (e *env) takesPart(t *testing.T) {
	t.Helper()
	e.message(t, func(p any) bool { return p == "started" })
	e.message(t, func(p any) bool { return isView(p, "hello") })
	e.send(t, "one", object{"n": 1})
	e.message(t, func(p any) bool {
		if m, _ := p.(object); m["x-ahp"] == "http/1" {
			t.Error("a payload of http/1 left the document")
		}
		m, _ := p.(object)
		back, _ := m["echo"].(object)
		return back["n"] == 1.0
	})
	e.send(t, "one", object{"x-ahp": "view/1", "type": "invoke", "id": "7", "action": "add", "input": object{"n": 41}})
	if got := e.message(t, func(p any) bool { return isView(p, "result") }).(object); got["value"].(object)["sum"] != 42.0 {
		t.Errorf("the action's answer: %v", got)
	}
	e.send(t, "one", "nest")
	e.message(t, func(p any) bool {
		if p == "nested" {
			t.Error("a nested frame spoke for the canvas")
		}
		return p == "after the nested frame"
	})
}

// TestPlainDocumentEnds: a document without canvas.js that is left takes no more
// actions, and the next one can be one with canvas.js, which receives no plain messages.
func TestPlainDocumentEnds(t *testing.T) {
	next := `<!doctype html><script type="module">
		import { onAction, onMessage, send } from "/.ahp/canvas.js";
		let plain = 0;
		addEventListener("message", ({ data }) => { if (data?.type === "canvas/message") plain++; });
		onAction("add", () => "next");
		onMessage((m) => setTimeout(() => send({ got: m, plain })));
	</script>`
	e := start(t, nil, site{id: "one", files: map[string]string{"index.html": plainDocument + `<a href="still.html">still</a>`,
		"still.html": `<!doctype html><a href="next.html">next</a>`, "next.html": next}})
	p := webtest.Start(t).Open(t, e.link)
	e.message(t, func(p any) bool { return isView(p, "hello") })
	frame := shown(t, p, 1)[0]
	webtest.Eval[any](t, frame, document+`.querySelector("a").click()`)
	e.message(t, func(p any) bool { return isView(p, "bye") })
	frame.Wait(t, document+`.querySelector("a")?.textContent === "next"`)
	webtest.Eval[any](t, frame, document+`.querySelector("a").click()`)
	e.message(t, func(p any) bool { return isView(p, "hello") })
	e.send(t, "one", "two")
	got := e.message(t, func(p any) bool { m, _ := p.(object); return m["got"] == "two" }).(object)
	if got["plain"] != 0.0 {
		t.Errorf("a document with canvas.js received %v plain messages", got["plain"])
	}
}
