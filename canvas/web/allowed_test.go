package web_test

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestAllowedHosts: content hosts whose name has the label of a list have its origins in
// all three protections, and no other name has.
func TestAllowedHosts(t *testing.T) {
	lists, err := allow.New(map[string][]string{"notes": {"https://cdn.example", "wss://*.live.example:8443"}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := web.New(web.Options{AppOrigins: []string{"http://localhost:8080", "http://127.0.0.1:8080"}, Allowed: lists})
	if err != nil {
		t.Fatal(err)
	}
	label := lists.For("", "notes").Label()
	named := strings.Replace(contentHost, "c-", label+"-", 1)
	wantCSP := answerCSP
	for _, directive := range []string{"script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:", "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:", "font-src 'self' data:", "media-src 'self' data: blob:"} {
		wantCSP = strings.Replace(wantCSP, directive, directive+" https://cdn.example", 1)
	}
	wantCSP = strings.Replace(wantCSP, "connect-src 'self' data: blob:", "connect-src 'self' data: blob: https://cdn.example wss://*.live.example:8443", 1)
	const wantList = `(response-origin "https://cdn.example" "https://*.live.example:8443")`
	for host, want := range map[string][3]string{named: {wantCSP, wantList, "https://cdn.example"}, contentHost: {answerCSP, confined, ""}} {
		absent := get(h, "GET", host, "/nothing", nil)
		if got := absent.Header.Get("Content-Security-Policy"); got != want[0] {
			t.Errorf("%s: %s", host, cmp.Diff(want[0], got))
		}
		if got := absent.Header.Get("Connection-Allowlist"); got != want[1] {
			t.Errorf("%s: Connection-Allowlist %s", host, got)
		}
		if got := get(h, "GET", host, "/.ahp/frame.html", nil).Header; got.Get("Connection-Allowlist") != confined || got.Get("Content-Security-Policy") != frameCSP {
			t.Errorf("%s: the outer frame has %v", host, got)
		}
		worker := body(h, host, "/.ahp/sw.js")
		if policy := workerPolicy(t, []byte(worker)); policy["Content-Security-Policy"] != want[0] || policy["Connection-Allowlist"] != want[1] {
			t.Errorf("%s: the worker's policy is %v", host, policy)
		}
		script := body(h, host, "/.ahp/canvas.js")
		for _, s := range []string{worker, script} {
			if got := strings.Contains(s, `const ALLOWED = ["https://cdn.example"`); got != (want[2] != "") || strings.Contains(s, "const ALLOWED = []") == got {
				t.Errorf("%s: a script has the list: %v", host, got)
			}
		}
		if !strings.Contains(worker, "const CANVAS = "+string(ahp.MustMarshal(script))+";") {
			t.Errorf("%s: the worker has another canvas.js", host)
		}
	}
	for _, name := range []string{"n0123456789abcdef", label[:16], label + "0", "n", ""} {
		if got := get(h, "GET", strings.Replace(contentHost, "c-", name+"-", 1), "/.ahp/frame.html", nil).StatusCode; got != 421 {
			t.Errorf("label %q: %d, want 421", name, got)
		}
	}
	if page := body(h, "localhost:8080", "/"); !strings.Contains(page, `<meta name="allowed" content="{&#34;`+label+`&#34;:[&#34;https://cdn.example&#34;`) {
		t.Error("the page does not know the list")
	}
	w := httptest.NewRecorder()
	web.SetAllowedHeaders(w, lists.For("", "notes"))
	if got := w.Header(); got.Get("Content-Security-Policy") != wantCSP || got.Get("Connection-Allowlist") != wantList+";redirects=allow" {
		t.Errorf("headers of another server: %v", got)
	}
}

func body(h http.Handler, host, path string) string {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://"+host+path, nil)
	maps.Copy(r.Header, asWorker(path))
	h.ServeHTTP(w, r)
	return w.Body.String()
}

// elsewhere is a server of another origin that notes each request.
type elsewhere struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // paths
}

func newElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.asked = append(e.asked, r.URL.Path)
		e.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch {
		case strings.HasSuffix(r.URL.Path, "script"):
			w.Header().Set("Content-Type", "text/javascript")
		case strings.HasSuffix(r.URL.Path, "style"):
			w.Header().Set("Content-Type", "text/css")
		}
	}))
	e.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that a browser leaves
	e.StartTLS()
	t.Cleanup(e.Close)
	return e
}

// take returns the requests below /who/ since the last call, sorted.
func (e *elsewhere) take(who string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	found := []string{}
	for _, path := range e.asked {
		if rest, ok := strings.CutPrefix(path, "/"+who+"/"); ok {
			found = append(found, rest)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// loadsAll is a page that loads from bases in every way, one after the other, and reports.
const loadsAll = `<!doctype html><title>loads</title><body><script type="module">
import { mayLoad, send } from "/.ahp/canvas.js";
const ended = (e, start) => new Promise((go) => { for (const n of ["load", "error", "close", "open", "loadeddata"]) e.addEventListener(n, go); start?.(); });
const add = (tag, props) => { const e = Object.assign(document.createElement(tag), props); return ended(e, () => document.body.append(e)); };
const ways = {
	img: (u) => add("img", { src: u }), script: (u) => add("script", { src: u }), style: (u) => add("link", { rel: "stylesheet", href: u }), audio: (u) => add("audio", { src: u, preload: "auto" }),
	fetch: (u) => fetch(u).catch(() => {}), font: (u) => new FontFace("x", "url(" + u + ")").load().catch(() => {}), socket: (u) => ended(new WebSocket(u.replace("https:", "wss:"))),
	frame: (u) => add("iframe", { src: u }),
};
for (const [who, base] of BASES) for (const [way, run] of Object.entries(ways)) { try { await run(base + "/" + who + "/" + way); } catch {} }
send({ may: BASES.map(([, base]) => mayLoad(base + "/x")) }).then(() => send("done"));
</script>`

// TestAllowedOrigins: a canvas reaches the origins that it is allowed, in the ways that are
// allowed, and no others. Another canvas reaches neither, also if it goes to the content
// host of the first.
func TestAllowedOrigins(t *testing.T) {
	b := webtest.Start(t, "ignore-certificate-errors")
	if b.Kind != webtest.Chromium {
		t.Skip("the other browsers refuse the certificate")
	}
	cdn, live, other := newElsewhere(t), newElsewhere(t), newElsewhere(t)
	at := func(e *elsewhere, name string) string {
		return "https://" + name + strings.TrimPrefix(e.URL, "https://127.0.0.1")
	}
	list := []string{at(cdn, "*.cdn.localhost"), cdn.URL, strings.Replace(at(live, "live.localhost"), "https:", "wss:", 1)}
	page := func(who string) string {
		bases := fmt.Sprintf(`[["%[1]s", %[2]q], ["%[1]s-wide", %[3]q], ["%[1]s", %[4]q], ["%[1]s", %[5]q], ["%[1]s-name", %[6]q]]`, who, cdn.URL, at(cdn, "a.cdn.localhost"), at(live, "live.localhost"), other.URL, at(cdn, "cdn.localhost"))
		return strings.ReplaceAll(loadsAll, "BASES", bases)
	}
	lists, err := allow.New(map[string][]string{"allowed": list})
	if err != nil {
		t.Fatal(err)
	}
	label := lists.For("", "allowed").Label()
	one := site{id: "one", title: "One", allow: true, files: map[string]string{"index.html": page("one")}}
	two := site{id: "two", title: "Two", files: map[string]string{"index.html": page("two")}}
	// three goes to a host with the label: by frames, by navigating there, and with a worker.
	taken := `location.protocol + "//" + location.host.replace(/^c-/, "` + label + `-")`
	three := site{id: "three", title: "Three", files: map[string]string{"index.html": `<!doctype html><title>three</title><body><script type="module">
		import { send } from "/.ahp/canvas.js";
		const to = ` + taken + `, wait = (e) => new Promise((go) => { e.onload = e.onerror = go; });
		for (const path of ["/.ahp/frame.html", "/x", "/.ahp/canvas.js"]) {
			const f = document.createElement("iframe"); f.src = to + path; const loaded = wait(f); document.body.append(f); await loaded;
			try { f.contentWindow.eval("fetch('` + cdn.URL + `/three/framed')"); } catch {}
		}
		await navigator.serviceWorker.register(to + "/.ahp/sw.js").catch(() => {});
		try { new Worker(to + "/.ahp/sw.js"); } catch {}
		parent.document.body.insertAdjacentHTML("beforeend", '<img src="` + cdn.URL + `/three/outer">');
		await fetch("` + cdn.URL + `/three/fetch").catch(() => {});
		await send("done");
		location.href = to + "/.ahp/frame.html";
	</script>`}}
	e := startWith(t, setup{name: "localhost", allow: list}, one, two, three)
	p := b.Open(t, e.link)
	p.Wait(t, `document.querySelectorAll(".card").length === 3`)
	p.Wait(t, everyCard)
	wide := []string{"audio", "fetch", "font", "img", "script", "socket", "style"}
	for who, want := range map[string][2][]string{"one": {wide, {"socket"}}, "one-wide": {wide, {}}, "one-name": {{}, {}}, "two": {{}, {}}, "two-wide": {{}, {}}, "two-name": {{}, {}}, "three": {{}, {}}} {
		for n, server := range []*elsewhere{cdn, live} {
			got := server.take(who)
			if n == 0 && strings.HasPrefix(who, "one") && who != "one-name" {
				got = slices.DeleteFunc(got, func(way string) bool { return way == "socket" }) // only wss origins have them
				want[0] = slices.DeleteFunc(slices.Clone(wide), func(way string) bool { return way == "socket" })
			}
			if diff := cmp.Diff(want[n], got); diff != "" {
				t.Errorf("%s at server %d (-want +got)\n%s", who, n, diff)
			}
		}
		if got := other.take(who); len(got) > 0 {
			t.Errorf("%s reached another origin by %v", who, got)
		}
	}
	note := `[...document.querySelectorAll(".card")].map((c) => c.querySelector("h2").textContent + ": " + (c.querySelector(".note").hidden ? "" : c.querySelector(".note").textContent)).sort().join("; ")`
	if got := webtest.Eval[string](t, p, note); !strings.Contains(got, "One: This canvas may load from *.cdn.localhost:") || !strings.Contains(got, "wss://live.localhost:") || !strings.HasSuffix(got, "Two: ") {
		t.Errorf("the cards say %q", got)
	}
}

// TestAllowedOriginsInWorker: without the other protections the service worker still refuses
// origins that are not on the canvas's list.
func TestAllowedOriginsInWorker(t *testing.T) {
	b := webtest.Start(t, "ignore-certificate-errors")
	if b.Kind != webtest.Chromium {
		t.Skip("the other browsers refuse the certificate")
	}
	cdn, other := newElsewhere(t), newElsewhere(t)
	bases := fmt.Sprintf(`[["one", %q], ["one", %q]]`, cdn.URL, other.URL)
	one := site{id: "one", title: "One", allow: true, files: map[string]string{"index.html": strings.ReplaceAll(loadsAll, "BASES", bases)}}
	bare := without("answer: Content-Security-Policy", "answer: Connection-Allowlist")
	p := b.Open(t, startWith(t, setup{name: "localhost", wrap: bare, allow: []string{cdn.URL}}, one).link)
	p.Wait(t, `document.querySelectorAll(".card").length === 1`)
	p.Wait(t, everyCard)
	unseen := func(way string) bool { return way == "socket" || way == "frame" } // by the worker
	if diff := cmp.Diff([]string{"audio", "fetch", "font", "img", "script", "style"}, slices.DeleteFunc(cdn.take("one"), unseen)); diff != "" {
		t.Errorf("the allowed origin (-want +got)\n%s", diff)
	}
	if got := slices.DeleteFunc(other.take("one"), unseen); len(got) > 0 {
		t.Errorf("another origin was reached by %v", got)
	}
}
