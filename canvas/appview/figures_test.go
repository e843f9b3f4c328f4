package appview_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestFigures measures, side by side, how long an action of the agent takes to a View in a chat
// and to our page, and what a View costs while nothing happens.
func TestFigures(t *testing.T) {
	onlyLong(t)
	c := newChats(t)
	b := webtest.Start(t)
	p := c.chat(t, b, nil)
	open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}})
	f := inner(t, p)
	page := b.Open(t, c.link).Frames(t, 1, webtest.ContentFrame)[0]
	const when = `new Promise((done) => { const d = %[1]s, is = () => d.querySelector(".cards")?.textContent.includes("Mark %[2]d.") && (done(Date.now()), true);
		if (!is()) { const o = new MutationObserver(() => { if (is()) o.disconnect(); }); o.observe(d, { subtree: true, childList: true, characterData: true }); } })`
	f.Wait(t, `document.querySelector(".cards")`)
	page.Wait(t, `frames[0].document.querySelector(".cards")`)
	p.Wait(t, syncs+`.some((c) => c.args.wait === 20)`)
	var chat, own []float64
	for n := range 60 {
		type at struct{ in, ms float64 }
		results := make(chan at, 2)
		for in, place := range []struct {
			page *webtest.Page
			d    string
		}{{f, "document"}, {page, "frames[0].document"}} {
			webtest.Eval[any](t, place.page, `void (globalThis.mark = `+fmt.Sprintf(when, place.d, n)+`)`)
			go func() { results <- at{float64(in), webtest.Eval[float64](t, place.page, `mark`)} }()
		}
		begun := float64(time.Now().UnixNano()) / 1e6
		c.agentDoes(t, "plan", "add_card", fmt.Sprintf(`{"list":"Todo","title":"Mark %d."}`, n))
		for range 2 {
			if r := <-results; r.in == 0 {
				chat = append(chat, r.ms-begun)
			} else {
				own = append(own, r.ms-begun)
			}
		}
	}
	slices.Sort(chat)
	slices.Sort(own)
	t.Logf("agent to View: chat p50 %.0f ms p99 %.0f ms; our page p50 %.0f ms p99 %.0f ms; ratio of p50 %.2f", chat[30], chat[59], own[30], own[59], chat[30]/own[30])
	before := webtest.Eval[int](t, p, `chat.log.calls.length`)
	webtest.Eval[bool](t, p, `new Promise((r) => setTimeout(() => r(true), 25000))`)
	t.Logf("calls in 25 s while quiet and seen: %d", webtest.Eval[int](t, p, `chat.log.calls.length`)-before)
}
