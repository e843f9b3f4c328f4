package web_test

import (
	"fmt"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/google/go-cmp/cmp"
	"net/http"
	"testing"
)

// words reads the page's messages about problems.
const words = `[...document.querySelectorAll("#banner:not([hidden]), .words:not([hidden]) h3, .words:not([hidden]) p, #empty:not([hidden])")].map((e) => e.innerText).join(" ").replace(/\s+/g, " ")`

func TestProblemTexts(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	at := func(id, url string) site { s := helloSite(id); s.url = url; return s }
	for _, tt := range []struct {
		name  string
		sites []site
		link  func(e *env) string
		want  string
	}{
		{"no token", nil, func(e *env) string { return e.origin + "/" }, "This page needs its link."},
		{"token refused", nil, func(e *env) string { return web.Link(e.origin, "wrong", host.DefaultSession) }, "The link is not valid here."},
		{"no such session", nil, func(e *env) string { return web.Link(e.origin, viewToken, "ahp-session:/gone") }, "There is no such session."},
		{"nothing open", nil, nil, "Nothing is open"},
		{"file url", []site{at("a", "file:///etc/passwd")}, nil, "This address is not allowed Addresses that begin with “file:” are not shown here."},
		{"javascript url", []site{at("a", "javascript:alert(1)")}, nil, "Addresses that begin with “javascript:” are not shown here."},
		{"http elsewhere", []site{at("a", "http://example.com/")}, nil, "Plain http addresses are shown only if they are on this machine."},
		{"no url at all", []site{at("a", "not a url")}, nil, "The address of this canvas is not a URL."},
		{"password in it", []site{at("a", "https://me:secret@example.com/")}, nil, "The address of this canvas contains a user name or a password."},
		{"another canvas's", []site{at("a", "ahp-canvas-content:/b/")}, nil, "The address of this canvas belongs to another canvas."},
		{"canvas that leaves", []site{{id: "a", files: map[string]string{"index.html": `<script>location = "http://127.0.0.1:9/"</script>`}}}, nil, "The canvas tried to navigate to another address, which is not allowed here."},
		{"canvas that moves the frame", []site{{id: "a", files: map[string]string{"index.html": `<script>const a = parent.document.createElement("a"); a.href = "/.ahp/canvas.js"; parent.document.body.append(a); a.click()</script>`}}}, nil, "The canvas left its frame."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := start(t, nil, tt.sites...)
			link := e.link
			if tt.link != nil {
				link = tt.link(e)
			}
			p := b.Open(t, link)
			p.Wait(t, fmt.Sprintf("(%s).includes(%q)", words, tt.want))
		})
	}
}

// TestReadsAndOtherRequests: reads, and requests that are not reads.
func TestReadsAndOtherRequests(t *testing.T) {
	s := helloSite("one")
	s.files["data.bin"] = "\xff\x00\x01"
	s.files["main.js"] = `
		const out = {};
		const ask = async (name, path, init) => { try { const r = await fetch(path, init); out[name] = [r.status, r.headers.get("content-type"), [...new Uint8Array(await r.arrayBuffer())].slice(0, 3).join()]; } catch (e) { out[name] = e.name; } };
		await ask("get", "/style.css?x=1");
		await ask("binary", "/data.bin");
		await ask("absent", "/absent");
		await ask("post", "/style.css", { method: "POST", body: "x" });
		await ask("range", "/style.css", { headers: { Range: "bytes=0-1" } });
		await ask("events", "/style.css", { headers: { Accept: "text/event-stream" } });
		await ask("other origin", "http://127.0.0.1:9/", { mode: "no-cors" });
		await ask("long", "/" + "x".repeat(5000));
		document.out = out;`
	e := start(t, nil, s)
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	frame.Wait(t, document+`.out`)
	got := webtest.Eval[map[string]any](t, frame, document+`.out`)
	text := "text/plain; charset=utf-8"
	want := map[string]any{
		"get": []any{200.0, "text/css; charset=utf-8", "98,111,100"}, "binary": []any{200.0, "application/octet-stream", "255,0,1"},
		"absent": []any{404.0, text, "84,104,105"}, "post": []any{501.0, text, "84,104,105"}, "range": []any{501.0, text, "84,104,105"}, "events": []any{501.0, text, "84,104,105"},
		"long": []any{414.0, text, "84,104,101"}, "other origin": "TypeError",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// TestAbsentDocument: a missing document has a text for people.
func TestAbsentDocument(t *testing.T) {
	s := helloSite("one")
	s.url = "ahp-canvas-content:/one/absent.html"
	e := start(t, nil, s)
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)[0].Wait(t, document+`.body.innerText.startsWith("This canvas has no such file.")`)
}

// TestPageThatDoesNotRun: a browser that cannot run the page's scripts shows a message,
// not an endless "Connecting".
func TestPageThatDoesNotRun(t *testing.T) {
	b := webtest.Start(t)
	for _, tt := range []struct{ name, path, old, text, want string }{
		{"too new to be read", "/app.js", "// @ts-check", "let it be;", "SyntaxError"},
		{"something is lacking", "/timeline.js", "// @ts-check", "navigator.lacking.use();", "TypeError"},
		{"a module is lacking", "/app.js", "./theme.js", "./none.js", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			broken := func(next http.Handler) http.Handler { return rewritten(next, tt.path, tt.old, tt.text) }
			p := b.Open(t, start(t, broken).link)
			p.Wait(t, fmt.Sprintf(`(%s).startsWith("This page does not run in this browser.") && (%[1]s).includes(%q)`, words, tt.want))
		})
	}
}

// TestInvalidLanguage: a browser can report an invalid language tag, as WebKitGTK
// does with the locale C.
func TestInvalidLanguage(t *testing.T) {
	named := func(next http.Handler) http.Handler {
		return rewritten(next, "/first.js", "// @ts-check", `Object.defineProperty(navigator, "language", { value: "C" });`)
	}
	p := webtest.Start(t).Open(t, start(t, named, helloSite("one")).link)
	if got := webtest.Eval[string](t, p, "navigator.language"); got != "C" {
		t.Fatalf("the language is %q", got)
	}
	shown(t, p, 1)
}

// TestUnresolvedNames: a browser that cannot resolve content hosts, which happens
// below localhost, says so.
func TestUnresolvedNames(t *testing.T) {
	b := webtest.Start(t, "host-resolver-rules=MAP *.localhost ~NOTFOUND")
	p := b.Open(t, start(t, nil, helloSite("one")).link)
	p.Wait(t, fmt.Sprintf("(%s).includes(%q)", words, "this browser cannot resolve the host name of the canvas"))
	save(t, "not-found", p)
}
