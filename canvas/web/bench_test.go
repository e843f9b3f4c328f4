package web_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// bareFrames measures 20 MB in WebSocket frames like the bridge's, without a bridge:
// the lower limit of 20_MB_down.
const bareFrames = `const n = await new Promise((done) => { const w = new WebSocket("/frames?n=" + size); let got = 0;
	w.onmessage = ({ data }) => { const from = data.indexOf(',"data":"') + 9; got += Uint8Array.fromBase64(data.slice(from, data.indexOf('"', from))).length; if (got >= size) { w.close(); done(got); } } });`

// frames sends ?n= bytes over a WebSocket, in frames like the bridge's.
func frames(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	socket, err := (&websocket.Upgrader{WriteBufferSize: 64 << 10}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer socket.Close()
	var frame []byte
	for piece := pattern(32 << 10); n > 0; n -= len(piece) {
		frame = append(frame[:0], `{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-canvas:/one","action":{"type":"canvas/message","payload":{"x-ahp":"http/1","type":"data","id":1,"seq":1,"data":"`...)
		frame = append(base64.StdEncoding.AppendEncode(frame, piece[:min(n, len(piece))]), `"}},"serverSeq":1}}`...)
		if socket.WriteMessage(websocket.TextMessage, frame) != nil {
			return
		}
	}
	_, _, _ = socket.ReadMessage() // until the page has closed it
}

// BenchmarkBrowser measures the cost of the channel in a real browser. Each iteration
// uses an app behind the channel and the same app framed directly by the same page, in
// turns; "ours" and "direct" are medians in MB/s and ms. The page is the host's own,
// without the tests' front. testcases/peers prints the results.
func BenchmarkBrowser(b *testing.B) {
	const size = 20_000_000
	b.Run("20_MB_down", func(b *testing.B) {
		const get = `const n = (await (await fetch("/bytes?n=" + size)).arrayBuffer()).byteLength;`
		benchTransfer(b, channelFrames, size, get, get)
	})
	b.Run("20_MB_listener", func(b *testing.B) {
		const get = `const n = (await (await fetch("/bytes?n=" + size)).arrayBuffer()).byteLength;`
		benchTransfer(b, listenerFrames, size, get, get)
	})
	b.Run("20_MB_file", func(b *testing.B) {
		const get = `const n = (await (await fetch("/pieces?n=" + size)).arrayBuffer()).byteLength;`
		benchTransfer(b, channelFrames, size, get, get)
	})
	b.Run("20_MB_frames", func(b *testing.B) {
		benchTransfer(b, channelFrames, size, `const n = (await (await fetch("/pieces?n=" + size)).arrayBuffer()).byteLength;`, bareFrames)
	})
	b.Run("20_MB_up", func(b *testing.B) {
		const post = `const n = (await (await fetch("/echo", { method: "POST", body })).json()).size;`
		benchTransfer(b, channelFrames, size, post, post)
	})
	b.Run("event", func(b *testing.B) { benchEvents(b, channelFrames) })
	b.Run("event_listener", func(b *testing.B) { benchEvents(b, listenerFrames) })
	b.Run("socket", func(b *testing.B) { benchSockets(b, channelFrames) })
	b.Run("socket_listener", func(b *testing.B) { benchSockets(b, listenerFrames) })
	b.Run("mount", benchMount)
	b.Run("open", benchOpen)
}

// pair is one app twice in one page: behind the channel, and framed directly.
type pair struct {
	app             *app
	page            *webtest.Page
	bridged, direct *webtest.Page // the outer frame, the app's own page
}

// frameWay is how the page shows an app's canvas.
type frameWay bool

const (
	channelFrames  frameWay = false // behind the channel
	listenerFrames frameWay = true  // at an address of the host's listener
)

// newPair shows an app's page in both ways.
func newPair(b *testing.B, how frameWay, a *app, path string) *pair {
	b.Helper()
	p := &pair{app: a}
	through := appSite("one", p.app)
	through.path = path
	through.path += "?bridged"
	e := startWith(b, setup{name: "localhost", direct: bool(how)}, through, site{id: "direct", title: "Direct", url: p.app.URL + path + "?direct"})
	link := e.bare
	if how == listenerFrames {
		link = e.link // whose port the gateway's addresses have
	}
	p.page = webtest.Start(b).Open(b, link)
	p.direct = p.page.Frames(b, 1, webtest.At(p.app.URL))[0]
	if how == listenerFrames {
		p.bridged = p.page.Frames(b, 1, near)[0]
		p.bridged.Wait(b, `document.querySelector("iframe")?.contentDocument?.title`)
	} else {
		p.bridged = shownOf(b, p.page, 2, 1)[0]
	}
	for _, watched := range []*webtest.Page{p.page, p.direct, p.bridged} {
		watched.DisableNetworkEvents(b)
	}
	return p
}

// benchTransfer times a script behind the channel and in the direct page. Each stores
// the number of bytes in n.
func benchTransfer(b *testing.B, how frameWay, size int, through, plain string) {
	p := newPair(b, how, startApp(b), "/x")
	timed := func(script string) string {
		return fmt.Sprintf(`const size = %d, body = new Uint8Array(size), t = performance.now(); %s return n === size ? performance.now() - t : -1`, size, script)
	}
	var bridged, direct []float64
	both := func() {
		bridged = append(bridged, inCanvas[float64](b, p.bridged, timed(through)))
		direct = append(direct, webtest.Eval[float64](b, p.direct, "(async () => {"+timed(plain)+"})()"))
	}
	both() // warm
	bridged, direct = nil, nil
	for b.Loop() {
		both()
	}
	if slices.Min(bridged) < 0 || slices.Min(direct) < 0 {
		b.Fatal("not all bytes came")
	}
	b.ReportMetric(float64(size)/at(bridged, 0.5)/1000, "ours")
	b.ReportMetric(float64(size)/at(direct, 0.5)/1000, "direct")
}

// benchEvents sends one event per iteration to each page, one after the other, so that
// they do not disturb each other. The app's timing is independent of the browser's
// frames: without the pause, an event would follow a frame at a distance set by a
// poll's timer. The page is asked before the pause whether it has painted, because a
// question behind the event would reach the thread like a direct event.
func benchEvents(b *testing.B, how frameWay) {
	p := newPair(b, how, benchApp(b), "/live")
	p.bridged.Wait(b, win+`.log?.includes('from ""')`)
	p.direct.Wait(b, `window.log?.includes('from ""')`)
	random := rand.New(rand.NewPCG(1, 2))
	var bridged, direct []float64
	for b.Loop() {
		bridged = append(bridged, p.say(b, p.bridged, "bridged", win, len(bridged), random))
		direct = append(direct, p.say(b, p.direct, "direct", "window", len(direct), random))
	}
	took := func(page *webtest.Page, times string, said []float64) []float64 {
		all := webtest.Eval[[]float64](b, page, times)
		for i := range all {
			all[i] = (all[i] - said[i]) / 1000
		}
		return all
	}
	heard, directly := took(p.bridged, win+`.heard`, bridged), took(p.direct, `heard`, direct)
	bridged, direct = took(p.bridged, win+`.painted`, bridged), took(p.direct, `painted`, direct)
	for _, q := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
		b.Logf("p%.0f: to the handler %.2f ms (direct %.2f), to the next frame %.2f ms (direct %.2f)", q*100, at(heard, q), at(directly, q), at(bridged, q), at(direct, q))
	}
	b.ReportMetric(at(bridged, 0.5), "ours")
	b.ReportMetric(at(direct, 0.5), "direct")
}

// benchSockets times an echo of 1 KiB over a WebSocket, in turns of 50 echoes: a page's clock
// has steps of 0.1 ms.
func benchSockets(b *testing.B, how frameWay) {
	a := benchApp(b)
	a.echoSockets("/socket")
	p := newPair(b, how, a, "/x")
	const echo = `globalThis.socket ??= await new Promise((done, fail) => { const s = new WebSocket(location.origin.replace("http", "ws") + "/socket"); s.binaryType = "arraybuffer"; s.onopen = () => done(s); s.onerror = fail; });
		const data = new Uint8Array(1024), began = performance.now();
		for (let i = 0; i < 50; i++) await new Promise((done) => { socket.onmessage = done; socket.send(data); });
		return (performance.now() - began) / 50;`
	var bridged, direct []float64
	both := func() {
		bridged = append(bridged, inCanvas[float64](b, p.bridged, echo))
		direct = append(direct, webtest.Eval[float64](b, p.direct, "(async () => {"+echo+"})()"))
	}
	both() // warm
	bridged, direct = nil, nil
	for b.Loop() {
		both()
	}
	b.ReportMetric(at(bridged, 0.5), "ours")
	b.ReportMetric(at(direct, 0.5), "direct")
}

// say makes the app send event i to one of the two pages, and returns the time in
// microseconds.
func (p *pair) say(b *testing.B, to *webtest.Page, query, window string, i int, random *rand.Rand) float64 {
	painted := make(chan bool)
	go func() { painted <- to.WaitAtMost(webtest.Timeout/2, fmt.Sprintf(`%s.painted[%d]`, window, i)) }()
	<-time.After(time.Duration(10_000+random.IntN(50_000)) * time.Microsecond)
	said := float64(time.Now().UnixMicro())
	p.app.tell(query, fmt.Sprintf("event: tick\ndata: %d\n\n", i))
	if !<-painted {
		b.Fatalf("event %d was not painted", i)
	}
	return said
}

// benchMount opens one more canvas per iteration in an open page: from the insertion of
// its frame to its load. direct is a frame of the app in the app's own page.
func benchMount(b *testing.B) {
	a := newApp(b)
	e := start(b, nil, appSite("one", a))
	p := webtest.Start(b).Open(b, e.bare)
	shown(b, p, 1)
	p.DisableNetworkEvents(b)
	webtest.Eval[any](b, p, `new MutationObserver((all) => { for (const m of all) for (const n of m.addedNodes) if (n.localName === "iframe") {
		const began = performance.now(), words = n.closest(".stage").querySelector(".words");
		new MutationObserver(() => { if (words.hidden) window.mounted = performance.now() - began; }).observe(words, { attributes: true });
	} }).observe(document.body, { childList: true, subtree: true }); void 0`)
	plain := webtest.Start(b).Open(b, a.URL)
	plain.DisableNetworkEvents(b)
	const insert = `new Promise((done) => { const f = document.createElement("iframe"), began = performance.now(); f.src = "/"; f.onload = () => { done(performance.now() - began); f.remove(); }; document.body.append(f); })`
	var mounts, direct []float64
	for b.Loop() {
		direct = append(direct, webtest.Eval[float64](b, plain, insert))
		id := fmt.Sprintf("more%d", len(mounts))
		webtest.Eval[any](b, p, `void(window.mounted = 0)`)
		e.open(b, appSite(id, a))
		p.Wait(b, `window.mounted`)
		mounts = append(mounts, webtest.Eval[float64](b, p, `window.mounted`))
		if err := e.host.Canvases().Close(b.Context(), host.DefaultSession, id); err != nil {
			b.Fatal(err)
		}
		p.Wait(b, `document.querySelectorAll(".card").length === 1`)
	}
	b.ReportMetric(at(mounts, 0.5), "ours")
	b.ReportMetric(at(direct, 0.5), "direct")
}

// benchOpen opens the page in a tab without a cache, until its one canvas is painted.
func benchOpen(b *testing.B) {
	e := start(b, nil, appSite("one", newApp(b)))
	var opens []float64
	for b.Loop() {
		p := webtest.Start(b).Open(b, e.bare)
		frame := shown(b, p, 1)[0]
		const paint = win + `.performance.getEntriesByName("first-contentful-paint")[0]`
		frame.Wait(b, paint)
		painted := webtest.Eval[float64](b, frame, paint+`.startTime + `+win+`.performance.timeOrigin`)
		opens = append(opens, painted-webtest.Eval[float64](b, p, `performance.timeOrigin`))
		p.Close()
	}
	b.ReportMetric(at(opens, 0.5), "ours")
}

// at returns a quantile.
func at(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
