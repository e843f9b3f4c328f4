package web_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// batch is how many attacks run at once: at most as many as the page shows beside each other.
// In browsers other than Chromium an attack without a sandbox may block the page for the
// others, so there they run one by one.
func batch(kind webtest.Kind, strips []strip) int {
	if kind != webtest.Chromium && slices.Contains(strips, "sandbox") {
		return 1
	}
	return 6
}

// everyCard is an expression: all canvases reported that they are done, or failed.
var everyCard = everyCardBut(nil)

// everyCardBut ignores the canvases with these titles.
func everyCardBut(titles []string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".card")].every((c) => c.querySelector(".status").textContent === "done" || !c.querySelector(".retry").hidden || %s.includes(c.querySelector("h2").textContent))`, ahp.MustMarshal(titles))
}

// long reports whether the long forms of tests run.
var long = os.Getenv("AHP_LONG") == "1"

// assault mounts attacks in batches, on a host without the given protections, and calls
// wait once a batch is mounted. as says what kind of canvas each attack is.
func assault(t *testing.T, b *webtest.Browser, as attackKind, rows []attack, strips []strip, wait func(p *webtest.Page, part []attack, canaries []*canary)) {
	t.Helper()
	for part := range slices.Chunk(rows, batch(b.Kind, strips)) {
		var sites []site
		var canaries []*canary
		for i, a := range part {
			c := newCanary(t)
			canaries = append(canaries, c)
			if as == asApp || as == asNear || a.headers != nil {
				sites = append(sites, a.app(t, i, c))
				continue
			}
			s := a.site(i, c)
			s.written = as == asPage
			sites = append(sites, s)
		}
		with := setup{name: "localhost", wrap: without(strips...), direct: as == asNear}
		var e *env
		var p *webtest.Page
		if as == asPage {
			e, p = beside(t, b, with, sites)
		} else {
			e = startWith(t, with, sites...)
			p = b.Open(t, e.link)
		}
		p.Wait(t, fmt.Sprintf(`document.querySelectorAll(".card").length === %d`, len(part)))
		wait(p, part, canaries)
		p.Close()
		e.gone()
	}
}

// beside opens canvases in a page that its own service worker (offline/worker.js) controls.
func beside(t *testing.T, b *webtest.Browser, with setup, sites []site) (*env, *webtest.Page) {
	t.Helper()
	e := startWith(t, with)
	p := b.Open(t, e.link)
	offlineReady(t, p)
	p.Reload(t)
	p.Wait(t, `navigator.serviceWorker.controller && document.getElementById("connection").textContent === "Connected"`)
	for _, s := range sites {
		e.open(t, s)
	}
	return e, p
}

// sung reports whether a canary was hit, and waits for a hit that is expected.
func sung(c *canary, patience time.Duration) bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-c.hit:
		return true
	case <-late.C:
	}
	select { // both may have been true, and select draws
	case <-c.hit:
		return true
	default:
		return false
	}
}

// attackKind is the kind of canvas that attacks.
type attackKind string

const (
	asFiles attackKind = "files"
	asApp   attackKind = "app"  // by http/1
	asPage  attackKind = "page" // the canvas "page", whose files an agent wrote
	asNear  attackKind = "near" // an app that the page reaches on the host's listener
)

// TestAttacksReachNothing: no attack reaches its canary, from a canvas of files, of an app,
// or that an agent wrote.
func TestAttacksReachNothing(t *testing.T) {
	t.Parallel()
	for _, as := range []attackKind{asFiles, asApp, asPage, asNear} {
		t.Run(string(as), func(t *testing.T) {
			t.Parallel()
			reachNothing(t, as)
		})
	}
}

// known reports whether a browser is known to let an attack out, or to leave its page.
func known(kind webtest.Kind, a attack) bool {
	_, lets := reached[kind][a.name]
	return lets || slices.Contains(leaves[kind], a.name)
}

func reachNothing(t *testing.T, as attackKind) {
	b := webtest.Start(t, "disable-popup-blocking")
	var rows []attack
	for i, a := range attacks {
		// The policies of an app's and of a written page's responses are the same, so a part
		// of the attacks is enough, in one browser; with AHP_LONG=1 all run.
		part := long || b.Kind == webtest.Chromium && (as == asApp && i%3 == 0 || as == asPage && i%4 == 0 || as == asNear && i%4 == 1)
		if a.headers == nil && !long && b.Kind != webtest.Chromium && !known(b.Kind, a) && (i%2 == 0) != (b.Kind == webtest.Firefox) {
			continue // the other browsers take half each of what none lets out
		}
		if as == asFiles && a.headers == nil || as == asApp && (a.headers != nil || part) || as == asPage && a.headers == nil && part || as == asNear && (a.headers != nil || part) {
			rows = append(rows, a)
		}
	}
	assault(t, b, as, rows, nil, func(p *webtest.Page, part []attack, canaries []*canary) {
		p.Wait(t, everyCardBut(leaves[b.Kind]))
		settled := time.Now()
		for i, a := range part {
			t.Run(a.name, func(t *testing.T) { a.judge(t, b.Kind, canaries[i], settled) })
		}
	})
}

// TestAttacksAreReal removes exactly the protections that stop each attack, and expects
// it to reach its canary: otherwise the attack would prove nothing.
func TestAttacksAreReal(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t, "disable-popup-blocking")
	var rows []attack
	for _, a := range attacks {
		if a.holds != "" || quiet[b.Kind][a.name] != "" {
			continue
		}
		if a.falls == nil {
			a.falls = canvasBare
		}
		if b.Kind != webtest.Chromium {
			a.falls = everything(a.falls)
		}
		rows = append(rows, a)
	}
	areReal(t, b, asFiles, rows)
}

// TestNearAttacksAreReal is TestAttacksAreReal for the attacks of an app that the page reaches
// on the host's listener, without everything that the host adds to its responses. Left out are
// what its filter of the app's headers stops (canvas/gateway tests that), and XSLT: no service
// worker loads it there, and Chromium itself refuses a style sheet of another origin.
func TestNearAttacksAreReal(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t, "disable-popup-blocking")
	var rows []attack
	for i, a := range attacks {
		stopped := a.holds != "" || slices.Contains(a.falls, "headers") || strings.HasPrefix(a.name, "xslt ")
		if !stopped && (long || i%4 == 1) { // those of TestAttacksReachNothing
			a.falls = everything(a.falls)
			rows = append(rows, a)
		}
	}
	areReal(t, b, asNear, rows)
}

// areReal expects attacks to reach their canaries without what stops them.
func areReal(t *testing.T, b *webtest.Browser, as attackKind, rows []attack) {
	t.Helper()
	groups := map[string][]attack{}
	for _, a := range rows {
		key := fmt.Sprint(a.falls)
		groups[key] = append(groups[key], a)
	}
	for key, rows := range groups {
		t.Run(key, func(t *testing.T) {
			assault(t, b, as, rows, rows[0].falls, func(_ *webtest.Page, part []attack, canaries []*canary) {
				for i, a := range part {
					if !sung(canaries[i], webtest.Timeout/2) {
						t.Errorf("%s: reaches nothing without %v either", a.name, a.falls)
					}
				}
			})
		})
	}
}

// TestExplore prints which attacks succeed without which protections, to fill in falls.
func TestExplore(t *testing.T) {
	sets := os.Getenv("EXPLORE")
	if sets == "" {
		t.Skip("set EXPLORE to sets of strips, as in 'worker,answer: Content-Security-Policy;app: …'")
	}
	b := webtest.Start(t, "disable-popup-blocking")
	for set := range strings.SplitSeq(sets, ";") {
		var strips []strip
		for s := range strings.SplitSeq(set, ",") {
			strips = append(strips, strip(s))
		}
		var open []string
		rows := slices.DeleteFunc(slices.Clone(attacks), func(a attack) bool {
			only := os.Getenv("ATTACKS")
			return only != "" && !slices.Contains(strings.Split(only, ","), a.name)
		})
		assault(t, b, asFiles, rows, strips, func(p *webtest.Page, part []attack, canaries []*canary) {
			p.WaitAtMost(5*time.Second, everyCard)
			for i, a := range part {
				if sung(canaries[i], 0) {
					open = append(open, a.name)
				}
			}
		})
		t.Logf("without %s: %d open: %s", set, len(open), strings.Join(open, ", "))
	}
}
