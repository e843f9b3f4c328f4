package appview_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/onefile"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

const syncs = `chat.log.calls.filter((c) => c.name === "canvas_view_sync")`

// TestPace: in a chat that runs calls side by side a View polls long once it knows that, and
// in one that runs one at a time it does not.
func TestPace(t *testing.T) {
	t.Parallel()
	c := newChats(t)
	b := webtest.Start(t)
	p := c.chat(t, b, nil)
	open(t, p, object{"canvasId": "board", "instanceId": "plan"})
	p.Wait(t, syncs+`.some((c) => c.args.wait === 20)`)
	if got := webtest.Eval[string](t, p, `(() => { const all = `+syncs+`, long = all.findIndex((c) => c.args.wait === 20), probe = all.findIndex((c) => c.args.wait === 0 && c.took);
		return [all[0].args.wait, probe >= 0 && probe < long, all.every((c) => [0, 2, 20].includes(c.args.wait))].join(); })()`); got != "2,true,true" {
		t.Errorf("the first calls: %s", got)
	}
	serial := c.chat(t, b, object{"serial": true})
	open(t, serial, object{"canvasId": "board", "instanceId": "plan"})
	serial.Wait(t, syncs+`.filter((c) => c.args.wait === 0 && !c.args.say && c.took).length >= 4`)
	if got := webtest.Eval[string](t, serial, `(() => { const all = `+syncs+`; const polls = all.filter((c) => c.args.wait === 0 && !c.args.say).slice(1);
		return [all.every((c) => (c.args.wait ?? 0) <= 2), polls.every((c, i) => i === 0 || c.at - polls[i - 1].at > 900)].join(); })()`); got != "true,true" {
		t.Errorf("in a chat that runs one call at a time: %s; %s", got, webtest.Eval[string](t, serial, `JSON.stringify(`+syncs+`.map((c) => [Math.round(c.at), c.args.wait]))`))
	}
}

// TestUnseen: a View that no person sees says bye and makes no calls; seen again it is attached
// as a new one, and shows what happened meanwhile.
func TestUnseen(t *testing.T) {
	t.Parallel()
	c := newChats(t)
	p := c.chat(t, webtest.Start(t), nil)
	open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}})
	f := inner(t, p)
	f.Wait(t, `document.body.textContent.includes("Todo")`)
	webtest.Eval[any](t, p, `void (chat.views[0].box.style.marginTop = "9000px")`)
	p.Wait(t, syncs+`.some((c) => c.args.bye)`)
	c.agentDoes(t, "plan", "add_card", `{"list":"Todo","title":"Meanwhile"}`)
	const calls = `chat.log.calls.slice(chat.log.calls.findIndex((c) => c.args.bye) + 1)`
	if got := webtest.Eval[int](t, p, calls+`.length`); got != 0 {
		t.Errorf("%d calls of a View that is not seen", got)
	}
	webtest.Eval[any](t, p, `void (chat.views[0].box.style.marginTop = "")`)
	f.Wait(t, `document.body.textContent.includes("Meanwhile")`)
	if got := webtest.Eval[bool](t, p, `(() => { const [first] = `+calls+`, old = chat.log.calls[0].args.view; return first.name === "canvas_view_read" && first.args.view !== old; })()`); !got {
		t.Error("the View was not attached again")
	}
	clean(t, p)
}

// TestRestart: after a restart of the host a View attaches by the same ticket, and does not
// load the document again.
func TestRestart(t *testing.T) {
	t.Parallel()
	store, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "store"), sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	opts := host.Options{Document: onefile.Document, Store: store, TicketKey: []byte("a key that lasts"), AgentToken: "an-agent-token-of-a-test-0123456789", ViewToken: "a-view-token-of-a-test-0123456789"}
	first, err := host.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	c := chatsOf(t, first)
	p := c.chat(t, webtest.Start(t), object{"reconnect": true})
	open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}})
	f := inner(t, p)
	f.Wait(t, `document.body.textContent.includes("Todo")`)
	webtest.Eval[any](t, f, `void (globalThis.mark = 1)`)
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	second, err := host.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Add(board.New()); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(c.link)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", strings.Replace(at.Host, "localhost", "127.0.0.1", 1))
	if err != nil {
		t.Fatal(err)
	}
	hosttest.ServeOn(t, second, ln)
	if _, err := second.Canvases().Invoke(t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "plan", ActionName: "add_card", Input: ahp.Value(`{"list":"Todo","title":"After"}`)}); err != nil {
		t.Fatal(err)
	}
	if !f.WaitAtMost(webtest.Timeout, `document.body.textContent.includes("After")`) {
		t.Fatalf("the View did not reconnect: %s", webtest.Eval[string](t, p, `JSON.stringify(chat.log.calls.slice(-8).map((c) => [c.name, c.args.view, c.args.wait]))`))
	}
	if !webtest.Eval[bool](t, f, `globalThis.mark === 1`) {
		t.Error("the document was loaded again")
	}
}

// kit is a canvas whose page uses what a page has.
type kit struct {
	nothing
	elsewhere string
}

func (k kit) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	switch req.Path.String() {
	case "/":
		return canvas.Content{ContentType: "text/html", Data: []byte(`<!doctype html><title>Kit</title><body><a href="sub/second.html?x=1">Second</a><script type="module">
			import { offerLink, onTheme } from "/.ahp/canvas.js";
			onTheme((t) => { document.body.dataset.locale = t.locale; });
			document.body.dataset.rtc = [typeof RTCPeerConnection, typeof webkitRTCPeerConnection];
			globalThis.offer = (url) => offerLink(url).then((o) => { document.body.dataset.offer = o; }, (err) => { document.body.dataset.offer = err.message; });
			globalThis.outcome = Promise.all([fetch("/data.json").then((r) => r.json()), fetch("big.bin").then((r) => r.arrayBuffer()), fetch("/absent"), fetch("` + k.elsewhere + `").catch(() => "blocked"), fetch("/data.json", { method: "POST", body: "x" })])
				.then(([data, big, absent, away, posted]) => [data.n, big.byteLength, new Uint8Array(big).every((b, i) => b === i % 251), absent.status, away, posted.status].join());
		</script>`)}, nil
	case "/sub/second.html":
		return canvas.Content{ContentType: "text/html", Data: []byte(`<!doctype html><title>Second</title><p>The second page`)}, nil
	case "/data.json":
		return canvas.Content{ContentType: "application/json", Data: []byte(`{"n":7}`)}, nil
	case "/big.bin":
		big := make([]byte, 600_000)
		for n := range big {
			big[n] = byte(n % 251)
		}
		return canvas.Content{ContentType: "application/octet-stream", Data: big}, nil
	}
	return canvas.Content{}, ahp.ErrNotFound
}

// TestPageKit: in a chat a page reads its own files, and only those; a link that it offers is
// opened after a person's click, and one to a document of the canvas shows that; theme, fonts
// and locale are the chat's, and no font is loaded from elsewhere. There is no WebRTC, which
// no policy covers. A height that the chat fixed is not asked for again.
func TestPageKit(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer canary.Close()
	c := newChats(t, web{canvas.Opened{Instance: kit{elsewhere: canary.URL + "/fetch"}, URL: canvas.ContentURL("w", "/"), Links: true}})
	styles := object{"css": object{"fonts": `@font-face { font-family: Away; src: url("` + canary.URL + `/font.woff2") }`}, "variables": object{"--font-sans": "Away, serif"}}
	p := c.chat(t, webtest.Start(t), object{"context": object{"locale": "fr-FR", "styles": styles, "containerDimensions": object{"width": 800, "height": 300}}})
	open(t, p, object{"canvasId": "web", "instanceId": "w"})
	f := inner(t, p)
	f.Wait(t, `document.body?.dataset.locale === "fr-FR" && globalThis.outcome`)
	if got := webtest.Eval[string](t, f, `outcome`); got != "7,600000,true,404,blocked,501" {
		t.Errorf("the page read %s", got)
	}
	if got := webtest.Eval[string](t, f, `document.documentElement.style.getPropertyValue("--font-sans") + " " + document.fonts.size`); got != "Away, serif 0" {
		t.Errorf("the fonts: %s", got)
	}
	if got := webtest.Eval[string](t, f, `document.body.dataset.rtc`); got != "undefined,undefined" {
		t.Errorf("WebRTC: %s", got)
	}
	shell := shellOf(t, p)
	press := func(id string) {
		webtest.Eval[any](t, shell, inShell(`void document.getElementById("`+id+`").click()`))
	}
	for _, tt := range []struct{ link, press, want string }{
		{"https://exаmple.com/a", "drop", "dismissed"}, {"javascript:alert(1)", "", "a link must begin with https:, or with http: if it is on this machine"}, {"https://example.com/b", "take", "opened"},
	} {
		webtest.Eval[any](t, f, `void (delete document.body.dataset.offer, offer("`+tt.link+`"))`)
		if tt.press != "" {
			shell.Wait(t, inShell(`!document.getElementById("offer").hidden`))
			press("take") // too early
			if tt.press == "take" {
				save(t, "chat-offer", p)
			}
			shell.Wait(t, inShell(`(document.getElementById("`+tt.press+`").click(), document.getElementById("offer").hidden)`))
		}
		f.Wait(t, `document.body.dataset.offer === "`+tt.want+`"`)
	}
	if got := webtest.Eval[string](t, p, `chat.log.links.join()`); got != "https://example.com/b" {
		t.Errorf("opened: %s", got)
	}
	webtest.Eval[any](t, f, `void document.querySelector("a").click()`)
	p.Wait(t, `chat.log.calls.at(-1).args.path === "/sub/second.html"`)
	shell.Wait(t, inShell(`document.querySelector("iframe").srcdoc.includes("The second page")`))
	if got := webtest.Eval[int](t, p, `chat.log.sizes.length`); got != 0 {
		t.Errorf("the View asked for %d sizes", got)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests left the chat", n)
	}
}
