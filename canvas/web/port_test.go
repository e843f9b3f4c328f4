package web_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// portKit is a Bridge in the page, driven like by a worker or a hostile page: got is
// what the worker received, went what reached the HTTPConn.
const portKit = `
	const { Bridge } = await import("/bridge.js");
	const went = [], got = [], calls = [];
	const conn = {
		open: true,
		request: (request, listener) => { went.push(["request", request.method, request.path, request.length ?? "", request.data?.length ?? ""].join(" ").trim()); const c = { request, listener, upload: request.length !== undefined, complete: request.data !== undefined }; calls.push(c); return c; },
		body: (c, bytes) => went.push("body " + bytes.length), bodyEnd: (c) => { c.complete = true; went.push("end"); },
		credit: (c, n) => went.push("credit " + n), cancel: (c, why) => went.push("cancel " + why),
	};
	let http = true, gate;
	const bridge = new Bridge(conn, { http: () => http, read: async (path) => { went.push("read " + path); await gate; return { type: "text/plain", body: new ArrayBuffer(3) }; } });
	const worker = () => { const { port1, port2 } = new MessageChannel(); port2.onmessage = ({ data: m }) => got.push([m.t, m.id, m.status ?? "", m.n ?? "", m.chunks?.map((c) => c.byteLength).join("+") ?? ""].join(" ").replace(/ +/g, " ").trim()); bridge.connect(port1); return port2; };
	const turn = () => new Promise((r) => setTimeout(r, 30));
	let w = worker();
	const ask = (id, more) => w.postMessage({ t: "ask", id, method: "GET", path: "/x", headers: [], ...more });
	const say = (...m) => m.forEach((one) => w.postMessage(one));
`

// TestPort: how requests are routed, and that no message of a worker exceeds its
// limits.
func TestPort(t *testing.T) {
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	for _, tt := range []struct {
		name, does, went, got string
	}{
		{"a script is read", `ask(1, { read: true })`, "read /x", "whole 1"},
		{"a document is asked for", `ask(1, { document: true })`, "request GET /x", ""},
		{"without http/1 a document is read", `http = false; ask(1, { document: true })`, "read /x", "whole 1"},
		{"without http/1 anything else is refused in words", `http = false; ask(1, { method: "POST" }); ask(2, { headers: [["range", "bytes=0-"]] }); ask(3, { events: true })`, "", "words 1 501,words 2 501,words 3 501"},
		{"only a GET without a range is read", `ask(1, { read: true, method: "POST" }); ask(2, { read: true, headers: [["range", "bytes=0-"]] }); ask(3, { read: true, events: true })`, "request POST /x,request GET /x,request GET /x", ""},
		{"invalid requests", `say(null, 7, {}, { t: "ask" }, { t: "ask", id: "1" }); ask(1, { path: "x" }); ask(2, { path: 3 }); ask(3, { method: 4 }); say({ t: "data", id: 9 }, { t: "more", id: 9, n: 1 }, { t: "cancel", id: 9 })`, "", ""},
		{"an invalid method", `ask(1, { method: "A".repeat(33) }); ask(2, { method: "" }); ask(3, { method: "G T" }); ask(4, { method: "M-SEARCH" })`, "request M-SEARCH /x", "words 1 405,words 2 405,words 3 405"},
		{"invalid headers", `ask(1, { headers: [["a", "b\nc"]] }); ask(2, { headers: "a" }); ask(3, { headers: [["a", "b".repeat(17_000)]] })`, "", "words 1 431,words 2 431,words 3 431"},
		{"a long address", `ask(1, { path: "/" + "x".repeat(9000) }); ask(2, { path: "/" + "x".repeat(5000), read: true }); ask(3, { path: "/ü" })`, "", "words 1 414,words 2 414,words 3 414"},
		{"a backslash is encoded", `ask(1, { path: "/?a=\\b" })`, "request GET /?a=%5Cb", ""},
		{"no connection", `conn.open = false; ask(1)`, "", "words 1 503"},
		{"a body with its head", `ask(1, { method: "POST", length: 3, bytes: new ArrayBuffer(3) })`, "request POST /x 3 3", ""},
		{"a body in pieces", `ask(1, { method: "POST", length: 5 }); say({ t: "data", id: 1, bytes: new ArrayBuffer(5) }, { t: "end", id: 1 })`, "request POST /x 5,body 5,end", "more 1 262144"},
		{"a body that claims to be whole", `ask(1, { method: "POST", length: 9, bytes: new ArrayBuffer(3) })`, "request POST /x 9", "more 1 262144"},
		{"a chunk that is too long", `ask(1, { length: 5 }); say({ t: "data", id: 1, bytes: new ArrayBuffer(40_000) })`, "request GET /x 5,cancel abort", "more 1 262144,words 1 400"},
		{"a body that runs ahead", `ask(1, { length: 5 }); for (let i = 0; i < 9; i++) say({ t: "data", id: 1, bytes: new ArrayBuffer(32768) })`,
			"request GET /x 5,body 32768,body 32768,body 32768,body 32768,body 32768,body 32768,body 32768,body 32768,cancel abort", "more 1 262144,words 1 400"},
		{"a body after its end", `ask(1, { length: 5 }); say({ t: "end", id: 1 }, { t: "data", id: 1, bytes: new ArrayBuffer(1) })`, "request GET /x 5,end,cancel abort", "more 1 262144,words 1 400"},
		{"credit for what never came", `ask(1); await turn(); calls[0].listener.data(new Uint8Array(5)); say({ t: "more", id: 1, n: 1e9 }, { t: "more", id: 1, n: 1 }, { t: "more", id: 1, n: -1 }, { t: "more", id: 1, n: "1" })`, "request GET /x,credit 5", "data 1 5"},
		{"cancel", `ask(1); say({ t: "cancel", id: 1 }, { t: "cancel", id: 1 })`, "request GET /x,cancel abort", ""},
		{"a new worker cancels the old one's requests, and a POST is not sent again", `ask(1, { method: "POST" }); ask(2); await turn(); w = worker(); ask(1, { method: "POST" }); ask(2); ask(3, { method: "POST" })`,
			"request POST /x,request GET /x,cancel gone,cancel gone,request GET /x,request POST /x", "words 1 502"},
		{"a POST that was answered can be sent again", `ask(1, { method: "POST" }); await turn(); calls[0].listener.head(200, "", [], false); w = worker(); ask(1, { method: "POST" })`, "request POST /x,cancel gone,request POST /x", "head 1 200"},
		{"reads are limited", `gate = new Promise(() => {}); for (let i = 1; i <= 130; i++) ask(i, { read: true }); await turn(); went.length = 1`, "read /x", "words 129 429,words 130 429"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := webtest.Eval[[]string](t, p, fmt.Sprintf(`(async () => { %s; %s; await turn(); return [went.join(), got.join()]; })()`, portKit, tt.does))
			if diff := cmp.Diff([]string{tt.went, tt.got}, got); diff != "" {
				t.Errorf("what reached the HTTPConn, and the worker (-want +got):\n%s", diff)
			}
		})
	}
}
