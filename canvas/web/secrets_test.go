package web_test

import (
	"fmt"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/google/go-cmp/cmp"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSecretsAndEndpoints: what a canvas can learn about its page, and which endpoints of
// the host it can reach.
func TestSecretsAndEndpoints(t *testing.T) {
	spy := func(id string) site {
		return site{id: id, title: id, files: map[string]string{"index.html": `<!doctype html><script>
		const out = {};
		const look = (name, fn) => { try { out[name] = String(fn()); } catch (e) { out[name] = e.name; } };
		const ask = async (name, fn) => { try { const r = await fn(); out[name] = String(r.status ?? r); } catch (e) { out[name] = e.name; } };
		const knock = (url) => new Promise((yes, no) => { const s = new WebSocket(url, ["ahp", "bearer.` + viewToken + `"]); s.onopen = () => yes("open"); s.onerror = () => no({ name: "refused" }); });
		const app = "localhost:" + location.port;
		(async () => {
			look("token", () => top.sessionStorage.getItem("tkn"));
			look("page", () => top.document.title);
			look("address", () => top.location.href);
			look("neighbour", () => { for (const f of Array.from({ length: top.length }, (_, i) => top[i])) if (f !== parent) return f.document; });
			look("storage before", () => localStorage.getItem("mark"));
			look("referrer", () => document.referrer);
			look("cookie", () => { document.cookie = "a=b; domain=localhost"; document.cookie = "c=d; domain=" + location.hostname; return document.cookie.includes("a=b"); });
			localStorage.setItem("mark", "` + id + `");
			await ask("own /ahp", () => fetch("/ahp"));
			await ask("own /healthz", () => fetch("/healthz"));
			await ask("own socket", () => knock("ws://" + location.host + "/ahp"));
			await ask("host socket", () => knock("ws://" + app + "/ahp"));
			await ask("host /healthz", () => fetch("http://" + app + "/healthz", { mode: "no-cors" }));
			await ask("host /mcp", () => fetch("http://" + app + "/mcp", { mode: "no-cors", method: "POST", body: "{}" }));
			look("allowed", () => ["camera", "microphone", "display-capture", "payment", "usb", "serial"].filter((f) => document.featurePolicy.allowsFeature(f)));
			await ask("geolocation", () => new Promise((y, n) => navigator.geolocation.getCurrentPosition(y, (e) => n({ name: "denied " + e.code }))));
			await ask("clipboard", () => navigator.clipboard.readText());
			await ask("storage access", () => document.requestStorageAccess());
			document.out = out;
		})();
		</script>`}}
	}
	e := start(t, nil, spy("first"), spy("second"))
	p := webtest.Start(t).Open(t, e.link)
	for _, frame := range shown(t, p, 2) {
		frame.Wait(t, document+`.out`)
		got := webtest.Eval[map[string]string](t, frame, document+`.out`)
		want := map[string]string{
			"token": "SecurityError", "page": "SecurityError", "address": "SecurityError", "neighbour": "SecurityError",
			"storage before": "null", "referrer": got["referrer"], "cookie": "false",
			"own /ahp": "404", "own /healthz": "404", "own socket": "refused", "host socket": "refused",
			"host /healthz": "TypeError", "host /mcp": "TypeError",
			"allowed": "", "geolocation": "denied 1", "clipboard": "NotAllowedError", "storage access": "NotAllowedError",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what a canvas gets (-want +got):\n%s", diff)
		}
		if strings.Contains(got["referrer"], viewToken) {
			t.Errorf("the referrer has the token: %s", got["referrer"])
		}
	}
	e.onlyPageConnected(t)
}

// TestDirect: a direct url is framed without credentials and without a referrer.
func TestDirect(t *testing.T) {
	var referrer, cookie string
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		referrer, cookie = r.Header.Get("Referer"), r.Header.Get("Cookie")
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>direct</title><p>Direct</p><script>document.title = location.origin + (() => { try { return top.document.title } catch { return " alone" } })()</script>`)
	}))
	t.Cleanup(direct.Close)
	e := start(t, nil, site{id: "one", title: "Direct", url: direct.URL + "/"})
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, `document.querySelector(".card iframe").contentDocument.querySelector("iframe")`)
	got := webtest.Eval[string](t, p, `(() => { const f = document.querySelector(".card iframe").contentDocument.querySelector("iframe"); return [f.sandbox, f.credentialless, f.referrerPolicy, f.allow].join("; ") })()`)
	if want := "allow-scripts allow-forms allow-modals allow-downloads allow-same-origin; true; no-referrer; "; got != want {
		t.Errorf("the direct frame: %q, want %q", got, want)
	}
	frame := p.Frames(t, 1, webtest.At(direct.URL))[0]
	frame.Wait(t, fmt.Sprintf("document.title === %q", direct.URL+" alone"))
	if referrer != "" || cookie != "" {
		t.Errorf("the direct page got Referer %q, Cookie %q", referrer, cookie)
	}

	// Our own origin can be framed, but without allow-same-origin.
	own := start(t, nil)
	own.open(t, site{id: "own", title: "own", url: own.origin + "/"})
	p = webtest.Start(t).Open(t, own.link)
	p.Wait(t, `document.querySelector(".card iframe").contentDocument.querySelector("iframe").getAttribute("sandbox") === "allow-scripts allow-forms allow-modals allow-downloads"`)
}
