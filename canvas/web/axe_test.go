package web_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// axe returns axe-core in the version of package-lock.json, or skips the test.
func axe(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*webtest.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts")
	if out, err := cmd.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
		t.Skipf("axe-core cannot be had from npm here: %v", err)
	}
	code, err := os.ReadFile(filepath.Join(dir, "node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(code)
}

// faults returns the serious and critical findings of axe in the page, one per line.
// Canvases in frames are excluded: their authors are responsible for them.
const faults = `axe.run(document, { iframes: false }).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html + " " + n.failureSummary)))`

// TestAxe: the page has no serious accessibility fault, in any state and both themes.
func TestAxe(t *testing.T) {
	code := axe(t)
	b := webtest.Start(t)
	look := func(name string, p *webtest.Page) {
		t.Helper()
		webtest.Eval[any](t, p, code+"; void 0")
		for _, mode := range []string{"light", "dark"} {
			p.Wait(t, `document.documentElement.dataset.colorMode === "`+mode+`" || void document.getElementById("theme").click()`)
			if diff := cmp.Diff([]string{}, webtest.Eval[[]string](t, p, faults)); diff != "" {
				t.Errorf("%s, %s:\n%s", name, mode, diff)
			}
			save(t, name+"-"+mode, p)
		}
	}
	gone := helloSite("refused")
	gone.url = "file:///etc/passwd"
	e := start(t, nil, helloSite("one"), helloSite("two"), gone)
	p := b.Open(t, e.link)
	p.Wait(t, `document.querySelectorAll(".words[hidden]").length === 2`)
	p.Click(t, "#timeline summary")
	look("open", p)
	for _, dialog := range []string{"switch", "open-canvas"} {
		p.Click(t, "#"+dialog)
		p.Wait(t, `document.querySelector("dialog[open]")`)
		look(dialog, p)
		p.Keys(t, kb.Escape)
		p.Wait(t, `!document.querySelector("dialog[open]")`)
	}
	e.update(t, "one", canvas.Updated{Availability: new(session.Stale), Status: ahp.Set("3 of 5 cards done")})
	p.Wait(t, `document.querySelector(".words.veil")`)
	look("stale", p)
	focus(t, p, "Hello two", ".maximize")
	p.Keys(t, "\r")
	p.Wait(t, `document.querySelectorAll(".card:not([hidden])").length === 1`)
	look("maximized", p)
	e.gone()
	p.Wait(t, `!document.getElementById("banner").hidden`)
	look("host-gone", p)
	look("empty", b.Open(t, start(t, nil).link))
	single := b.Open(t, start(t, without(noWorker), helloSite("one")).link)
	single.Wait(t, spoken+` !== "" && document.querySelector(".words").hidden`)
	look("single-document", single)
	offer := b.Open(t, start(t, nil, offering("one")).link)
	frame := shown(t, offer, 1)[0]
	frame.Wait(t, win+`.offer`)
	inCanvas[any](t, frame, `void offer("https://example.com/"+"a".repeat(2000))`)
	offer.Wait(t, `document.querySelector(".offer .open").href`)
	look("offer", offer)
}
