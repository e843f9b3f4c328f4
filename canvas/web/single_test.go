package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// noWorker removes a header without which a browser does not register the service
// worker.
const noWorker strip = "asset: Service-Worker-Allowed"

// singleDocument matches frames of single-document mode.
func singleDocument(u *url.URL) bool { return u.Path == "/single.html" }

// spoken is the text of all notes of single-document mode.
const spoken = `[...document.querySelectorAll(".note:not([hidden])")].map((n) => n.textContent).join(" ")`

// TestSingleDocument: without service workers a canvas is shown with its resources
// inlined, and takes part as usual.
func TestSingleDocument(t *testing.T) {
	s := helloSite("one")
	s.files["index.html"] = strings.Replace(s.files["index.html"], "<h1>", `<script defer src="/classic.js"></script><img alt="dot" src="dot.svg"><a id="on" href="second.html">on</a><video src="/absent.mp4"></video><h1>`, 1)
	s.files["dot.svg"] = `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20" fill="teal"/></svg>`
	s.files["classic.js"] = `document.documentElement.lang = document.querySelector("h1") ? "de" : "early"; "</script>"`
	s.files["second.html"] = `<!doctype html><p>second</p><script type="module">import { send } from "/.ahp/canvas.js"; send("second")</script>`
	s.files["sum.js"] = `import { self } from "./main.js"; export const sum = (n) => n + 1;`
	s.files["main.js"] = `import { sum } from "./sum.js"; export const self = 1;
		import { onAction, onMessage, send, input } from "/.ahp/canvas.js";
		onAction("add", ({ n }) => ({ sum: sum(n) }));
		onMessage((v) => { if (v === "look") look(); if (v === "go") document.getElementById("on").click(); });
		const look = () => send({ mode: document.documentElement.dataset.colorMode, back: getComputedStyle(document.body).backgroundColor,
			image: document.querySelector("img").naturalWidth, lang: document.documentElement.lang, origin });
		const { start } = await input;
		await fetch("/data.json").catch(() => {});
		await send({ start });`
	e := start(t, without(noWorker), s)
	p := webtest.Start(t).Open(t, e.link)
	e.message(t, func(payload any) bool { return isView(payload, "hello") })
	e.message(t, func(payload any) bool { m, _ := payload.(object); return m["start"] == 7.0 })
	p.Frames(t, 1, singleDocument)
	p.Wait(t, spoken+`.startsWith("Single-document mode: this browser does not allow service workers here.")`)
	for _, lack := range []string{"/absent.mp4", "/data.json"} {
		p.Wait(t, spoken+`.includes("`+lack+`")`)
	}
	e.send(t, "one", object{"x-ahp": "view/1", "type": "invoke", "id": "7", "action": "add", "input": object{"n": 41}})
	if got := e.message(t, func(payload any) bool { return isView(payload, "result") }).(object); got["value"].(object)["sum"] != 42.0 {
		t.Errorf("the action's answer: %v", got)
	}
	look := func(mode, back string) {
		t.Helper()
		e.send(t, "one", "look")
		m := e.message(t, func(payload any) bool { m, _ := payload.(object); return m["mode"] != nil }).(object)
		if m["mode"] != mode || m["back"] != back || m["image"] != 20.0 || m["lang"] != "de" || m["origin"] != "null" {
			t.Errorf("the document in %s: %v", mode, m)
		}
	}
	look("light", "rgb(255, 255, 255)")
	p.Click(t, "#theme")
	p.Click(t, "#theme")
	p.Wait(t, `document.documentElement.dataset.colorMode === "dark"`)
	look("dark", "rgb(21, 24, 29)")
	save(t, "single", p)
	e.send(t, "one", "go")
	e.message(t, func(payload any) bool { return payload == "second" })
}

// TestSingleForms: a form's handlers run as in a normal page, though the sandbox
// of a single document suppresses the submit event.
func TestSingleForms(t *testing.T) {
	s := site{id: "one", title: "Forms", files: map[string]string{"index.html": `<!doctype html>
		<form id="inline" onsubmit="said('inline ' + event.submitter.value + ' ' + new FormData(this, event.submitter).get('name')); return false">
			<input name="name" required><input name="reportValidity" value="shadows the method"><button name="how" value="button"><b id="press">Send</b></button></form>
		<form id="single"><input id="enter" value="x"></form>
		<form id="two"><input id="first"><input></form>
		<form id="stopped"><button id="stop">Stop</button><button id="prevent">Prevent</button><button id="off" disabled>Off</button><button id="plain" type="button">Plain</button></form>
		<dialog id="dialog"><form method="dialog"><button id="yes" value="yes">Yes</button></form></dialog>
		<form id="unhandled" action="/save"><button id="save">Save</button></form>
		<script type="module">
			import { onMessage, send } from "/.ahp/canvas.js";
			window.said = (text) => send({ said: text });
			const $ = (id) => document.getElementById(id);
			for (const id of ["single", "two", "stopped"]) $(id).addEventListener("submit", (e) => { e.preventDefault(); said(id + " " + (e.submitter?.id ?? null)); });
			$("inline").addEventListener("invalid", () => said("invalid"), true);
			$("stop").addEventListener("click", (e) => e.stopImmediatePropagation(), true);
			$("prevent").addEventListener("click", (e) => e.preventDefault());
			$("dialog").addEventListener("close", () => said("dialog " + $("dialog").returnValue));
			onMessage((code) => { new Function("$", code)($); setTimeout(() => said("end"), 50); });
			send("ready");
		</script>`}}
	e := start(t, without(noWorker), s)
	p := webtest.Start(t).Open(t, e.link)
	e.message(t, func(payload any) bool { return payload == "ready" })
	p.Wait(t, `document.querySelector(".words").hidden`)
	for _, c := range []struct{ name, code, keys, want string }{
		{"an invalid field", `$("press").click()`, "", "invalid"},
		{"a press within the button", `document.querySelector("[name=name]").value = "Ann"; $("press").click()`, "", "inline button Ann"},
		{"requestSubmit", `$("stopped").requestSubmit($("stop"))`, "", "stopped stop"},
		{"a handler that stops the propagation", `$("stop").click()`, "", "stopped stop"},
		{"a press that was prevented", `$("prevent").click()`, "", ""},
		{"a disabled button", `$("off").dispatchEvent(new MouseEvent("click"))`, "", ""},
		{"a button that submits nothing", `$("plain").click()`, "", ""},
		{"Enter in a form with one field", `$("enter").focus()`, "\r", "single null"},
		{"Enter in a form with two fields", `$("first").focus()`, "\r", ""},
		{"Enter in a form with a button", `document.querySelector("[name=name]").focus()`, "\r", "inline button Ann"},
		{"a dialog", `$("dialog").showModal(); $("yes").click()`, "", "dialog yes"},
	} {
		if c.keys != "" { // after the focus has moved
			e.send(t, "one", c.code)
			e.message(t, saidIs("end"))
			p.Keys(t, c.keys)
			c.code = ""
		}
		e.send(t, "one", c.code)
		var got []string
		for text := ""; text != "end"; {
			m := e.message(t, func(payload any) bool { m, _ := payload.(object); return m["said"] != nil }).(object)
			if text = m["said"].(string); text != "end" {
				got = append(got, text)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: the page's handlers saw %q, want %q", c.name, got, c.want)
		}
	}
	e.send(t, "one", `$("save").click()`)
	p.Wait(t, spoken+`.includes("/save")`)
}

// saidIs matches the message of TestSingleForms's page with a text.
func saidIs(text string) func(payload any) bool {
	return func(payload any) bool { m, _ := payload.(object); return m["said"] == text }
}

// TestNoContentOrigin: without content origins the page does not try a service worker,
// and says what to do.
func TestNoContentOrigin(t *testing.T) {
	none := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				next.ServeHTTP(w, r)
				return
			}
			rec := &recorder{header: http.Header{}}
			next.ServeHTTP(rec, r)
			maps.Copy(w.Header(), rec.header)
			w.Header().Del("Content-Length")
			_, _ = w.Write(regexp.MustCompile(`http://\*[^"]*`).ReplaceAll(rec.body.Bytes(), nil))
		})
	}
	e := start(t, none, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	e.message(t, func(payload any) bool { return isView(payload, "hello") })
	p.Wait(t, spoken+`.includes("start it with --content-origin") && document.querySelector(".words").hidden`)
}

// TestSingleAttacks: attacks fail in this mode too, and would succeed without the
// page's policies.
func TestSingleAttacks(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t, "disable-popup-blocking")
	var rows, real []attack
	for i, a := range attacks {
		if !long && i%2 == 1 {
			continue // the attacks are those of TestAttacksReachNothing
		}
		// Attacks with further files need a service worker, and no script reaches the
		// outer frame: it has another origin.
		if a.more == nil && a.headers == nil && !strings.HasPrefix(a.name, "outer frame") {
			rows = append(rows, a)
		}
	}
	assault(t, b, asFiles, rows, []strip{noWorker}, func(p *webtest.Page, part []attack, canaries []*canary) {
		p.Wait(t, everyCard)
		for i, a := range part {
			if sung(canaries[i], 0) {
				t.Errorf("%s: the canary was reached by %s", a.name, canaries[i].received())
			}
		}
	})
	for _, a := range attacks {
		if slices.Contains([]string{"fetch", "location", "img"}, a.name) {
			real = append(real, a)
		}
	}
	if len(real) == 0 {
		t.Fatal("no row is tried without the policies")
	}
	open := []strip{noWorker, "single: Content-Security-Policy", "single: Connection-Allowlist", "app: Content-Security-Policy"}
	assault(t, b, asFiles, real, open, func(_ *webtest.Page, part []attack, canaries []*canary) {
		for i, a := range part {
			if !sung(canaries[i], webtest.Timeout/2) {
				t.Errorf("%s reaches nothing without the policies either", a.name)
			}
		}
	})
}

// TestPartitionsOff: with the flag that Playwright gives Chromium by default, frames have no
// service workers, and the page says what to change.
func TestPartitionsOff(t *testing.T) {
	b := webtest.Start(t, "disable-features=ThirdPartyStoragePartitioning", "enable-automation")
	if b.Kind != webtest.Chromium {
		t.Skip("a flag of Chromium")
	}
	p := b.Open(t, start(t, nil, helloSite("one")).link)
	p.Wait(t, spoken+`.includes("leave ThirdPartyStoragePartitioning out of --disable-features")`)
}
