package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// save writes a screenshot of the page if SCREENSHOTS names a folder.
func save(t *testing.T, name string, p *webtest.Page) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), p.Screenshot(t), 0o644); err != nil {
		t.Fatal(err)
	}
}

// saveAll saves screenshots at three widths, light and dark.
func saveAll(t *testing.T, name string, p *webtest.Page) {
	t.Helper()
	for _, mode := range []string{"light", "dark"} {
		p.Wait(t, `document.documentElement.dataset.colorMode === "`+mode+`" || void document.getElementById("theme").click()`)
		for _, size := range [][2]int64{{390, 844}, {1024, 768}, {1440, 900}} {
			p.Resize(t, size[0], size[1])
			webtest.Eval[bool](t, p, `new Promise((r) => setTimeout(() => r(true), 400))`)
			save(t, fmt.Sprintf("%s-%d-%s", name, size[0], mode), p)
		}
	}
}

// TestScreenshots writes screenshots of what goes wrong in the page, and of its dialogs, for
// people to look at. TestShots in programtest has the other states.
func TestScreenshots(t *testing.T) {
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("set SCREENSHOTS to a folder to get pictures of the page")
	}
	b := webtest.Start(t, "host-resolver-rules=MAP canvas.test 127.0.0.1")
	e := start(t, nil)
	openSamples(t, e)
	p := b.Open(t, e.link)
	shown(t, p, 3)
	saveAll(t, "samples", p)
	p.Resize(t, 740, 360)
	webtest.Eval[any](t, p, `void import("./ui.js").then((ui) => { for (const d of document.querySelectorAll("footer details")) d.open = true; ui.notice("“Release 1.9” was closed."); ui.notice("“A longer title of a canvas” was closed."); })`)
	p.Wait(t, `document.querySelectorAll("#notices p").length === 2`)
	save(t, "landscape", p)
	p.Resize(t, 1440, 900)
	save(t, "notices", p)
	webtest.Eval[any](t, p, `document.querySelectorAll("footer details").forEach((d) => { d.open = false; })`)
	webtest.Eval[any](t, p, `document.querySelector(".card:not([hidden]) .more").click()`)
	save(t, "menu", p)
	webtest.Eval[any](t, p, `void Object.defineProperty(navigator, "clipboard", { value: { writeText: async () => { throw new Error("not allowed"); } } })`)
	webtest.Eval[any](t, p, `[...document.querySelectorAll(".menu button")].find((b) => b.textContent === "Copy a link for someone").click()`)
	p.Wait(t, `document.querySelector(".ask[open]")`)
	saveAll(t, "share", p)
	webtest.Eval[any](t, p, `document.querySelector(".ask[open]").close()`)
	webtest.Eval[any](t, p, `document.getElementById("switch").click()`)
	p.Wait(t, pictures+` === 3`)
	saveAll(t, "pictures", p)
	webtest.Eval[any](t, p, `document.getElementById("switcher").close()`)
	webtest.Eval[any](t, p, `document.getElementById("open-canvas").click()`)
	saveAll(t, "gallery", p)
	webtest.Eval[any](t, p, `document.getElementById("gallery").close()`)
	webtest.Eval[any](t, p, `document.querySelectorAll("footer details").forEach((d) => { d.open = true; })`)
	saveAll(t, "activity", p)
	webtest.Eval[any](t, p, `document.querySelectorAll("footer details").forEach((d) => { d.open = false; })`)
	e.update(t, "board", canvas.Updated{Availability: new(session.Stale), Status: ahp.Set("3 of 5 cards done")})
	p.Wait(t, `document.querySelector(".words.veil")`)
	saveAll(t, "stale", p)
	p.Reload(t)
	p.Wait(t, `document.querySelectorAll(".card .words[hidden]").length === 2`)
	saveAll(t, "stale-reloaded", p)
	webtest.Eval[any](t, p, `document.querySelector(".card:not([hidden]) .close").click()`)
	p.Wait(t, `document.querySelector(".undo:not([hidden])")`)
	saveAll(t, "undo", p)

	offline := startWith(t, setup{name: "canvas.test"}, helloSite("one"))
	p = b.Open(t, offline.link)
	p.Wait(t, spoken+` !== "" && document.querySelector(".words").hidden`)
	webtest.Eval[any](t, p, `void Object.defineProperty(navigator, "onLine", { get: () => false })`)
	offline.gone()
	p.Wait(t, `document.querySelector("#banner strong").textContent === "This device is offline."`)
	p.Wait(t, `document.querySelector(".words.veil")`)
	saveAll(t, "offline", p)

	failing := start(t, nil, site{id: "a", title: "A file", url: "file:///etc/passwd"}, site{id: "b", title: "Missing", url: "ahp-canvas-content:/b/x.html"},
		site{id: "c", title: "Restless", files: map[string]string{"index.html": `<script>location = "http://127.0.0.1:9/"</script>`}})
	p = b.Open(t, failing.link)
	p.Wait(t, `document.querySelectorAll(".retry:not([hidden])").length === 1`)
	saveAll(t, "failures", p)
}
