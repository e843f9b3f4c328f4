package web_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	if code, ok := installedAxe(); ok {
		return code
	}
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

// installedAxe returns axe-core if npm ci has been run here, with the locked version.
func installedAxe() (code string, ok bool) {
	version := func(file, name string) string {
		var v struct {
			Version  string
			Packages map[string]struct{ Version string }
		}
		raw, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(raw, &v) != nil {
			return ""
		}
		return v.Version + v.Packages[name].Version
	}
	const folder = "node_modules/axe-core"
	locked, here := version("package-lock.json", folder), version(folder+"/package.json", "")
	raw, err := os.ReadFile(folder + "/axe.min.js")
	return string(raw), err == nil && here != "" && here == locked
}

// faults returns the serious and critical findings of axe in the page, one per line.
// Canvases in frames are excluded: their authors are responsible for them.
const faults = `axe.run(document, { iframes: false }).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html + " " + n.failureSummary)))`

// TestAxe: the page has no serious accessibility fault, in any state and both themes.
func TestAxe(t *testing.T) {
	t.Parallel()
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
	for _, err := range []error{e.handle("two").Attention("Approve the release"), e.handle("two").Progress(3, 4, "Copying")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p := b.Open(t, e.link)
	p.Wait(t, `document.querySelectorAll(".words[hidden]").length === 2`)
	webtest.Eval[any](t, p, `void (() => { for (const d of document.querySelectorAll("details")) d.open = true; })()`)
	p.Wait(t, `document.querySelectorAll("#happened li").length > 2`)
	look("open", p)
	webtest.Eval[any](t, p, `document.querySelector(".card .more").click()`)
	p.Wait(t, `document.querySelector(".menu")`)
	look("menu", p)
	p.Keys(t, kb.Escape)
	webtest.Eval[any](t, p, `void Object.defineProperty(navigator, "clipboard", { value: { writeText: async () => { throw new Error("not allowed"); } } })`)
	choose(t, p, "Copy a link for someone")
	p.Wait(t, `document.querySelector(".ask[open]")`)
	look("share", p)
	p.Keys(t, kb.Escape)
	p.Wait(t, `!document.querySelector(".ask")`)
	for _, dialog := range []string{"switch", "open-canvas"} {
		p.Click(t, "#"+dialog)
		p.Wait(t, `document.querySelector("dialog[open]")`)
		if dialog == "switch" {
			p.Wait(t, pictures+` === 2`)
		}
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
	offer.Click(t, ".close")
	offer.Wait(t, `document.querySelector(".undo:not([hidden])")`)
	look("undo", offer)
}

// TestAxeOfSamples: the bundled canvases have no serious accessibility fault, in both themes.
func TestAxeOfSamples(t *testing.T) {
	code := axe(t)
	e := start(t, nil)
	openSamples(t, e)
	p := webtest.Start(t).Open(t, e.link)
	frames := shown(t, p, 3)
	for _, mode := range []string{"light", "dark"} {
		p.Wait(t, `document.documentElement.dataset.colorMode === "`+mode+`" || void document.getElementById("theme").click()`)
		for _, f := range frames {
			f.Wait(t, document+`.body.getAttribute("aria-busy") === "false" && `+document+`.documentElement.dataset.colorMode === "`+mode+`" && `+document+`.getAnimations().length === 0`)
			webtest.Eval[any](t, f, `void (`+win+`.axe ?? `+win+`.eval(`+string(ahp.MustMarshal(code))+`))`)
			if diff := cmp.Diff([]string{}, webtest.Eval[[]string](t, f, strings.Replace(strings.Replace(faults, "axe.run", win+".axe.run", 1), "(document,", "("+document+",", 1))); diff != "" {
				t.Errorf("%s, %s:\n%s", webtest.Eval[string](t, f, document+".title"), mode, diff)
			}
		}
	}
}
