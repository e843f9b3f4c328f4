package web_test

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
	"os"
	"path/filepath"
	"testing"
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

// TestScreenshots writes screenshots of the page for people to look at.
func TestScreenshots(t *testing.T) {
	if os.Getenv("SCREENSHOTS") == "" {
		t.Skip("set SCREENSHOTS to a folder to get pictures of the page")
	}
	b := webtest.Start(t)
	e := start(t, nil, helloSite("one"), helloSite("two"), helloSite("three"))
	p := b.Open(t, e.link)
	shown(t, p, 3)
	save(t, "light", p)
	p.Click(t, "#theme")
	p.Click(t, "#theme")
	p.Click(t, "summary")
	e.update(t, "two", canvas.Updated{Availability: new(session.Stale), Status: ahp.Set("3 of 5 cards done")})
	p.Wait(t, `document.querySelector(".words.veil")`)
	p.Resize(t, 1280, 1000)
	save(t, "dark-stale", p)
	p.Resize(t, 390, 844)
	save(t, "narrow-dark", p)
	p.Click(t, "#theme")
	p.Click(t, "#theme")
	p.Resize(t, 1280, 860)
	p.Click(t, ".card .close")
	p.Wait(t, `document.getElementById("notices").textContent`)
	save(t, "closed", p)
	e.gone()
	p.Wait(t, `!document.getElementById("banner").hidden`)
	save(t, "host-gone", p)
	failing := start(t, nil, site{id: "a", title: "A file", url: "file:///etc/passwd"}, site{id: "b", title: "Missing", url: "ahp-canvas-content:/b/x.html"},
		site{id: "c", title: "Restless", files: map[string]string{"index.html": `<script>location = "http://127.0.0.1:9/"</script>`}})
	p = b.Open(t, failing.link)
	p.Wait(t, `document.querySelectorAll(".retry:not([hidden])").length === 1`)
	save(t, "failures", p)
	p = b.Open(t, web.Link(failing.origin, "wrong", ""))
	p.Wait(t, `!document.getElementById("empty").hidden`)
	save(t, "refused", p)
	empty := start(t, nil)
	p = b.Open(t, empty.link)
	p.Wait(t, `!document.getElementById("empty").hidden`)
	save(t, "empty", p)
}
