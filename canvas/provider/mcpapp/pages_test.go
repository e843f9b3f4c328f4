package mcpapp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// in evaluates an expression in the View.
func (v *viewer) in(expression string) string {
	v.t.Helper()
	return v.eval(`w.eval(` + string(quoted(expression)) + `)`)
}

func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

// answer is what the View has shown as the answer to its last request.
const answer = `d.querySelector("#answer").textContent`

// initialized waits until the View has its result.
func (v *viewer) initialized() {
	v.t.Helper()
	v.wait(received + `.length >= 3`)
}

// TestPlace: the card follows what the View asks of its place, after a person did something
// and within limits, and the View learns of it.
func TestPlace(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		e := start(t)
		e.add(e.fake("ok"))
		e.mustOpen("show", "")
		v := e.view(webtest.Start(t))
		v.initialized()
		const maximized = `document.getElementById("canvases").dataset.maximized === "true"`
		contextTest(t, v)
		v.in(`ask("ui/request-display-mode", { mode: "fullscreen" }).then((m) => { document.querySelector("#answer").textContent = JSON.stringify(m.result); }), 0`)
		v.wait(answer + ` === '{"mode":"inline"}'`) // no person has touched the page
		v.click(`d.querySelector("#full")`)
		v.wait(answer + ` === '{"mode":"fullscreen"}'`)
		v.tab.Wait(t, maximized)
		v.in(`ask("ui/initialize", { appCapabilities: { availableDisplayModes: ["inline"] } }).then(() => notify("ui/notifications/initialized")), 0`)
		v.tab.Click(t, ".maximize")
		v.tab.Wait(t, `!(`+maximized+`)`)
		v.wait(`w.eval("messages").some((m) => m.params?.displayMode === "inline")`)
		v.click(`d.querySelector("#full")`)
		v.wait(answer + ` === '{"mode":"inline"}'`) // the View says that it cannot

		v.in(`notify("ui/notifications/size-changed", { width: 1, height: 9000 }), 0`)
		v.tab.Wait(t, `parseFloat(document.querySelector(".card").style.getPropertyValue("--height")) > 0`)
		const height = `(parseFloat(document.querySelector(".card").style.getPropertyValue("--height")) * parseFloat(getComputedStyle(document.documentElement).fontSize) / innerHeight)`
		if got := webtest.Eval[float64](t, v.tab, height); got < 0.79 || got > 0.81 {
			t.Errorf("the card has %v of the window's height", got)
		}
		v.in(`notify("ui/notifications/size-changed", { width: 1, height: 300 }), ask("ping").then(() => { document.querySelector("#answer").textContent = "pong"; }), 0`)
		v.wait(answer + ` === "pong"`)
		if got := webtest.Eval[float64](t, v.tab, height); got < 0.79 {
			t.Errorf("a second size counts: %v", got)
		}
	})
}

// contextTest: the host context is complete, changes arrive as the changed members alone, and
// no permission is granted.
func contextTest(t *testing.T, v *viewer) {
	t.Helper()
	want := "light en-US " + v.eval(`Intl.DateTimeFormat().resolvedOptions().timeZone`) + " inline inline,fullscreen web ahp-canvas show true true 2"
	got := v.eval(`(({ theme, locale, timeZone, displayMode, availableDisplayModes, platform, userAgent, toolInfo, deviceCapabilities, containerDimensions, styles }) =>
		[theme, locale === navigator.language ? "en-US" : locale, timeZone, displayMode, availableDisplayModes, platform, userAgent, toolInfo.tool.name, typeof deviceCapabilities.touch === "boolean" && typeof deviceCapabilities.hover === "boolean",
			["background", "text", "border", "ring"].every((k) => styles.variables["--color-" + k + "-primary"]) && Boolean(styles.variables["--font-sans"] && styles.variables["--font-mono"]), Object.keys(containerDimensions).length].join(" "))(w.context)`)
	if got != want {
		t.Errorf("the context is %s, want %s", got, want)
	}
	if got, want := v.eval(`Object.keys(w.capabilities).sort().join()`), "downloadFile,logging,message,openLinks,sandbox,serverResources,serverTools,updateModelContext"; got != want {
		t.Errorf("the capabilities are %s", got)
	}
	if got := v.eval(`["camera", "microphone", "geolocation", "clipboard-write", "clipboard-read"].filter((f) => d.featurePolicy.allowsFeature(f)).join()`); got != "" {
		t.Errorf("the View has %s", got)
	}
	v.in(`messages.length = 0, 0`)
	v.tab.Resize(t, 1000, 700)
	v.wait(`w.eval("messages").length > 0`)
	if got := v.eval(`w.eval("messages").map((m) => m.method + " " + Object.keys(m.params)).filter((s) => s !== "ui/notifications/host-context-changed containerDimensions").join()`); got != "" {
		t.Errorf("after a change of the size the View received %s", got)
	}
}

// TestDownload: a file of the View is saved after a person saw its name and size, and agreed.
func TestDownload(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		e := start(t)
		e.add(e.fake("ok"))
		e.mustOpen("show", "")
		v := e.view(webtest.Start(t))
		v.initialized()
		webtest.Eval[any](t, v.tab, `void (window.saved = [], HTMLAnchorElement.prototype.click = function () { saved.push(this.download + " " + this.href.slice(0, 5)); })`)
		const bar = `document.querySelector(".save:not([hidden]) .text")?.textContent`
		v.in(`files = [{ type: "resource", resource: { uri: "file:///a/b/..%2f/.evil\u202e.txt", text: "hello" } }], 0`)
		v.click(`d.querySelector("#save")`)
		v.tab.Wait(t, bar+` === "This canvas offers a file: evil.txt (5 bytes)"`)
		save(t, v, "download")
		v.tab.Click(t, ".save .dismiss")
		v.wait(answer + ` === '{"isError":true}'`)
		if got := webtest.Eval[string](t, v.tab, `saved.join()`); got != "" {
			t.Fatalf("saved without consent: %s", got)
		}
		v.in(`files = [{ type: "resource_link", uri: "` + fakeURI + `", name: "linked page.html" }], document.querySelector("#answer").textContent = "", 0`)
		v.click(`d.querySelector("#save")`)
		v.tab.Wait(t, bar+`?.startsWith("This canvas offers a file: linked page.html (")`)
		v.tab.Wait(t, `(document.querySelector(".save .keep").click(), saved.length === 1)`) // a moment later
		v.wait(answer + ` === "{}"`)
		if got := webtest.Eval[string](t, v.tab, `saved.join()`); got != "linked page.html blob:" {
			t.Errorf("saved %s", got)
		}
		limits := `import("/fileoffer.js").then(async ({ FileOffers, FILE_BAR, fileName }) => {
			const box = document.createElement("div"); box.innerHTML = FILE_BAR("x");
			const offers = new FileOffers(box, () => {}), got = [];
			const offer = (bytes) => offers.offer("x", bytes).then((o) => got.push(o), (err) => got.push(err.message));
			await offer(new ArrayBuffer(16 * 1024 * 1024 + 1)); await offer("text");
			offer(new ArrayBuffer(1)); await offer(new ArrayBuffer(1)); box.querySelector(".keep").click(); offers.withdraw(); await 0;
			for (let i = 0; i < 9; i++) { offer(new ArrayBuffer(1)); offers.withdraw(); }
			await offer(new ArrayBuffer(1));
			return [...new Set(got), fileName("../../x/.\u0000."), fileName("a:b|c\u202e"), fileName("C:\\x\\" + "y".repeat(300)).length].join("; ");
		})`
		if got, want := webtest.Eval[string](t, v.tab, limits), "a file can have at most 16 MiB; a file has a name and bytes; another file is offered already; dismissed; 10 files a minute are the limit; file; abc; 128"; got != want {
			t.Errorf("the limits: %s", got)
		}
	})
}

func save(t *testing.T, v *viewer, name string) {
	t.Helper()
	v.save(name)
}

// TestHostileView: a View has the wrapper's origin. With everything that the wrapper may do it
// gains nothing: no forbidden tool, no more messages than allowed, no window, no full window.
func TestHostileView(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		var hits atomic.Int32
		canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
		defer canary.Close()
		e := start(t)
		e.add(e.fake("ok"))
		e.mustOpen("show", "")
		v := e.view(webtest.Start(t))
		v.initialized()
		for n, link := range []string{"javascript:alert(1)", "http://plain.example/", "https://user@host.example/", "data:text/html,x", "file:///etc/passwd", "https://" + strings.Repeat("x", 2100)} {
			v.in(fmt.Sprintf(`(window.outcome = "", ask("ui/open-link", { url: %q }).then((m) => { outcome = %d + JSON.stringify(m.result); }), 0)`, link, n))
			v.wait(fmt.Sprintf(`w.eval("outcome") === '%d{"isError":true}'`, n))
			v.wait(`h.body.innerText.includes("The app offers a link that cannot be opened here: ` + link[:min(len(link), 500)] + `")`)
		}
		v.in(`for (let i = 0; i < 40; i++) ask("ui/open-link", { url: "` + canary.URL + `/" + i }); 0`)
		v.tab.Wait(t, `document.querySelectorAll(".offer:not([hidden])").length === 1`)
		v.in(`ask("ui/open-link", { url: "https://exаmple.com/" }), 0`) // a Cyrillic letter
		v.tab.Wait(t, `document.querySelector(".offer strong").textContent === "xn--exmple-4nf.com"`)
		before := e.called()
		v.in(`(window.done = "", (async () => {
			const rpc = (tool) => parent.fetch("/-/rpc?n=h" + Math.random(), { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: {} } }) }).then((r) => r.text());
			const say = (n) => parent.fetch("/-/say", { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: n, method: "ui/message", params: { content: [] } }) }).then((r) => r.json());
			const refused = [await rpc("secret_action"), await rpc("show")].map((t) => t.includes("unknown tool"));
			let said = 0;
			for (let n = 0; n < 14; n++) if ((await say(n)).result) said++;
			const script = parent.document.createElement("script");
			script.type = "module";
			script.textContent = 'import { fullscreen, offerLink } from "/.ahp/canvas.js"; offerLink("` + canary.URL + `/bar").catch(() => {}); globalThis.alone = fullscreen(true);';
			parent.document.body.append(script);
			while (!parent.alone) await new Promise((r) => setTimeout(r, 50));
			done = JSON.stringify([refused, said, await parent.alone]);
		})(), 0)`)
		v.wait(`w.eval("done")`)
		if got := v.eval(`w.eval("done")`); got != "[[true,false],10,false]" { // show is for pages too
			t.Errorf("a hostile View: %s", got)
		}
		if got := strings.TrimPrefix(e.called(), before); strings.Contains(got, "secret") {
			t.Errorf("the server saw %s", got)
		}
		if n := hits.Load(); n != 0 {
			t.Errorf("%d links were opened without a click", n)
		}
	})
}

// TestToolsOfView: the tools of a page go to the View that was ready first, until its
// page is closed.
func TestToolsOfView(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		e := start(t)
		e.add(e.fake("ok"))
		e.mustOpen("show", "")
		b := webtest.Start(t)
		first := e.view(b)
		first.initialized()
		first.in(`me = "the first", 0`)
		if got, err := e.invoke("show", "app_list_tools", ""); err != nil || !strings.Contains(got, `"paint"`) {
			t.Fatalf("%s, %v", got, err)
		}
		second := e.view(b)
		second.initialized()
		second.in(`me = "the second", 0`)
		call := func() string {
			got, err := e.invoke("show", "app_call_tool", `{"name":"paint","arguments":{"color":"red"}}`)
			if err != nil {
				return err.Error()
			}
			return got
		}
		if got := call(); !strings.Contains(got, `the first {\"name\":\"paint\",\"arguments\":{\"color\":\"red\"}}`) {
			t.Errorf("the first View: %s", got)
		}
		first.tab.Close()
		e.await("the second View", func() bool { return strings.Contains(call(), "the second") })
	})
}

// TestTeardown: pages are asked to leave before a close, and when their tool is withdrawn.
func TestTeardown(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		e := start(t)
		e.add(e.fake("ok"))
		b := webtest.Start(t)
		e.mustOpen("show", "")
		v := e.view(b)
		v.initialized()
		if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, "show"); err != nil {
			t.Fatal(err)
		}
		e.awaitEvent("torn down")
		v.tab.Close()
		e.mustOpen("show", "")
		v = e.view(b)
		v.initialized()
		v.in(`ask("ui/message", { content: [{ type: "text", text: "before" }] }), 0`)
		e.awaitEvent("before")
		if _, err := e.invoke("show", "act", `{"what":"withdraw show"}`); err != nil {
			t.Fatal(err)
		}
		e.await("the second teardown", func() bool {
			p, err := e.host.Canvases().Events(t.Context(), host.DefaultSession, 0, 0)
			return err == nil && strings.Count(string(quotedEvents(p.Events)), "torn down") == 2
		})
	})
}

// reports is a script of a View whose document nothing can look into.
const reports = `<script>(async () => {
	while (messages.length < 2) await new Promise((r) => setTimeout(r, 20));
	const called = await ask("tools/call", { name: "count", arguments: { by: 2 } });
	const all = [origin, document.compatMode, typeof RTCPeerConnection, document.querySelector("meta[http-equiv]").content.split(";")[0], called.result.content[0].text, ...messages.map((m) => m.method)];
	ask("ui/message", { content: [{ type: "text", text: "report " + all.join() }] });
})();</script>`

// TestSingleDocument: without service workers a View is initialized too, calls its server, and
// has its policy.
func TestSingleDocument(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		b := webtest.Start(t, "host-resolver-rules=MAP app.example 127.0.0.1")
		e := start(t, func(_ *mcpapp.Options, ho *host.Options) { ho.Origins = []string{"http://app.example:{port}"} })
		s := e.fake("ok")
		s.Env["FAKE_PAGE"] = e.pageOf(t, fakePage+reports)
		e.add(s)
		e.mustOpen("show", `{"what":"one"}`)
		tab := b.Open(t, e.host.Link(host.DefaultSession))
		tab.Wait(t, `document.querySelector(".note:not([hidden])")?.textContent.startsWith("Single-document mode")`)
		if got, want := e.awaitEvent("report "), `report null,CSS1Compat,undefined,default-src 'none',counted {\"by\":2},ui/notifications/tool-input,ui/notifications/tool-result`; !strings.Contains(got, want) {
			t.Errorf("the View reports %s, want %s", got, want)
		}
		if dir := os.Getenv("SCREENSHOTS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "mcpapp-single.png"), tab.Screenshot(t), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func quotedEvents(events []canvas.Event) (all []byte) {
	for _, e := range events {
		all = append(all, e.Event...)
	}
	return all
}

// TestOtherBrowsers: a View is initialized, calls its server and speaks to the agent in other
// browsers too.
func TestOtherBrowsers(t *testing.T) {
	if os.Getenv("AHP_LONG") == "" {
		t.Skip("starts two more browsers: set AHP_LONG=1")
	}
	webtest.Each(t, func(t *testing.T) {
		e := start(t)
		s := e.fake("ok")
		s.Env["FAKE_PAGE"] = e.pageOf(t, fakePage+strings.Replace(reports, `document.querySelector("meta[http-equiv]").content.split(";")[0]`, `"policy"`, 1))
		e.add(s)
		e.mustOpen("show", "")
		webtest.Start(t).Open(t, e.host.Link(host.DefaultSession))
		if got := e.awaitEvent("report "); !strings.Contains(got, `counted {\"by\":2},ui/notifications/tool-input,ui/notifications/tool-result`) {
			t.Errorf("the View reports %s", got)
		}
	}, webtest.Firefox, webtest.WebKit)
}

// TestAxe: the wrapper with its notes and the panel have no serious fault of accessibility.
func TestAxe(t *testing.T) {
	code, err := os.ReadFile("../../web/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("needs npm ci in canvas/web")
	}
	inBrowser(t, func(t *testing.T) {
		e := start(t)
		e.add(e.fake("ok"))
		b := webtest.Start(t)
		for _, id := range []string{"show", "fake"} {
			e.mustOpen(id, "")
			tab := b.Open(t, e.host.Link(host.DefaultSession))
			frame := tab.Frames(t, 1, webtest.ContentFrame)[0]
			const in = `document.querySelector("iframe").contentWindow`
			if !frame.WaitAtMost(webtest.Timeout, `(d => d.querySelector("#notes p") || d.querySelector("#calls td"))(`+in+`.document)`) {
				t.Fatalf("%s is not shown", id)
			}
			webtest.Eval[any](t, frame, `void `+in+`.eval(`+string(quoted(string(code)))+`)`)
			got := webtest.Eval[[]string](t, frame, in+`.eval(`+string(quoted(`axe.run(document, { iframes: false }).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html)))`))+`)`)
			if len(got) > 0 {
				t.Errorf("%s: %q", id, got)
			}
			tab.Close()
			if err := e.host.Canvases().Close(t.Context(), host.DefaultSession, id); err != nil {
				t.Fatal(err)
			}
		}
	})
}
