package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// livePage receives its app's events. The arrays `heard` and `painted` hold the times of
// each event, in microseconds of the wall clock.
const livePage = `<title>Live</title><p id="said"></p><input id="typed"><script>
	const now = () => (performance.timeOrigin + performance.now()) * 1000;
	window.heard = []; window.painted = []; window.log = [];
	const source = window.source = new EventSource("/events" + location.search);
	source.onerror = () => log.push("error " + source.readyState);
	source.onopen = () => log.push("open");
	source.onmessage = (e) => { document.getElementById("said").textContent = e.data; log.push(e.data); };
	source.addEventListener("tick", ({ data }) => { heard[data] = now(); document.getElementById("said").textContent = data; requestAnimationFrame(() => { painted[data] = now(); }); });
</script>`

func liveApp(t testing.TB) *app {
	t.Helper()
	a := newApp(t)
	a.page("/live", livePage)
	return a
}

// showLive shows the live page of an app.
func showLive(t *testing.T, a *app) (*env, *webtest.Page, *webtest.Page) {
	t.Helper()
	e, p, frame := showApp(t, a)
	inCanvas[any](t, frame, `location.href = "/live"`)
	frame.Wait(t, win+`.log?.includes('from ""')`)
	webtest.Eval[any](t, frame, `void(`+document+`.getElementById("typed").value = "kept")`)
	return e, p, frame
}

// kept checks that the page was not reloaded.
func kept(t *testing.T, frame *webtest.Page) {
	t.Helper()
	if got := webtest.Eval[string](t, frame, document+`.getElementById("typed").value`); got != "kept" {
		t.Errorf("the page was loaded again: it has %q", got)
	}
}

// TestEventLatency measures the time from an app's event to the next frame, through the
// channel and direct.
func TestEventLatency(t *testing.T) {
	a := liveApp(t)
	e := start(t, nil, appSite("one", a), site{id: "direct", title: "Direct", url: a.URL + "/live"})
	p := webtest.Start(t).Open(t, e.link)
	direct := p.Frames(t, 1, webtest.At(a.URL))[0]
	p.Wait(t, `[...document.querySelectorAll(".card .words")].every((w) => w.hidden)`)
	frame := p.Frames(t, 1, webtest.ContentFrame)[0]
	inCanvas[any](t, frame, `location.href = "/live"`)
	frame.Wait(t, win+`.log?.includes('from ""')`)
	direct.Wait(t, `window.log?.includes('from ""')`)
	for _, watched := range []*webtest.Page{p, direct, frame} {
		watched.DisableNetworkEvents(t)
	}
	const rounds = 40
	sent := make([]float64, rounds)
	for i := range rounds {
		sent[i] = float64(time.Now().UnixMicro())
		a.say(fmt.Sprintf("event: tick\ndata: %d\n\n", i))
		frame.Wait(t, fmt.Sprintf(`%s.painted[%d]`, win, i))
		direct.Wait(t, fmt.Sprintf(`painted[%d]`, i))
	}
	median := func(at []float64) float64 {
		for i := range at {
			at[i] = (at[i] - sent[i]) / 1000
		}
		slices.Sort(at)
		return at[rounds/2]
	}
	heard := median(webtest.Eval[[]float64](t, frame, win+`.heard`))
	painted := median(webtest.Eval[[]float64](t, frame, win+`.painted`))
	heardDirect := median(webtest.Eval[[]float64](t, direct, `heard`))
	paintedDirect := median(webtest.Eval[[]float64](t, direct, `painted`))
	t.Logf("event to handler %.1f ms (direct %.1f, x %.1f), to the next frame %.1f ms (direct %.1f, x %.2f)",
		heard, heardDirect, heard/heardDirect, painted, paintedDirect, painted/paintedDirect)
	if painted > 100 {
		t.Errorf("an event is painted after %.1f ms, at most 100 are wanted", painted)
	}
}

// TestClick: a click's POST changes the app's state, and the app's event changes the
// page.
func TestClick(t *testing.T) {
	a := newApp(t)
	a.page("/click", `<button onclick="began = performance.now(); fetch('/count', { method: 'POST', body: '{}' })">Count</button><p id="said"></p><script>
		window.took = []; new EventSource("/events").onmessage = (e) => { document.getElementById("said").textContent = e.data; if (window.began) took.push(performance.now() - began); };</script>`)
	var count atomic.Int32
	a.HandleFunc("POST /count", func(w http.ResponseWriter, _ *http.Request) {
		a.say(fmt.Sprintf("data: %d\n\n", count.Add(1)))
		w.WriteHeader(http.StatusNoContent)
	})
	_, _, frame := showApp(t, a)
	inCanvas[any](t, frame, `location.href = "/click"`)
	frame.Wait(t, document+`.getElementById("said")?.textContent === 'from ""'`)
	const rounds = 20
	for i := range rounds {
		webtest.Eval[any](t, frame, document+`.querySelector("button").click()`)
		frame.Wait(t, fmt.Sprintf(document+`.getElementById("said").textContent === "%d"`, i+1))
	}
	took := webtest.Eval[[]float64](t, frame, win+`.took`)
	slices.Sort(took)
	t.Logf("click to POST to event to DOM: %.1f ms", took[len(took)/2])
}

// TestWorkerEnds: a browser can stop the worker at any time. The page's event stream
// reconnects in about a second with its Last-Event-ID, and the page keeps its state.
func TestWorkerEnds(t *testing.T) {
	a := liveApp(t)
	_, _, frame := showLive(t, a)
	a.say("id: 7\ndata: seven\n\n")
	frame.Wait(t, win+`.log.includes("seven")`)
	ended := time.Now()
	frame.StopWorkers(t)
	frame.Wait(t, win+`.log.includes('from "7"')`)
	t.Logf("the stream was back after %d ms: %v", time.Since(ended).Milliseconds(), webtest.Eval[[]string](t, frame, win+`.log`))
	a.say("event: tick\ndata: 1\n\n")
	frame.Wait(t, win+`.heard[1]`)
	a.say("data: plain\n\n")
	frame.Wait(t, win+`.log.at(-1) === "plain"`)
	kept(t, frame)
	// A closed stream stays closed, including its replacement.
	webtest.Eval[any](t, frame, win+`.source.close()`)
	a.end(t)
	a.end(t)
	if got := webtest.Eval[int](t, frame, win+`.source.readyState`); got != 2 {
		t.Errorf("a closed stream has state %d", got)
	}
}

// TestEventStreamEnds: the browser reopens a stream that the app ends, but not one that
// it refuses.
func TestEventStreamEnds(t *testing.T) {
	webtest.InShort(t)
	a := newApp(t)
	var asked atomic.Int32
	a.HandleFunc("/some", func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		if n == 3 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "retry: 50\nid: %d\ndata: after %q\n\n", n, r.Header.Get("Last-Event-ID"))
	})
	_, _, frame := showApp(t, a)
	inCanvas[any](t, frame, `window.got = []; const s = window.s = new EventSource("/some?x=1"); s.onmessage = (e) => got.push(e.data)`)
	frame.Wait(t, win+`.s.readyState === 2`)
	if got := webtest.Eval[string](t, frame, win+`.got.join()`); got != `after "",after "1"` {
		t.Errorf("the stream said %s", got)
	}
	if got := inCanvas[string](t, frame, `return s.url.slice(-9) + (s instanceof EventSource) + EventSource.OPEN + EventSource.name`); got != "/some?x=1true1EventSource" {
		t.Errorf("the page's EventSource looks like %s", got)
	}
}

// TestQuiet: after its head a response can be silent for any time, whether it is an
// event stream or not.
func TestQuiet(t *testing.T) {
	webtest.InShort(t)
	a := liveApp(t)
	more := make(chan bool)
	a.HandleFunc("/quiet", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-more:
			fmt.Fprint(w, "data: late\n\n")
		case <-r.Context().Done():
		}
	})
	patience := func(next http.Handler) http.Handler {
		return rewritten(next, "/.ahp/sw.js", "const TIMEOUT = 35_000;", "const TIMEOUT = 300;")
	}
	p := webtest.Start(t).Open(t, start(t, patience, appSite("one", a)).link)
	frame := shown(t, p, 1)[0]
	inCanvas[any](t, frame, `window.body = (await fetch("/quiet")).text();
		window.said = []; const s = window.s = new EventSource("/quiet?type=text/event-stream"); s.onerror = () => said.push("error"); s.onmessage = (e) => { said.push(e.data); s.close(); };
		await new Promise((r) => { s.onopen = r; });`)
	// Longer than the worker's timeout for a head.
	if got := inCanvas[int](t, frame, `await fetch("/hang"); return (await fetch("/hang")).status`); got != 504 {
		t.Fatalf("a request without a head is answered %d", got)
	}
	close(more)
	frame.Wait(t, win+`.said.length > 0`)
	if got := inCanvas[string](t, frame, `return said + " " + await body`); got != "late data: late\n\n" {
		t.Errorf("after the silence the canvas received %q", got)
	}
}

// TestStaleAndReady: while the provider is not running, the frame stays under a
// message; afterwards the page's event stream reconnects.
func TestStaleAndReady(t *testing.T) {
	a := liveApp(t)
	e, p, frame := showLive(t, a)
	e.update(t, "one", canvas.Updated{Availability: new(session.Stale)})
	p.Wait(t, `document.querySelector(".words.veil h3").textContent === "Not up to date" && document.querySelector("iframe").inert`)
	frame.Wait(t, win+`.log.at(-1) === "error 0"`)
	if got := inCanvas[string](t, frame, `const r = await fetch("/echo"); return r.status + " " + await r.text()`); got != "503 This canvas's provider is not running. Try again when it is back.\n" {
		t.Errorf("a request to what is gone: %q", got)
	}
	e.update(t, "one", canvas.Updated{Availability: new(session.Ready)})
	back := time.Now()
	frame.Wait(t, win+`.log.at(-1) === 'from ""'`)
	t.Logf("alive again after %d ms", time.Since(back).Milliseconds())
	kept(t, frame)
}

// TestOtherURL: if the url changes, the canvas is shown from the new one without a
// manual reload.
func TestOtherURL(t *testing.T) {
	a := liveApp(t)
	e, p, _ := showLive(t, a)
	webtest.Eval[any](t, p, `void (document.querySelector(".card iframe").old = true)`)
	e.update(t, "one", canvas.Updated{URL: ahp.Set(canvas.ContentURL("one", "live?token=2"))})
	p.Wait(t, `!document.querySelector(".card iframe").old && document.querySelector(".card .words").hidden`)
	after := webtest.Eval[string](t, p, `document.querySelector(".card iframe").src`)
	frame := p.Frames(t, 1, func(u *url.URL) bool { return u.String() == after })[0]
	frame.Wait(t, win+`.location.search === "?token=2" && `+win+`.log?.includes('from ""')`)
}

// TestReconnect: when the page loses its host for a moment, active requests
// fail and the event stream reconnects.
func TestReconnect(t *testing.T) {
	webtest.InShort(t)
	a := liveApp(t)
	e, p, frame := showLive(t, a)
	inCanvas[any](t, frame, `window.under = fetch("/hang", { method: "POST" }).then(async (r) => r.status + " " + await r.text());
		window.body = fetch("/flood").then((r) => { window.reader = r.body.getReader(); })`)
	frame.Wait(t, win+`.reader`)
	e.gone()
	p.Wait(t, `document.getElementById("banner").textContent.startsWith("The connection to the host is lost.")`)
	if got := inCanvas[string](t, frame, `return under`); got != "503 The connection to this canvas was lost before the app answered.\n" {
		t.Errorf("the active request: %q", got)
	}
	if got := inCanvas[string](t, frame, `for (;;) try { if ((await reader.read()).done) return "done"; } catch (e) { return e.name; }`); got != "TypeError" {
		t.Errorf("the active body ended with %s", got)
	}
	e.back(t)
	frame.Wait(t, win+`.log.at(-1) === 'from ""' && `+win+`.log.includes("error 0")`)
	kept(t, frame)
	if n := a.requests("POST /hang"); n != 1 {
		t.Errorf("the app got %d requests, want 1", n)
	}
}
