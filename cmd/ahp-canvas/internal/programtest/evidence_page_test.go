package programtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// all runs what existing canvases must do, however the page reaches their host.
func (e *evidence) all(t *testing.T) {
	for _, step := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"pages", e.pagesLoad}, {"click", e.clickPosts}, {"hot reload", e.hotReload}, {"repaint", e.eventsRepaint}, {"action", e.actionsRepaint},
		{"upload", e.filesPass}, {"resource", e.resourcesPass}, {"flood", e.floodIsSlowed}, {"killed", e.killedComesBack}, {"ten", e.tenOpen},
	} {
		if !t.Run(step.name, step.run) {
			e.screenshot(t, "failed-"+step.name)
		}
	}
}

// pagesLoad checks that every app's page is loaded, with its own resources.
func (e *evidence) pagesLoad(t *testing.T) {
	e.await(t, "Counters", `document.getElementById("title").textContent === "Counters"`)
	e.await(t, "Token", `document.getElementById("p").textContent === "1"`)
	e.await(t, "Files", `document.getElementById("file") !== null`)
	e.await(t, "pages", `[...document.querySelectorAll("a")].some((a) => a.textContent === "counter/")`)
	e.await(t, "cards", `document.title === "JSON Server" && [...document.styleSheets].some((s) => s.href?.endsWith("/style.css") && s.cssRules.length > 10)`)
	e.await(t, "live", `painted.length > 2`)
	e.await(t, "flood", `painted.length > 2`)
	e.await(t, "big", `document.body.innerText === "mine"`)
	got := in[string](t, e, "cards", `const made = await fetch("/cards", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ title: "second" }) });
		return made.status + " " + (await (await fetch("/cards?title=second")).json())[0].id`)
	if got != "201 2" {
		t.Errorf("json-server answers %s", got)
	}
	e.screenshot(t, "pages")
}

// hotReload checks that an app's WebSocket says what is new, and that messages of any size
// pass in both directions.
func (e *evidence) hotReload(t *testing.T) {
	in[any](t, e, "live", `window.versions = []; const s = window.hot = new WebSocket("/hot", "hot"); s.binaryType = "arraybuffer";
		await new Promise((ok, fail) => { s.onopen = ok; s.onclose = () => fail(new Error("the WebSocket was closed")) });
		s.onmessage = async ({ data }) => versions.push((await import("/hot.js?" + data)).version);
		await fetch("/edit", { method: "POST" })`)
	e.await(t, "live", `versions.join() === "1"`)
	got := in[string](t, e, "live", `const bytes = new Uint8Array(1 << 20).map((_, i) => i * 7);
		const back = await new Promise((ok, fail) => { hot.onmessage = ({ data }) => ok(new Uint8Array(data)); hot.onclose = () => fail(new Error("closed")); hot.send(bytes) });
		const same = back.length === bytes.length && back.every((b, i) => b === bytes[i]);
		const closed = new Promise((ok) => { hot.onclose = (e) => ok(e.code + " " + e.wasClean) }); hot.close(4000);
		return same + " " + await closed`)
	if got != "true 4000 true" {
		t.Errorf("the WebSocket gave %s", got)
	}
}

// shownCounts is an expression for the counters that a page shows.
const shownCounts = `[...document.querySelectorAll("#list button")].map((b) => b.textContent).join()`

// clickPosts checks that a form and a click change the extension's state, and that the
// agent sees the change.
func (e *evidence) clickPosts(t *testing.T) {
	in[any](t, e, "Counters", `document.querySelector("[name=name]").value = "cats"`)
	e.click(t, "Counters", "form button")
	e.await(t, "Counters", shownCounts+` === "cats: 1"`)
	in[any](t, e, "Counters", `window.took = []; document.addEventListener("click", () => { window.began = performance.now() }, true);
		new MutationObserver(() => requestAnimationFrame(() => took.push(performance.now() - began))).observe(document.getElementById("list"), { childList: true })`)
	const rounds = 10
	for i := range rounds {
		e.click(t, "Counters", "#list button")
		e.await(t, "Counters", shownCounts+fmt.Sprintf(` === "cats: %d"`, i+2))
	}
	took := in[[]float64](t, e, "Counters", `return took`)
	t.Logf("a click's POST, the event of it and the repaint: %s", spread(took))
	if n := strings.TrimSpace(e.m.do(0, "invoke", "counters", "count", "--input", `{"name":"cats","by":0}`)); !strings.Contains(n, strconv.Itoa(rounds+1)) {
		t.Errorf("the agent sees %s, want %d", n, rounds+1)
	}
}

// spread describes a list of milliseconds by its median, 95th percentile and maximum. It
// sorts the list.
func spread(ms []float64) string {
	if len(ms) == 0 {
		return "nothing was measured"
	}
	slices.Sort(ms)
	return fmt.Sprintf("median %.1f ms, 95 %% %.1f ms, longest %.1f ms of %d", ms[len(ms)/2], ms[len(ms)*95/100], ms[len(ms)-1], len(ms))
}

// lag measures how late the next ticks of the live canvas are painted after the app sent
// them.
func (e *evidence) lag(t *testing.T, ticks int) []float64 {
	t.Helper()
	in[any](t, e, "live", `painted.length = 0`)
	e.await(t, "live", fmt.Sprintf(`painted.length >= %d`, ticks))
	return in[[]float64](t, e, "live", fmt.Sprintf(`return painted.slice(0, %d)`, ticks))
}

// eventsRepaint checks that an event is painted soon after the app sent it.
func (e *evidence) eventsRepaint(t *testing.T) {
	ms := e.lag(t, 60)
	t.Logf("from event to repaint: %s", spread(ms))
	if median := ms[len(ms)/2]; median > 100 {
		t.Errorf("an event is painted after %.0f ms, want at most 100", median)
	}
}

// actionsRepaint checks that the page shows what the agent does. The times include the
// start of a program.
func (e *evidence) actionsRepaint(t *testing.T) {
	var took []float64
	for i := range 5 {
		began := time.Now()
		e.m.do(0, "invoke", "counters", "count", "--input", fmt.Sprintf(`{"name":"acts","by":%d}`, i+1))
		e.await(t, "Counters", fmt.Sprintf(shownCounts+`.includes("acts: %d")`, (i+1)*(i+2)/2))
		took = append(took, float64(time.Since(began).Milliseconds()))
	}
	t.Logf("from the start of ahp-canvas invoke to what is seen: %s", spread(took))
}

// filesPass uploads a file that a person chose, and downloads 2 MiB.
func (e *evidence) filesPass(t *testing.T) {
	in[any](t, e, "Files", `const d = new DataTransfer(); const bytes = new Uint8Array(700_000).map((_, i) => i * 7 + (i >> 8)); d.items.add(new File([bytes], "a b.bin"));
		const f = document.getElementById("file"); f.files = d.files; f.dispatchEvent(new Event("change"))`)
	sum := sha256.Sum256(pattern(700_000))
	e.await(t, "Files", fmt.Sprintf(`document.getElementById("p").textContent === %q`, hex.EncodeToString(sum[:])))
	got := in[[]any](t, e, "Files", hash+`const t = performance.now(); const r = await fetch("/large"); const b = await r.arrayBuffer(); return [performance.now() - t, b.byteLength, r.headers.get("content-length"), await hash(b)]`)
	want := sha256.Sum256([]byte(strings.Repeat("0123456789abcdef", 2<<20/16)))
	t.Logf("2 MiB took %.0f ms", got[0])
	if got[1] != float64(2<<20) || got[2] != "2097152" || got[3] != hex.EncodeToString(want[:]) {
		t.Errorf("2 MiB came as %v", got)
	}
}

// hash is a JavaScript function for pages.
const hash = `const hash = async (b) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", b))].map((b) => b.toString(16).padStart(2, "0")).join("");`

// resourcesPass reads a file of a folder with canvasReadResource.
func (e *evidence) resourcesPass(t *testing.T) {
	got := in[[]any](t, e, "big", hash+`const t = performance.now(); const r = await fetch("/big.bin"); const b = await r.arrayBuffer(); return [performance.now() - t, b.byteLength, await hash(b)]`)
	want := sha256.Sum256(pattern(bigFile))
	t.Logf("a resource of 10 MiB took %.0f ms", got[0])
	if got[1] != float64(bigFile) || got[2] != hex.EncodeToString(want[:]) {
		t.Errorf("it came as %v", got)
	}
}

// floodIsSlowed checks that an unread response body stops its sender, and that one that is
// read at full speed leaves other canvases responsive.
func (e *evidence) floodIsSlowed(t *testing.T) {
	quiet := e.lag(t, 40)
	in[any](t, e, "flood", `window.r = (await fetch("/flood")).body.getReader(); await r.read(); return 0`)
	sent := func() float64 {
		return in[float64](t, e, "flood", `return Number(await (await fetch("/flooded")).text())`)
	}
	before, now := -1., sent()
	for end := time.Now().Add(webtest.Timeout); before != now && time.Now().Before(end); {
		e.lag(t, 10)
		before, now = now, sent()
	}
	t.Logf("an unread body stopped its sender after %.1f MB", now/1e6)
	if before != now || now > 16<<20 {
		t.Errorf("%.0f unread bytes were sent", now)
	}
	in[any](t, e, "flood", `window.n = 0; window.t = performance.now(); (async () => { for (;;) { const { done, value } = await r.read(); if (done) return; n += value.length } })().catch(() => {}); return 0`)
	loud := e.lag(t, 40)
	for range 2 {
		if loud[len(loud)/2] <= 100 {
			break
		}
		loud = e.lag(t, 40) // other programs can delay one measurement, but the flood delays each
	}
	rate := in[float64](t, e, "flood", `const rate = n / (performance.now() - t) / 1000; r.cancel(); return rate`)
	t.Logf("a neighbor's event is painted: %s; beside a flood of %.0f MB/s: %s", spread(quiet), rate, spread(loud))
	if median := loud[len(loud)/2]; median > 100 {
		t.Errorf("a flood delays its neighbor's event by %.0f ms", median)
	}
}

// veiled reports whether a canvas is marked as out of date while its frame is still shown.
func veiled(title string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".card")].some((c) => c.querySelector("h2").textContent === %q && c.dataset.availability === "stale" && !c.querySelector(".words").hidden && c.querySelector("iframe")?.inert)`, title)
}

// killedComesBack kills the extension. Its canvas is veiled while its frame stays mounted,
// and works again without a reload.
func (e *evidence) killedComesBack(t *testing.T) {
	in[any](t, e, "Counters", `window.kept = "kept"; document.querySelector("[name=name]").value = "typed"`)
	at := time.Now()
	p, err := os.FindProcess(e.pid(t, "counter"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	e.tab.Wait(t, veiled("Counters"))
	seen := time.Since(at)
	e.screenshot(t, "killed")
	e.lag(t, 5) // the others live on
	e.tab.Wait(t, `!`+veiled("Counters"))
	back := time.Since(at)
	e.await(t, "Counters", shownCounts+` === ""`) // it forgot, and its stream said so
	t.Logf("the canvas was veiled after %d ms, ready after %d ms, and the page's stream after %d ms", seen.Milliseconds(), back.Milliseconds(), time.Since(at).Milliseconds())
	if got := in[string](t, e, "Counters", `return window.kept + " " + document.querySelector("[name=name]").value`); got != "kept typed" {
		t.Errorf("the page was loaded again: %s", got)
	}
	e.click(t, "Counters", "form button")
	e.await(t, "Counters", shownCounts+` === "typed: 1"`)
	e.m.do(0, "invoke", "counters", "count", "--input", `{"name":"typed"}`)
	e.await(t, "Counters", shownCounts+` === "typed: 2"`)
}

// tenOpen opens ten canvases, each with its own page and stream; the page shows some beside
// each other, and the others when a person chooses them.
func (e *evidence) tenOpen(t *testing.T) {
	for n := len(titles); n < 10; n++ {
		e.m.do(0, "open", "counters", "--instance", fmt.Sprintf("c%d", n), "--input", fmt.Sprintf(`{"title":"Nr %d"}`, n))
	}
	e.shown(t, 10)
	for n := len(titles); n < 10; n++ {
		e.m.do(0, "invoke", fmt.Sprintf("c%d", n), "count", "--input", fmt.Sprintf(`{"name":"nr","by":%d}`, n))
		e.await(t, fmt.Sprintf("Nr %d", n), fmt.Sprintf(shownCounts+` === "nr: %d"`, n))
	}
	e.await(t, "Counters", shownCounts+` === "typed: 2"`)
	ms := e.lag(t, 40)
	t.Logf("beside nine others, from event to repaint: %s", spread(ms))
	e.tab.Resize(t, 1600, 1700)
	webtest.Eval[any](t, e.tab, `void(scrollTo(0, 0))`)
	e.screenshot(t, "ten")
}
