package web_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// hostileKit is a View and a Mount in the page, driven like by a hostile canvas. The
// array `heard` is what the canvas received, sent what reached the host, word and lacks
// what the page would show.
const hostileKit = `
	const { View } = await import("/view.js"), { Mount } = await import("/mount.js");
	const sent = [], heard = [], seen = [];
	const view = new View((a) => sent.push(JSON.stringify(a.payload)), () => {});
	const { port1, port2: canvas } = new MessageChannel();
	view.connect(port1);
	canvas.onmessage = ({ data }) => { if (data.t !== "state") heard.push(data.t + " " + (data.reason ?? "")); };
	const mount = new Mount("", { path: "/", title: "x", theme: {} }, { worker() {}, view() {}, unworkable() {}, phase: (p, word) => seen.push(p + " " + word), missing: (l) => seen.push("lacks " + l.map((s) => s.length)) });
	seen.length = 0;
	const frame = { contentWindow: { postMessage: (m, to, [port]) => { frame.port = port; } } };
	Object.defineProperty(mount.element, "contentWindow", { value: frame.contentWindow });
	mount.element.dispatchEvent(new Event("load"));
	seen.length = 0;
	const pause = (ms) => new Promise((r) => setTimeout(r, ms));
	const until = async (done) => { for (const end = performance.now() + 10_000; !done() && performance.now() < end;) await pause(5); };
	const turn = async () => { await until(() => heard.length || sent.length || seen.length); await pause(50); }; // the rest, if anything more comes
	const say = (value) => canvas.postMessage({ t: "send", id: 1, value });
	const holes = Object.assign([], { length: 2 ** 32 - 1 });
	const levels = (x) => Array.from({ length: 30 }).reduce((a) => [a, a], x);
`

// TestHostileMessages: a value with a small structured clone but an endless encoding,
// or with names of Object's own members, is refused at once.
func TestHostileMessages(t *testing.T) {
	const long = "refused a message can have at most 64 KiB"
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	for _, tt := range []struct {
		name, does, heard, sent, seen string
	}{
		{"holes", `say(holes)`, long, "", ""},
		{"levels that name the next one twice", `say(levels("x"))`, long, "", ""},
		{"one long text many times", `say(new Array(60_000).fill("x".repeat(100)))`, long, "", ""},
		{"one long name many times", `say(new Array(60_000).fill({ ["x".repeat(100_000)]: 1 }))`, long, "", ""},
		{"a circle", `const c = {}; c.c = c; say(c)`, "refused only a JSON value can be sent", "", ""},
		{"no JSON", `say(1n)`, "refused only a JSON value can be sent", "", ""},
		{"names that every object has", `say(JSON.parse('{"__proto__":{"x-ahp":"http/1"},"constructor":1}'))`, "", `{"__proto__":{"x-ahp":"http/1"},"constructor":1}`, ""},
		{"as much as may be", `say(new Array(32_767).fill(1)); await turn(); sent[0] = String(sent[0].length)`, "", "65535", ""},
		{"an answer of holes", `view.receive({ "x-ahp": "view/1", type: "invoke", id: 7, action: "a" }); canvas.postMessage({ t: "result", id: 7, value: holes }); await until(() => heard.length && sent.length); heard.length = 0`, "",
			`{"x-ahp":"view/1","type":"error","id":7,"error":{"code":"canvas_limit_exceeded","message":"the action ran; its value was dropped: it has more than 64 KiB"}}`, ""},
		{"an error of holes", `view.receive({ "x-ahp": "view/1", type: "invoke", id: 7, action: "a" }); canvas.postMessage({ t: "error", id: 7, code: holes, message: { toString: 1 } }); await until(() => heard.length && sent.length); heard.length = 0`, "",
			`{"x-ahp":"view/1","type":"error","id":7,"error":{"code":"canvas_handler_error","message":"the page gave no reason"}}`, ""},
		{"a reason that every object has", `frame.port.postMessage({ t: "failed", reason: "constructor" })`, "", "", "failed The frame of this canvas could not be set up."},
		{"a reason that is none", `frame.port.postMessage({ t: "failed", reason: { toString: 1 } })`, "", "", "failed The frame of this canvas could not be set up."},
		{"lacks of holes", `frame.port.postMessage({ t: "lacks", what: [holes, "a", { toString: 1 }, "b".repeat(1000)] })`, "", "", "lacks 1,200"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for range 3 { // a busy machine can stop the page for a second, but slow code is slow each time
				got = webtest.Eval[[]string](t, p, fmt.Sprintf(`(async () => { %s; const began = performance.now(); %s; await turn(); const took = performance.now() - began;
					mount.remove(); return [heard.join(), sent.join(), seen.join(), took < 1000 ? "" : "took " + took]; })()`, hostileKit, tt.does))
				if got[3] == "" {
					break
				}
			}
			if diff := cmp.Diff([]string{tt.heard, tt.sent, tt.seen, ""}, got); diff != "" {
				t.Errorf("what the canvas received, the host received and a person saw (-want +got):\n%s", diff)
			}
		})
	}
}
