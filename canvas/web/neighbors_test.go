package web_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// A canvas that throws, floods or navigates away does not affect the page or its
// neighbor, which still answers the agent.
func TestNeighborsWork(t *testing.T) {
	t.Parallel()
	page := func(script string) map[string]string {
		return map[string]string{"index.html": `<!doctype html><title>Bad</title><script type="module">` + script + `</script>`}
	}
	e := start(t, nil, helloSite("good"),
		site{id: "throws", title: "Throws", files: page(`setInterval(() => { throw new Error("again"); }, 5);`)},
		site{id: "floods", title: "Floods", files: page(`import { send } from "/.ahp/canvas.js"; setInterval(() => { for (let i = 0; i < 200; i++) send(i).catch(() => {}); }, 10);`)},
		site{id: "leaves", title: "Leaves", files: page(`location = "http://127.0.0.1:9/";`)},
	)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, `document.querySelectorAll(".card").length === 4`)
	// The canvas that navigated away is reported.
	p.Wait(t, `[...document.querySelectorAll(".card")].some((c) => c.textContent.includes("Leaves") && !c.querySelector(".words").hidden)`)
	// The one that floods the page is stopped.
	p.Wait(t, `[...document.querySelectorAll(".card")].some((c) => c.textContent.includes("Floods") && c.querySelector(".words").innerText.includes("This canvas was stopped") && !c.querySelector("iframe"))`)
	frames := p.Frames(t, 3, webtest.ContentFrame)
	for _, f := range frames {
		f.Wait(t, `["Throws", "Leaves", "Hello good"].includes(document.title)`)
	}
	good := frames[slices.IndexFunc(frames, func(f *webtest.Page) bool { return webtest.Eval[string](t, f, "document.title") == "Hello good" })]
	good.Wait(t, document+`.getElementById("said").textContent === 'input {"start":7}'`) // it listens
	for n := range 3 {
		e.send(t, "good", object{"n": float64(n)})
		good.Wait(t, document+`.getElementById("said").textContent === '{"n":`+string(rune('0'+n))+`}'`)
	}
	webtest.Eval[any](t, p, `document.querySelector("[aria-label='Close “Floods”']").click()`)
	p.Wait(t, `document.querySelectorAll(".card").length === 3`)
}

// TestOwnProcess: a canvas that hangs blocks neither other canvases nor the page.
func TestOwnProcess(t *testing.T) {
	e := start(t, nil, helloSite("one"), helloSite("two"))
	p := webtest.Start(t).Open(t, e.link)
	frames := shown(t, p, 2)
	const hang = 4 * time.Second
	began := time.Now()
	webtest.Eval[any](t, frames[0], fmt.Sprintf(`void setTimeout(() => { for (const end = performance.now() + %d; performance.now() < end;); window.done = true })`, hang.Milliseconds()))
	for _, other := range []*webtest.Page{p, frames[1]} {
		other.Wait(t, "true")
	}
	took := time.Since(began)
	frames[0].Wait(t, "window.done")
	if took > hang/2 || time.Since(began) < hang {
		t.Errorf("beside a canvas that hangs for %s, the others answered after %s", hang, took)
	}
}
