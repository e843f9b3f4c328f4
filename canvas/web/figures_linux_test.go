package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// thirty is how many canvases TestFiguresOfThirty opens.
const thirty = 30

// allMounted makes the page show and mount all its canvases at once.
func allMounted(next http.Handler) http.Handler {
	mounts := rewritten(next, "/mounts.js", "const MAX_MOUNTED = 6;", "const MAX_MOUNTED = 1000;")
	return rewritten(mounts, "/layout.js", "const MAX_PANES = 6;", "const MAX_PANES = 1000;")
}

// figures are what one page with many canvases costs.
type figures struct {
	mounted   int
	paint     float64 // ms until the page's first paint
	connected float64 // ms until the host has answered
	first     float64 // ms until one of the canvases that a person sees can be used
	ready     float64 // ms until the canvases that a person sees can be used, and all are in the page
	megabytes float64 // of the browser's processes, above a browser with an empty tab
}

// TestFiguresOfThirty measures a page with 30 canvases beside the same page with all of them
// mounted: time and memory, in turns in one browser.
func TestFiguresOfThirty(t *testing.T) {
	if !long {
		t.Skip("a measurement: AHP_LONG=1")
	}
	b := webtest.Start(t, "ahp-figures=1")
	few, all := start(t, nil, manySites(thirty)...), start(t, allMounted, manySites(thirty)...)
	measure(t, b, few.bare) // warm
	var ratios []float64
	for range 3 {
		now, before := measure(t, b, few.link), measure(t, b, all.link)
		ratios = append(ratios, now.megabytes/before.megabytes)
		t.Logf("load %s: %+v; all mounted: %+v; memory x %.2f", loadAverage(), now, before, ratios[len(ratios)-1])
		if now.mounted > 6 || before.mounted != thirty {
			t.Errorf("%d canvases are mounted, and %d with all of them", now.mounted, before.mounted)
		}
	}
	slices.Sort(ratios)
	t.Logf("memory x %.2f (median)", ratios[len(ratios)/2])
}

// scripts are the scripts of index.html.
var scripts = regexp.MustCompile(`(?s)<script.*?</script>`)

// TestFirstPaint measures the page's first paint beside that of the same page without its
// scripts, in turns in one browser.
func TestFirstPaint(t *testing.T) {
	if !long {
		t.Skip("a measurement: AHP_LONG=1")
	}
	b := webtest.Start(t)
	e := start(t, nil, helloSite("one"))
	bare := start(t, func(next http.Handler) http.Handler {
		return edited(next, "/", func(index []byte) []byte { return scripts.ReplaceAll(index, nil) })
	})
	var now, floor []float64
	for i := range 21 {
		with, without := paint(t, b, e.link), paint(t, b, bare.link)
		if i > 0 { // the first one is warm-up
			now, floor = append(now, with), append(floor, without)
		}
	}
	slices.Sort(now)
	slices.Sort(floor)
	ratio := now[len(now)/2] / floor[len(floor)/2]
	t.Logf("load %s: first paint after %.0f ms, without scripts %.0f ms, x %.2f (medians)", loadAverage(), now[len(now)/2], floor[len(floor)/2], ratio)
	if ratio > 4 { // coarse: on a busy machine the figures differ by half
		t.Errorf("the first paint waits for scripts: x %.2f", ratio)
	}
}

// paint returns when a page was first painted, in ms.
func paint(t *testing.T, b *webtest.Browser, link string) float64 {
	t.Helper()
	p := b.Open(t, "about:blank")
	defer p.Close()
	p.Navigate(t, link)
	const painted = `performance.getEntriesByName("first-contentful-paint")[0]`
	p.Wait(t, painted)
	return webtest.Eval[float64](t, p, painted+`.startTime`)
}

// measure opens a page of 30 canvases in a new tab.
func measure(t *testing.T, b *webtest.Browser, link string) figures {
	t.Helper()
	p := b.Open(t, "about:blank")
	defer p.Close()
	empty := megabytes(t)
	p.Navigate(t, link)
	p.Wait(t, fmt.Sprintf(`(() => {
		const words = [...document.querySelectorAll(".card:not([hidden]) .words")];
		if (document.body.dataset.connection === "ready") window.connectedAt ??= performance.now();
		if (words.some((w) => w.hidden)) window.firstAt ??= performance.now();
		return document.querySelectorAll(".card").length === %d && words.every((w) => w.hidden) && (window.readyAt ??= performance.now());
	})()`, thirty))
	f := figures{
		ready:     webtest.Eval[float64](t, p, `readyAt`),
		connected: webtest.Eval[float64](t, p, `connectedAt`),
		first:     webtest.Eval[float64](t, p, `firstAt`),
		paint:     webtest.Eval[float64](t, p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`),
		mounted:   webtest.Eval[int](t, p, mounted),
	}
	webtest.Eval[bool](t, p, `new Promise((r) => setTimeout(() => r(true), 3000))`) // until the processes have what they need
	f.megabytes = megabytes(t) - empty
	return f
}

// megabytes is the memory of the processes of the browser that was started with the flag
// ahp-figures: what they share counts once.
func megabytes(t *testing.T) float64 {
	t.Helper()
	children := map[string][]string{}
	root := ""
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		dir := filepath.Dir(file)
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := bytes.Cut(raw, []byte(") ")) // state, parent
		fields := strings.Fields(string(rest))
		children[fields[1]] = append(children[fields[1]], filepath.Base(dir))
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if bytes.Contains(line, []byte("--ahp-figures=1")) && !bytes.Contains(line, []byte("--type=")) {
			root = filepath.Base(dir)
		}
	}
	if root == "" {
		t.Fatal("the browser has no process")
	}
	var sum float64
	for list := []string{root}; len(list) > 0; list = list[1:] {
		list = append(list, children[list[0]]...)
		sum += pss(list[0])
	}
	return sum
}

// pss returns the proportional size of a process in MB, 0 if it has ended.
func pss(pid string) float64 {
	raw, _ := os.ReadFile("/proc/" + pid + "/smaps_rollup")
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1000
		}
	}
	return 0
}

// loadAverage is the machine's load, which the figures depend on.
func loadAverage() string {
	raw, _ := os.ReadFile("/proc/loadavg")
	return strings.Join(strings.Fields(string(raw))[:3], " ")
}
