package web_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestFlood: a body that is not read stops its sender, and a fast one does not delay a
// neighbor's events.
func TestFlood(t *testing.T) {
	webtest.InShort(t)
	bad, good := newApp(t), liveApp(t)
	e := start(t, nil, appSite("bad", bad), appSite("good", good))
	p := webtest.Start(t).Open(t, e.link)
	frames := shown(t, p, 2)
	at := slices.IndexFunc(frames, func(f *webtest.Page) bool { return webtest.Eval[string](t, f, "document.title") == "App bad" })
	floods, calm := frames[at], frames[1-at]
	inCanvas[any](t, calm, `location.href = "/live"`)
	calm.Wait(t, win+`.log?.includes('from ""')`)

	inCanvas[any](t, floods, `window.r = (await fetch("/flood")).body.getReader(); await r.read()`)
	var before int
	for now := -1; now != before || now == 0; { // until it has stopped
		before = now
		calm.WaitAtMost(200*time.Millisecond, "false")
		bad.mu.Lock()
		now = bad.flooded()
		bad.mu.Unlock()
	}
	t.Logf("a body that is not read stopped its sender after %.1f MB", float64(before)/1e6)
	if before > 12<<20 {
		t.Errorf("%d bytes of a body that is not read were sent", before)
	}

	lag := func() float64 {
		var took []float64
		for i := range 20 {
			sent := float64(time.Now().UnixMicro())
			good.say(fmt.Sprintf("event: tick\ndata: %d\n\n", i))
			calm.Wait(t, fmt.Sprintf(`%s.heard[%d]`, win, i))
			took = append(took, (webtest.Eval[float64](t, calm, fmt.Sprintf(`%s.heard[%d]`, win, i))-sent)/1000)
			webtest.Eval[any](t, calm, win+`.heard.length = 0; void 0`)
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	quiet := lag()
	inCanvas[any](t, floods, `window.n = 0; (async () => { for (;;) n += (await r.read()).value.length })(); return 0`)
	loud := lag()
	read := webtest.Eval[float64](t, floods, win+`.n`)
	t.Logf("a neighbor's event arrives after %.1f ms, and after %.1f ms beside a flood of %.0f MB", quiet, loud, read/1e6)
	if loud > 100 {
		t.Errorf("a flood delays its neighbor's event by %.0f ms", loud)
	}
	inCanvas[any](t, floods, `r.cancel()`)
	bad.end(t)
}

// TestParallel: many requests run concurrently.
func TestParallel(t *testing.T) {
	webtest.InShort(t)
	a := newApp(t)
	_, _, frame := showApp(t, a)
	inCanvas[any](t, frame, `for (let i = 0; i < 20; i++) fetch("/hang").catch(() => {}); fetch("/flood").then((r) => { window.r = r; });`)
	got := inCanvas[[]float64](t, frame, `const t = performance.now();
		const all = await Promise.all(Array.from({ length: 200 }, (_, i) => fetch("/echo?" + i).then((r) => r.json())));
		return [performance.now() - t, all.filter((r, i) => r.query === String(i)).length]`)
	t.Logf("200 requests took %.0f ms", got[0])
	if got[1] != 200 {
		t.Errorf("%v of 200 requests were answered with their own answer", got[1])
	}
}

// TestSixCanvases: as many apps side by side as a page mounts, each with its page and
// event stream.
func TestSixCanvases(t *testing.T) {
	webtest.InShort(t)
	const n = 6
	apps, sites := make([]*app, n), make([]site, n)
	for i := range n {
		apps[i] = newApp(t)
		apps[i].page("/p", fmt.Sprintf(`<title>Nr %d</title><p id=said></p><script>new EventSource("/events").onmessage = (e) => { document.getElementById("said").textContent += e.data + ";" }</script>`, i))
		sites[i] = appSite(fmt.Sprintf("c%d", i), apps[i])
	}
	e := start(t, nil, sites...)
	began := time.Now()
	p := webtest.Start(t).Open(t, e.link)
	frames := shown(t, p, n)
	for _, f := range frames {
		inCanvas[any](t, f, `location.href = "/p"`)
	}
	for _, f := range frames {
		f.Wait(t, document+`.getElementById("said")?.textContent === 'from "";'`)
	}
	t.Logf("six canvases and their streams were there after %d ms", time.Since(began).Milliseconds())
	for i, a := range apps {
		a.say(fmt.Sprintf("data: %d\n\n", i))
	}
	for _, f := range frames {
		f.Wait(t, `(`+document+`.getElementById("said").textContent) === 'from "";' + `+document+`.title.slice(3) + ";"`)
	}
}

// TestDownload measures a body of 20 MB through the channel and direct.
func TestDownload(t *testing.T) {
	const size = 20_000_000
	rounds := 3
	if os.Getenv("AHP_LONG") == "1" {
		rounds = 9
	}
	a := newApp(t)
	a.page("/x", `<title>x</title>`)
	e := start(t, nil, appSite("one", a), site{id: "direct", title: "Direct", url: a.URL + "/x"})
	p := webtest.Start(t).Open(t, e.link)
	direct := p.Frames(t, 1, webtest.At(a.URL))[0]
	p.Wait(t, `[...document.querySelectorAll(".card .words")].every((w) => w.hidden)`)
	frame := p.Frames(t, 1, webtest.ContentFrame)[0]
	for _, watched := range []*webtest.Page{p, direct, frame} {
		watched.DisableNetworkEvents(t)
	}
	down := fmt.Sprintf(`const t = performance.now(); const n = (await (await fetch("/bytes?n=%d")).arrayBuffer()).byteLength; return n === %d ? performance.now() - t : -1`, size, size)
	up := fmt.Sprintf(`const b = new Uint8Array(%d); const t = performance.now(); const n = (await (await fetch("/echo", { method: "POST", body: b })).json()).size; return n === b.length ? (performance.now() - t) * 5 : -1`, size/5)
	for name, body := range map[string]string{"down": down, "up": up} {
		var bridged, plain []float64
		for range rounds {
			bridged = append(bridged, inCanvas[float64](t, frame, body))
			plain = append(plain, webtest.Eval[float64](t, direct, "(async () => {"+body+"})()"))
		}
		slices.Sort(bridged)
		slices.Sort(plain)
		if bridged[0] < 0 || plain[0] < 0 {
			t.Fatalf("%s: not all bytes came", name)
		}
		b, d := bridged[rounds/2], plain[rounds/2]
		t.Logf("20 MB %s: %.0f MB/s, direct %.0f MB/s: x %.2f", name, size/b/1000, size/d/1000, d/b)
	}
}

// TestMedia: videos are loaded by ranges, and so can be other requests.
func TestMedia(t *testing.T) {
	a := newApp(t)
	body := pattern(300_000)
	a.HandleFunc("/media", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "video/mp4")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(body)))
	})
	_, _, frame := showApp(t, a)
	got := inCanvas[string](t, frame, `const r = await fetch("/media", { headers: { Range: "bytes=100-163" } }); return [r.status, r.headers.get("content-range"), r.headers.get("content-length"), await r.text()].join("|")`)
	if want := "206|bytes 100-163/300000|64|" + string(body[100:164]); got != want {
		t.Errorf("a range: %q, want %q", got, want)
	}
	inCanvas[any](t, frame, `const v = document.createElement("video"); v.src = "/media"; document.body.append(v); await new Promise((r) => { v.onerror = r; });`)
	if n := a.requests("GET /media"); n != 2 {
		t.Errorf("the app was asked %d times, want twice", n)
	}
}
