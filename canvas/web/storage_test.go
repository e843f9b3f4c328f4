package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// counter is a canvas of files that counts in its storage how often it was loaded.
func counter(id string) site {
	return site{id: id, title: "Count " + id, files: map[string]string{"index.html": `<!doctype html><p id=n></p><script>
		const n = Number(localStorage.getItem("n")) + 1;
		localStorage.setItem("n", n);
		document.getElementById("n").textContent = n;
	</script>`}}
}

// counted is an expression: what a counter shows.
const counted = document + `.getElementById("n").textContent`

// contentOrigin returns the origin of the only canvas.
func contentOrigin(t *testing.T, p *webtest.Page) string {
	t.Helper()
	return webtest.Eval[string](t, p, `new URL(document.querySelector(".card iframe").src).origin`)
}

// TestStorageLasts: what a canvas stores survives a reload of the page, and no other canvas
// sees it.
func TestStorageLasts(t *testing.T) {
	webtest.Each(t, func(t *testing.T) {
		e := start(t, nil, counter("one"))
		p := webtest.Start(t).Open(t, e.link)
		shown(t, p, 1)[0].Wait(t, counted+` === "1"`)
		origin := contentOrigin(t, p)
		p.Reload(t)
		shown(t, p, 1)[0].Wait(t, counted+` === "2"`)
		if again := contentOrigin(t, p); again != origin {
			t.Errorf("the canvas is on %s, and was on %s", again, origin)
		}
		e.open(t, counter("two"))
		for _, frame := range shown(t, p, 2) {
			if at := webtest.Eval[string](t, frame, `location.origin`); at != origin {
				frame.Wait(t, counted+` === "1"`)
			}
		}
	}, webtest.Chromium, webtest.Firefox, webtest.WebKit)
}

// TestStorageAtARelay: what a canvas stores through a relay survives a reload, and not a
// close. TestStorageOfOthers has other hosts.
func TestStorageAtARelay(t *testing.T) {
	e := start(t, nil, counter("one"))
	key := seal.NewKey()
	at := startRelayWith(t, e.host, seal.NewHost(key, relaytest.Host, true), &recording{}) + "/#tkn=" + relaytest.Token + "&host=" + relaytest.Host
	p := webtest.Start(t).Open(t, web.ViewAt(at+"&key="+key.Public().String(), viewToken))
	shown(t, p, 1)[0].Wait(t, counted+` === "1"`)
	origin := contentOrigin(t, p)
	p.Reload(t)
	shown(t, p, 1)[0].Wait(t, counted+` === "2"`)
	if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "one"); err != nil {
		t.Fatal(err)
	}
	p.Wait(t, `document.querySelectorAll(".card").length === 0 && localStorage.getItem("kept gone") === "[]"`)
	e.open(t, counter("one"))
	shown(t, p, 1)[0].Wait(t, counted+` === "1"`)
	if contentOrigin(t, p) == origin {
		t.Error("the origin of a closed canvas is used again")
	}
	if got := stored(t, p, origin, "frame.html"); got != "" {
		t.Errorf("%q is left", got)
	}
}

// TestStorageOfOthers: another host, session, opening, provider or list of allowed origins
// is another origin, and so is another browser.
func TestStorageOfOthers(t *testing.T) {
	e := start(t, nil)
	b := webtest.Start(t)
	p := b.Open(t, e.origin+"/")
	labels := func(p *webtest.Page) []string {
		return webtest.Eval[[]string](t, p, `(async () => {
			const { labelIn } = await import("/kept.js"), one = { home: '["h","k","s"]', channel: "a", extensionId: "x", net: "c" };
			return Promise.all([{}, {}, { home: '["i","k","s"]' }, { home: '["h","k","t"]' }, { channel: "b" }, { extensionId: "y" }, { net: "n" }].map((other) => labelIn({ ...one, ...other })));
		})()`)
	}
	got := labels(p)
	seen := map[string]bool{}
	for _, label := range append(got, labels(b.Open(t, e.origin+"/"))[0]) {
		seen[label] = true
	}
	if got[0] != got[1] || len(seen) != 7 || len(got[0]) != 32 {
		t.Errorf("labels %q, of which %d differ", got, len(seen))
	}
}

// stored lists what an origin has in the browser, from a frame of it with one of our files.
func stored(t *testing.T, p *webtest.Page, origin, file string) string {
	t.Helper()
	webtest.Eval[any](t, p, fmt.Sprintf(`void (() => { const f = document.createElement("iframe"); f.src = %q; document.body.append(f); })()`, origin+"/.ahp/"+file+"?peek"))
	frame := p.Frames(t, 1, func(u *url.URL) bool { return u.Scheme+"://"+u.Host == origin && u.RawQuery == "peek" })[0]
	return webtest.Eval[string](t, frame, `(async () => [
		localStorage.length && "localStorage", (await indexedDB.databases()).length && "indexedDB", (await caches.keys()).length && "caches",
		(await navigator.serviceWorker.getRegistrations()).length && "worker", document.cookie.includes("mine=1") && "cookie"].filter(Boolean).join(" "))()`)
}

// hoarder is a canvas that stores something in every way.
func hoarder() site {
	return site{id: "one", title: "Hoarder", files: map[string]string{"index.html": `<!doctype html><p id=n></p><script type=module>
		const before = localStorage.length;
		localStorage.setItem("n", "1");
		document.cookie = "mine=1; path=/; Secure; SameSite=None; Partitioned";
		await (await caches.open("c")).put("/x", new Response("x"));
		await new Promise((go) => { indexedDB.open("d").onsuccess = go; });
		document.getElementById("n").textContent = "stored " + before;
	</script>`}}
}

// TestStorageCleared: a close and the button of the menu clear what the canvas stored, and it
// never has that origin again.
func TestStorageCleared(t *testing.T) {
	for name, clear := range map[string]func(e *env, p *webtest.Page){
		"button": func(e *env, p *webtest.Page) {
			choose(t, p, "Clear what it stored here")
		},
		"close": func(e *env, p *webtest.Page) {
			if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "one"); err != nil {
				t.Fatal(err)
			}
			p.Wait(t, `document.querySelectorAll(".card").length === 0`)
			e.open(t, hoarder())
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, nil, hoarder())
			p := webtest.Start(t).Open(t, e.link)
			const n = document + `.getElementById("n").textContent`
			shown(t, p, 1)[0].Wait(t, n+` === "stored 0"`)
			origin := contentOrigin(t, p)
			if got := stored(t, p, origin, "frame.html"); got != "localStorage indexedDB caches worker cookie" {
				t.Errorf("the canvas stored %q", got)
			}
			p.Reload(t)
			shown(t, p, 1)[0].Wait(t, n+` === "stored 1"`)
			clear(e, p)
			p.Wait(t, fmt.Sprintf(`document.querySelector(".card iframe") && new URL(document.querySelector(".card iframe").src).origin !== %q && localStorage.getItem("kept gone") === "[]"`, origin))
			shown(t, p, 1)[0].Wait(t, n+` === "stored 0"`)
			if got := stored(t, p, origin, "frame.html"); got != "" {
				t.Errorf("%q is left", got)
			}
		})
	}
}

// TestStorageQuota: a canvas that stored more than 64 MB is cleared when it is shown again,
// and its card says so.
func TestStorageQuota(t *testing.T) {
	filler := site{id: "one", title: "Filler", files: map[string]string{"index.html": `<!doctype html><p id=n></p><script type=module>
		const before = localStorage.getItem("full");
		document.getElementById("n").textContent = "was " + before;
		const cache = await caches.open("c");
		if (!before) for (let i = 0; i < 5; i++) await cache.put("/" + i, new Response(crypto.getRandomValues(new Uint8Array(65536)) && new Blob(Array(224).fill(new Uint8Array(65536)))));
		localStorage.setItem("full", "1");
		document.getElementById("n").textContent = "filled " + before;
	</script>`}}
	p := webtest.Start(t).Open(t, start(t, nil, filler).link)
	shown(t, p, 1)[0].Wait(t, document+`.getElementById("n").textContent === "filled null"`)
	origin := contentOrigin(t, p)
	p.Reload(t)
	p.Wait(t, `document.querySelector(".card .note").textContent.includes("more than 64 MB")`)
	p.Wait(t, fmt.Sprintf(`new URL(document.querySelector(".card iframe").src).origin !== %q && localStorage.getItem("kept gone") === "[]"`, origin))
	shown(t, p, 1)[0].Wait(t, document+`.getElementById("n").textContent.endsWith("null")`)
}

// TestStorageTotal: the canvas that was not shown for longest is cleared first if all store
// too much.
func TestStorageTotal(t *testing.T) {
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	got := webtest.Eval[[]bool](t, p, `(async () => {
		const { use, measured, isCurrent } = await import("/kept.js"), of = (channel) => ({ home: "h", channel, extensionId: "x", net: "c" });
		const at = (channel) => location.origin.replace("localhost", "c-" + channel.repeat(32) + ".localhost"), all = [..."0123456789"];
		for (const c of all) { await use(of(c), at(c)); await measured(of(c), 60 << 20); await new Promise((go) => setTimeout(go, 2)); }
		return Promise.all(all.map((c) => isCurrent(of(c), at(c))));
	})()`)
	if want := "[false false true true true true true true true true]"; fmt.Sprint(got) != want {
		t.Errorf("kept %v, want %s", got, want)
	}
}

// TestStorageTwoTabs: two tabs share what a canvas stores, and the first one's canvas stays
// connected to its own page.
func TestStorageTwoTabs(t *testing.T) {
	a := newApp(t)
	a.page("/app", `<p id=n></p><script>localStorage.setItem("n", Number(localStorage.getItem("n")) + 1); document.getElementById("n").textContent = localStorage.getItem("n")</script>`)
	e := start(t, nil, site{id: "one", title: "One", app: a, path: "app"})
	p := webtest.Start(t).Open(t, e.link)
	first := shown(t, p, 1)[0]
	first.Wait(t, counted+` === "1"`)
	second := p.Tab(t, e.link)
	second.Wait(t, `document.querySelector(".card .words[hidden]")`)
	frames := second.Frames(t, 2, webtest.ContentFrame) // of both tabs
	for _, frame := range frames {
		frame.Wait(t, counted)
	}
	if got := webtest.Eval[string](t, frames[0], counted) + webtest.Eval[string](t, frames[1], counted); got != "12" && got != "21" {
		t.Errorf("the tabs counted %s", got)
	}
	if contentOrigin(t, p) != contentOrigin(t, second) {
		t.Error("the tabs have two origins")
	}
	// The second page no longer answers; the first canvas must not need it.
	webtest.Eval[any](t, second, `void (Object.getPrototypeOf(new MessageChannel().port1).postMessage = () => {})`)
	got := inCanvas[[]int](t, first, `return Promise.all(Array.from({ length: 8 }, () => fetch("/echo").then((r) => r.status)))`)
	if want := "[200 200 200 200 200 200 200 200]"; fmt.Sprint(got) != want {
		t.Errorf("the first tab got %v", got)
	}
	second.Navigate(t, "about:blank")
	if got := inCanvas[int](t, first, `return fetch("/echo").then((r) => r.status)`); got != 200 {
		t.Errorf("the first tab got %d after the second was closed", got)
	}
}

// TestStorageNotKept: where the page may not store, each mount has an origin that is used once.
func TestStorageNotKept(t *testing.T) {
	refused := func(next http.Handler) http.Handler {
		return rewritten(next, "/first.js", "// @ts-check", `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } });`)
	}
	p := webtest.Start(t).Open(t, start(t, refused, counter("one")).link)
	shown(t, p, 1)[0].Wait(t, counted+` === "1"`)
	origin := contentOrigin(t, p)
	p.Reload(t)
	shown(t, p, 1)[0].Wait(t, counted+` === "1"`)
	if contentOrigin(t, p) == origin {
		t.Error("the origin was used twice")
	}
	if !webtest.Eval[bool](t, p, `document.querySelector(".card iframe").credentialless`) || strings.HasPrefix(origin, "null") {
		t.Error("the frame is not credentialless")
	}
}
