package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestNoHead: an app that hangs is a 504, with a text for people.
func TestNoHead(t *testing.T) {
	a := newApp(t)
	a.patience = 500 * time.Millisecond
	_, _, frame := showApp(t, a)
	got := inCanvas[string](t, frame, `const r = await fetch("/hang"); return r.status + " " + r.headers.get("content-type") + " " + await r.text()`)
	if !strings.HasPrefix(got, "504 text/plain; charset=utf-8 The app did not answer") {
		t.Errorf("an app that hangs: %s", got)
	}
	inCanvas[any](t, frame, `location.href = "/hang"`)
	frame.Wait(t, document+`.body?.innerText.includes("Status 504")`)
}

// TestPrompt: HTTP authentication does not work through a service worker, so a
// navigation shows a text; a page can still send credentials itself.
func TestPrompt(t *testing.T) {
	a := newApp(t)
	a.HandleFunc("/prompt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
	})
	a.HandleFunc("/ask", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `<title>Log in</title>`)
	})
	_, _, frame := showApp(t, a)
	if got := inCanvas[string](t, frame, `const r = await fetch("/prompt"); return r.status + " " + await r.text()`); got != "401 who are you?\n" {
		t.Errorf("a fetch: %s", got)
	}
	inCanvas[any](t, frame, `location.href = "/ask"`)
	frame.Wait(t, document+`.title === "Log in"`)
	inCanvas[any](t, frame, `location.href = "/prompt"`)
	frame.Wait(t, document+`.body?.innerText.includes("HTTP authentication") && `+document+`.body.innerText.includes("Status 401")`)
}

// TestHostIsSilent: the worker gives up on a host that does not answer, and an event
// stream gets no status for it.
func TestHostIsSilent(t *testing.T) {
	a := newApp(t)
	patience := func(next http.Handler) http.Handler {
		return rewritten(next, "/.ahp/sw.js", "const TIMEOUT = 35_000;", "const TIMEOUT = 300;")
	}
	e := start(t, patience, appSite("one", a))
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	inCanvas[any](t, frame, `window.s = new EventSource("/hang"); s.errors = 0; s.onerror = () => { s.errors++; };`)
	got := inCanvas[string](t, frame, `const r = await fetch("/hang"); return r.status + " " + await r.text()`)
	if got != "504 The app of this canvas did not answer in time.\n" {
		t.Errorf("a host that is silent: %s", got)
	}
	a.end(t)
	frame.Wait(t, win+`.s.errors > 0 && `+win+`.s.readyState === 0`)
}

// TestAbort: aborting a request ends it at the app at once.
func TestAbort(t *testing.T) {
	webtest.InShort(t)
	a := newApp(t)
	_, _, frame := showApp(t, a)
	inCanvas[any](t, frame, `const c = new AbortController(); const r = await fetch("/flood", { signal: c.signal }); await r.body.getReader().read(); c.abort();`)
	a.end(t)
	inCanvas[any](t, frame, `const s = new EventSource("/events"); await new Promise((r) => { s.onmessage = r; }); s.close();`)
	a.end(t)
	// Closing the page aborts its requests.
	inCanvas[any](t, frame, `const s = new EventSource("/events"); await new Promise((r) => { s.onmessage = r; }); location.href = "/?again";`)
	a.end(t)
}

// TestCloseEndsRequests: closing a canvas ends its requests.
func TestCloseEndsRequests(t *testing.T) {
	webtest.InShort(t)
	a := liveApp(t)
	_, p, _ := showLive(t, a)
	p.Click(t, ".close")
	p.Click(t, ".undo .now")
	a.end(t)
}

// TestNotSentAgain: a browser stops a worker and repeats its requests. A POST, which
// the app may have received already, is not sent to the app again.
func TestNotSentAgain(t *testing.T) {
	a := newApp(t)
	_, _, frame := showApp(t, a)
	inCanvas[any](t, frame, `window.posted = fetch("/hang", { method: "POST", body: "x" }).then(async (r) => r.status + " " + await r.text(), (e) => e.name); fetch("/hang?get").catch(() => {});`)
	for a.requests("POST /hang") == 0 || a.requests("GET /hang?get") == 0 {
		frame.WaitAtMost(20*time.Millisecond, "false")
	}
	frame.StopWorkers(t)
	got := inCanvas[string](t, frame, `return posted`)
	t.Logf("after its worker ended, the POST was answered: %s", got)
	if n := a.requests("POST /hang"); n != 1 {
		t.Errorf("the app got the POST %d times", n)
	}
	if !strings.HasPrefix(got, "502 The connection was lost before the app answered.") && got != "TypeError" {
		t.Errorf("the page received %q", got)
	}
	// Later, the same request is a new one.
	inCanvas[any](t, frame, `fetch("/hang", { method: "POST", body: "x" }); await new Promise((r) => setTimeout(r, 3100));`)
	inCanvas[any](t, frame, `const r = await fetch("/echo", { method: "POST" }); return r.status`)
	if n := a.requests("POST /hang"); n != 2 {
		t.Errorf("the app got the second POST %d times", n-1)
	}
}

// TestHeadersOfAnApp: which headers of an app a canvas gets; our policies stay.
func TestHeadersOfAnApp(t *testing.T) {
	a := newApp(t)
	a.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{
			"Set-Cookie", "Clear-Site-Data", "Refresh", "Link", "Service-Worker-Allowed", "Report-To", "Reporting-Endpoints", "NEL",
			"Content-Security-Policy-Report-Only", "X-Frame-Options", "Alt-Svc", "Speculation-Rules", "Cross-Origin-Opener-Policy",
		} {
			w.Header().Set(name, `"x"; report-to=x`)
		}
		w.Header().Set("X-Own", "kept")
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Disposition", `attachment; filename="a.txt"`)
		w.Header().Set("Cache-Control", "public, max-age=60")
		w.Header().Set("Content-Security-Policy", "img-src data:; report-uri http://127.0.0.1:9/; frame-ancestors 'none', script-src 'self'; report-to x")
		fmt.Fprint(w, "body")
	})
	_, _, frame := showApp(t, a)
	got := inCanvas[object](t, frame, `return Object.fromEntries((await fetch("/headers")).headers)`)
	policy := got["content-security-policy"].(string)
	if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self' 'unsafe-inline'") || !strings.HasSuffix(policy, ", img-src data:, script-src 'self'") {
		t.Errorf("the policies are %q", policy)
	}
	delete(got, "content-security-policy")
	want := object{
		"x-own": "kept", "etag": `"v1"`, "content-disposition": `attachment; filename="a.txt"`, "cache-control": "no-store", "content-type": "text/plain; charset=utf-8", "content-length": "4", "date": got["date"],
		"connection-allowlist": "(response-origin)", "cross-origin-resource-policy": "same-origin", "origin-agent-cluster": "?1", "referrer-policy": "no-referrer", "x-content-type-options": "nosniff", "permissions-policy": got["permissions-policy"],
		"x-dns-prefetch-control": "off",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if pp, _ := got["permissions-policy"].(string); pp != granted {
		t.Errorf("the permissions are %q", pp)
	}
	// An app can have a policy for its page; the shim satisfies it.
	a.HandleFunc("/strict", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "script-src 'nonce-abc'; frame-ancestors 'none'")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>strict</title><script nonce=abc>document.own = document.documentElement.dataset.colorMode</script><script>document.own = "inline ran"</script>`)
	})
	webtest.Eval[any](t, frame, win+`.location.href = "/strict"; 0`)
	frame.Wait(t, document+`.own === "light"`)
}

// TestCookies: an app's cookies stay at the host. Scripts read and write those that are not
// HttpOnly, through the channel and on the listener, and what they write is sent with the
// next request.
func TestCookies(t *testing.T) {
	for _, direct := range []bool{false, true} {
		a := newApp(t)
		a.HandleFunc("/cookie", func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "secret", Value: "1", Path: "/", HttpOnly: true})
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "2", Path: "/"})
			fmt.Fprint(w, r.Header.Get("Cookie"))
		})
		e := startWith(t, setup{name: "localhost", direct: direct}, appSite("one", a))
		p := webtest.Start(t).Open(t, e.link)
		frame := shownAt(t, p, direct)
		got := inCanvas[string](t, frame, `await fetch("/cookie");
			while (!document.cookie.includes("seen")) await new Promise((go) => setTimeout(go, 10));
			document.cookie = "own=3; path=/"; const r = await fetch("/cookie");
			return [document.cookie, r.headers.get("set-cookie"), await r.text()].join("|")`)
		if got != "seen=2; own=3||secret=1; seen=2; own=3" {
			t.Errorf("direct %v: cookies of an app: %s", direct, got)
		}
		if !direct {
			e.onlyPageConnected(t)
		}
		// Another browser has none of them.
		other := shownAt(t, webtest.Start(t).Open(t, e.link), direct)
		if got := inCanvas[string](t, other, `return document.cookie + await (await fetch("/cookie")).text()`); webtest.Start(t).Kind == webtest.Chromium && strings.Contains(got, "seen") {
			t.Errorf("direct %v: another browser has %q", direct, got)
		}
	}
}

// shownAt is the frame of the one canvas, on the listener or on a content host.
func shownAt(t *testing.T, p *webtest.Page, direct bool) *webtest.Page {
	t.Helper()
	p.Wait(t, `document.querySelectorAll(".card").length === 1 && document.querySelector(".card .words").hidden`)
	match := webtest.ContentFrame
	if direct {
		match = near
	}
	return p.Frames(t, 1, match)[0]
}

// TestUnchanged: an unchanged resource is not sent again.
func TestUnchanged(t *testing.T) {
	a := newApp(t)
	var said atomic.Value
	var full atomic.Int32
	a.HandleFunc("/style.css", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		etag := fmt.Sprintf("%q", said.Load())
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		full.Add(1)
		fmt.Fprintf(w, "body { --said: %q; --long: %q }", said.Load(), strings.Repeat("x", 100_000))
	})
	_, p, frame := showApp(t, a)
	webtest.Eval[any](t, p, `{ window.heard = 0; const parse = JSON.parse; JSON.parse = (text) => { heard += text.length; return parse(text); }; }`)
	style := func() (text string, came float64) {
		before := webtest.Eval[float64](t, p, `heard`)
		text = inCanvas[string](t, frame, `const l = document.createElement("link"); l.rel = "stylesheet"; l.href = "/style.css"; const there = new Promise((r) => { l.onload = r; }); document.head.append(l); await there; const said = getComputedStyle(document.body).getPropertyValue("--said"); l.remove(); return said;`)
		return text, webtest.Eval[float64](t, p, `heard`) - before
	}
	for i, change := range []string{"one", "one", "two", "two"} {
		said.Store(change)
		text, came := style()
		if text != fmt.Sprintf("%q", change) || (came < 10_000) != (i%2 == 1) {
			t.Errorf("read %d: %s, and %.0f characters came", i, text, came)
		}
	}
	if n := full.Load(); n != 2 {
		t.Errorf("the app sent it %d times, want twice", n)
	}
}
