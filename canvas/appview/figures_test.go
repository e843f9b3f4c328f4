package appview_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/onefile"
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

// notesPaint is a script in a board's document: it notes when the board has been painted.
const notesPaint = `<script>new MutationObserver((_, o) => { if (document.querySelector(".list")) { o.disconnect(); requestAnimationFrame(() => setTimeout(() => { globalThis.painted = Date.now(); })); } }).observe(document, { subtree: true, childList: true });</script>`

// TestPaintFigures measures the time from a result to the first paint of its board, and the
// calls until then.
func TestPaintFigures(t *testing.T) {
	onlyLong(t)
	noted := func(ctx context.Context, read appview.ReadFunc, at, first string) (string, error) {
		html, err := onefile.Document(ctx, read, at, first)
		return html + notesPaint, err
	}
	h, err := host.New(host.Options{Document: noted})
	if err != nil {
		t.Fatal(err)
	}
	c := chatsOf(t, h)
	b := webtest.Start(t)
	for _, serial := range []bool{false, true} {
		paints(t, c, b, serial)
	}
}

func paints(t *testing.T, c *chats, b *webtest.Browser, serial bool) {
	t.Helper()
	var times []float64
	var called []int
	for n := range 12 {
		p := c.chat(t, b, object{"serial": serial})
		open(t, p, object{"canvasId": "board", "instanceId": fmt.Sprintf("b%d-%t", n, serial), "input": object{"lists": []any{"Todo"}}})
		f := inner(t, p)
		f.Wait(t, `globalThis.painted`)
		times = append(times, webtest.Eval[float64](t, f, `painted`)-webtest.Eval[float64](t, p, `chat.log.results[0]`))
		calls := webtest.Eval[int](t, p, fmt.Sprintf(`chat.log.calls.filter((c) => c.at + performance.timeOrigin < %f).length`, webtest.Eval[float64](t, f, `painted`)))
		called = append(called, calls)
		p.Close()
	}
	slices.Sort(times)
	slices.Sort(called)
	if called[6] > 3 {
		t.Errorf("%d calls until the first paint, want at most 3", called[6])
	}
	t.Logf("result to first paint of a board, one call at a time %t: p50 %.0f ms, p90 %.0f ms", serial, times[6], times[10])
}

// TestClickFigures measures how long a person's act takes to the host in a chat that runs one
// call at a time, where it can wait for a poll. The first act of each chat is one of them.
func TestClickFigures(t *testing.T) {
	onlyLong(t)
	c := newChats(t)
	b := webtest.Start(t)
	var times []time.Duration
	for n := range 8 {
		p := c.chat(t, b, object{"serial": true})
		open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}})
		f := inner(t, p)
		f.Wait(t, `document.body.textContent.includes("Todo")`)
		for i := range 3 {
			title := fmt.Sprintf("Card %d-%d.", n, i)
			begun := time.Now()
			webtest.Eval[any](t, f, fmt.Sprintf(addCard, title))
			c.awaitCard(t, title)
			times = append(times, time.Since(begun))
		}
		p.Close()
	}
	slices.Sort(times)
	t.Logf("a click in a chat that runs one call at a time: p50 %v, p95 %v, most %v", times[12], times[22], times[23])
}
