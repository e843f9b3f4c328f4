package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// connKit tests an HTTPConn in the page: `sent` is what it sent, `heard` what its
// callers received.
const connKit = `
	const { HTTPConn } = await import("/http.js");
	const sent = [], heard = [];
	const conn = new HTTPConn(({ payload }) => sent.push(JSON.parse(JSON.stringify(payload))));
	conn.reset(true);
	const ask = (more = {}) => {
		const at = heard.push([]) - 1, say = (...what) => { heard[at].push(what.join(" ")); };
		return conn.request({ method: "GET", path: "/", headers: [], ...more }, {
			head: (status, text, headers, empty) => say("head", status, text, headers.length, empty),
			data: (bytes) => say("data", bytes.length), end: () => say("end"), fail: (status) => say("fail", status), sent: (n) => say("sent", n),
		});
	};
	const host = (type, id, more = {}) => conn.receive({ "x-ahp": "http/1", type, id, ...more });
	const base64 = (n) => new Uint8Array(n).toBase64();
	const head = (id, more = {}) => host("response", id, { status: 200, headers: [], ...more });
	const words = () => sent.map((m) => [m.type, m.id, m.seq ?? "", m.end ? "end" : "", m.data ? atob(m.data).length : "", m.bytes ?? "", m.lane ?? "", m.reason ?? ""].join(" ").replace(/ +/g, " ").trim());
`

// TestHTTPConn: ids, order, windows and limits of the page's side of http/1, and its
// reaction to a host that violates the protocol (canvas/bridge/PROTOCOL.md).
func TestHTTPConn(t *testing.T) {
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	const broken = "head 200  0 false,fail 502"
	for _, tt := range []struct {
		name, does, sent, heard string
	}{
		{"one message each way", `ask(); head(1, { statusText: "OK", headers: [["a", "b"]], end: true, data: base64(2) })`, "request 1 end", "head 200 OK 1 false,data 2,end"},
		{"data before the head", `ask(); host("data", 1, { seq: 0, data: base64(1) })`, "request 1 end,cancel 1 protocol", "fail 502"},
		{"a second head", `ask(); head(1); head(1)`, "request 1 end,cancel 1 protocol", broken},
		{"a number that is not next", `ask(); head(1); host("data", 1, { seq: 1, data: base64(1) })`, "request 1 end,cancel 1 protocol", broken},
		{"no base64", `ask(); head(1); host("data", 1, { seq: 0, data: "*=?=" })`, "request 1 end,cancel 1 protocol", broken},
		{"a chunk that is too long", `ask(); head(1); host("data", 1, { seq: 0, data: base64(48_001) })`, "request 1 end,cancel 1 protocol", broken},
		{"a chunk as long as was asked for", `ask(); head(1); host("data", 1, { seq: 0, data: base64(sent[0].chunk) })`, "request 1 end", "head 200  0 false,data 48000"},
		{"a body where none may be", `ask(); head(1, { status: 204, data: base64(1) })`, "request 1 end,cancel 1 protocol", "head 204  0 true,fail 502"},
		{"no status", `ask(); head(1, { status: 99 })`, "request 1 end,cancel 1 protocol", "fail 502"},
		{"headers that are none", `ask(); head(1, { headers: [["a", "b\nc"]] })`, "request 1 end,cancel 1 protocol", "fail 502"},
		{"giant headers", `ask(); head(1, { headers: [["a", "b".repeat(17_000)]] })`, "request 1 end,cancel 1 protocol", "fail 502"},
		{"more than the window", `ask(); head(1); for (let i = 0; i < 17; i++) host("data", 1, { seq: i, data: base64(32768) })`,
			"request 1 end,credit 0 262144,credit 0 262144,cancel 1 protocol", "head 200  0 false" + strings.Repeat(",data 32768", 16) + ",fail 502"},
		{"after the end", `ask(); head(1, { end: true }); host("data", 1, { seq: 0, data: base64(1) }); head(1)`, "request 1 end", "head 200  0 false,end"},
		{"an unknown id", `head(7); host("error", 8, { status: 500 }); host("data", 9, { seq: 0, data: base64(1) }); host("wonder", 1)`, "", ""},
		{"an error before the head", `ask(); host("error", 1, { status: 504, code: "timeout", message: "too late" })`, "request 1 end", "fail 504"},
		{"an error of no status", `ask(); host("error", 1, { status: "x" })`, "request 1 end", "fail 502"},
		{"an error in the body", `ask(); head(1); host("error", 1, { status: 502, code: "broken", message: "cut" })`, "request 1 end", broken},
		{"bytes of unknown requests count for the connection", `for (let i = 0; i < 9; i++) host("data", 5, { seq: i, data: base64(32768) })`, "credit 0 262144", ""},
		{"read bytes are credited, with the connection's", `const c = ask(); head(1); for (let i = 0; i < 4; i++) host("data", 1, { seq: i, data: base64(32768) }); conn.credit(c, 131072); conn.credit(c, 1)`,
			"request 1 end,credit 1 131072 131072", "head 200  0 false" + strings.Repeat(",data 32768", 4)},
		{"no credit after the end", `const c = ask(); head(1, { data: base64(9), end: true }); conn.credit(c, 9)`, "request 1 end", "head 200  0 false,data 9,end"},
		{"a body with its head", `ask({ method: "POST", length: 5, data: new Uint8Array(5) })`, "request 1 end 5", ""},
		{"a body in pieces", `const c = ask({ method: "POST", length: 5 }); conn.body(c, new Uint8Array(3)); conn.body(c, new Uint8Array(2)); conn.bodyEnd(c)`,
			"request 1,body 1 0 3,body 1 1 2,body 1 2 end", "sent 3,sent 2,sent 0"},
		{"a body waits for the connection, and its last chunk has the end", `const c = ask({ length: 1 }); for (let i = 0; i < 17; i++) conn.body(c, new Uint8Array(32768)); conn.bodyEnd(c); sent.splice(0, 16); host("grant", 1, { bytes: 32768 }); host("grant", 0, { lane: 32768 })`,
			"body 1 15 32768,body 1 16 end 32768", strings.Repeat("sent 32768,", 16) + "sent 32768"},
		{"bodies take turns", `const a = ask({ length: 1 }), b = ask({ length: 1 }); for (let i = 0; i < 17; i++) conn.body(a, new Uint8Array(32768)); conn.body(b, new Uint8Array(8)); conn.body(b, new Uint8Array(8)); sent.length = 0; host("grant", 1, { bytes: 65536, lane: 32776 })`,
			"body 1 16 32768,body 2 0 8", strings.Repeat("sent 32768,", 16) + "sent 32768|sent 8"},
		{"33 uploads, and a read overtakes the last", `for (let i = 0; i < 33; i++) ask({ length: 9 }); ask(); sent.splice(0, 31)`, "request 32,request 33 end", strings.Repeat("|", 33)},
		{"257 requests", `for (let i = 0; i < 257; i++) ask(); sent.splice(0, 256); host("error", 9, { status: 502 }); heard.splice(0, 8); heard.splice(1)`, "request 257 end", "fail 502"},
		{"cancel", `const c = ask(); head(1); conn.cancel(c, "abort"); host("data", 1, { seq: 0, data: base64(1) })`, "request 1 end,cancel 1 abort", "head 200  0 false"},
		{"a connection that ends", `ask(); ask(); head(2); conn.reset(false); head(1); conn.reset(true); head(2); ask()`, "request 1 end,request 2 end,request 3 end", "fail 503|head 200  0 false,fail 503|"},
		{"refused by the host", `const c = ask({ length: 9 }); conn.body(c, new Uint8Array(9)); conn.refused(sent[1], "stale"); conn.refused({ type: "credit", id: 1, lane: 262143 }, "stale"); host("data", 5, { data: base64(1) })`,
			"request 1,body 1 0 9,cancel 1 abort,credit 0 262144", "sent 9,fail 503"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := webtest.Eval[[]string](t, p, fmt.Sprintf(`(async () => { %s; %s; return [words().join(), heard.map((h) => h.join()).join("|")]; })()`, connKit, tt.does))
			if diff := cmp.Diff([]string{tt.sent, tt.heard}, got); diff != "" {
				t.Errorf("sent, and received (-want +got):\n%s", diff)
			}
		})
	}
}
