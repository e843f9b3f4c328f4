package mcpapp_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/mcpapp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

func inBrowser(t *testing.T, test func(t *testing.T)) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	webtest.Each(t, test, webtest.Chromium)
}

// received is what the fake page has received, a line each.
const received = `[...d.querySelectorAll("#log li")].map((l) => l.textContent)`

// TestView: the View is initialized, gets its input and its result once and in order, calls a
// tool by a person's click, and speaks to the agent as the app.
func TestView(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		e := start(t)
		e.add(e.fake("ok"))
		e.mustOpen("show", `{"what":"one"}`)
		b := webtest.Start(t)
		v := e.view(b)
		v.wait(received + `.length === 3`)
		if got, want := v.eval(received+`.join("\n")`), "initialized 2026-01-26\nui/notifications/tool-input {\"arguments\":{\"what\":\"one\"}}\nui/notifications/tool-result "; !strings.HasPrefix(got, want) {
			t.Errorf("the View received\n%s", got)
		}
		if got := v.eval(`[w.context.platform, w.context.toolInfo.tool.name, w.context.displayMode, typeof w.context.containerDimensions.width, Boolean(w.context.styles.variables["--color-background-primary"]), JSON.stringify(w.capabilities.sandbox.permissions)].join()`); got != "web,show,inline,number,true,{}" {
			t.Errorf("the context is %s", got)
		}
		if got := v.eval(`f.getAttribute("sandbox") + f.allow`); got != "allow-scripts allow-same-origin allow-forms" {
			t.Errorf("the View's frame: %s", got)
		}
		if got := v.eval("h.body.innerText"); !strings.Contains(got, "It asked for cesium.com, *.tiles.example, the microphone. They are not allowed here (start the host with --allow-origin fake=https://cesium.com --allow-origin fake=https://*.tiles.example)") {
			t.Errorf("the card says %s", got)
		}
		v.click(`d.querySelector("#add")`)
		v.wait(`d.querySelector("#answer").textContent.includes('counted {\\"by\\":2}')`)
		v.click(`d.querySelector("#tell")`)
		e.awaitEvent(`"type":"app.message"`)
		v.click(`d.querySelector("#note")`)
		v.wait(`d.querySelector("#answer").textContent === '{"isError":true}'`)
		v.save("fake")
		hostileCalls(t, v)

		for range 2 { // from the system's to light to dark
			v.tab.Click(t, "#theme")
		}
		v.wait(received + `.some((l) => l.startsWith("ui/notifications/host-context-changed") && l.includes('"theme":"dark"'))`)

		e.mustOpen("show", `{"what":"two"}`)
		e.awaitEvent("torn down")
		v.tab.Close()
		v = e.view(b)
		v.wait(received + `.length >= 3 && ` + received + `[2].includes("two")`)
		v.tab.Close()
		e.kill()
		e.await("the canvas again", func() bool { return e.availability("show") == "ready" })
		v = e.view(b)
		v.wait(received + `.length >= 3 && ` + received + `[2].includes("two")`)
		if n := strings.Count(e.called(), "show "); n != 2 {
			t.Errorf("%d calls of the tool", n)
		}
	})
}

// hostileCalls: a View has the wrapper's origin, and gains nothing from calling the
// provider itself.
func hostileCalls(t *testing.T, v *viewer) {
	t.Helper()
	v.eval(`(w.hostile = "", w.fetch("/-/rpc?n=h", { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret_action","arguments":{}}}' }).then((r) => r.text(), (e) => "blocked " + e).then((t) => { w.hostile = t; }), 0)`)
	v.wait(`w.hostile`)
	if got := v.eval("w.hostile"); !strings.Contains(got, "unknown tool") && !strings.HasPrefix(got, "blocked") {
		t.Errorf("a call by the View itself: %s", got)
	}
}

// TestResultAfterPage: a page that is shown before the result gets the result once.
func TestResultAfterPage(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		e := start(t, func(o *mcpapp.Options, _ *host.Options) { o.OpenWait = 1 })
		e.add(e.fake("ok"))
		gate := filepath.Join(t.TempDir(), "go")
		e.mustOpen("show", `{"what":"wait:`+filepath.ToSlash(gate)+`"}`)
		v := e.view(webtest.Start(t))
		v.wait(received + `.length === 2`)
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		v.wait(received + `.length === 3 && ` + received + `[2].startsWith("ui/notifications/tool-result")`)
	})
}

// TestNoNetwork: a page reaches nothing, whatever its resource declares.
func TestNoNetwork(t *testing.T) {
	inBrowser(t, func(t *testing.T) {
		var hits atomic.Int32
		canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
		defer canary.Close()
		e := start(t)
		e.add(e.fake("ok"))
		e.mustOpen("show", "")
		v := e.view(webtest.Start(t))
		v.wait(received + `.length === 3`)
		v.eval(`((u) => {
			const ends = [w.fetch(u).catch(() => {})];
			w.navigator.sendBeacon(u, "x");
			for (const [tag, name] of [["img", "src"], ["script", "src"], ["iframe", "src"], ["link", "href"], ["video", "src"], ["object", "data"]]) {
				const x = d.createElement(tag); x.rel = "stylesheet"; x[name] = u + tag; d.body.append(x);
				ends.push(new Promise((r) => { x.onload = x.onerror = r; setTimeout(r, 1000); }));
			}
			try { new w.WebSocket(u.replace("http", "ws")); } catch {}
			Promise.all(ends).then(() => { w.tried = true; });
		})("` + canary.URL + `/")`)
		v.wait(`w.tried`)
		v.frame.WaitAtMost(webtest.Timeout, prelude+`(new Promise((r) => {
			const form = d.createElement("form"); form.action = "`+canary.URL+`/form"; form.method = "post"; d.body.append(form); form.submit();
			setTimeout(() => r(true), 1000);
		}))})()`)
		if n := hits.Load(); n != 0 {
			t.Errorf("%d requests left the page", n)
		}
	})
}
