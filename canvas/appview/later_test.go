package appview_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// later moves the shell's clock.
func later(t *testing.T, shell *webtest.Page, by time.Duration) {
	t.Helper()
	webtest.Eval[any](t, shell, fmt.Sprintf(`(() => { const p = frames[0].performance, now = p.now.bind(p); p.now = () => now() + %d; })()`, by.Milliseconds()))
}

// quietFor returns an expression that is true once the calls of Views have been the same for
// some time.
func quietFor(d time.Duration) string {
	return fmt.Sprintf(`(async () => { const n = chat.log.calls.length; await new Promise((r) => setTimeout(r, %d)); return chat.log.calls.length === n; })()`, d.Milliseconds())
}

// TestPaused: a View in which nothing happens for half an hour makes no calls until a person
// wants it to.
func TestPaused(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	c := newChats(t)
	p := c.chat(t, webtest.Start(t), nil)
	open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}})
	inner(t, p).Wait(t, `document.body.textContent.includes("Todo")`)
	shell := shellOf(t, p)
	later(t, shell, 31*time.Minute)
	if !shell.WaitAtMost(60*time.Second, inShell(`document.getElementById("words").textContent === "Paused."`)) {
		t.Fatal("it was not paused")
	}
	p.Wait(t, `chat.log.calls.at(-1).args.bye === true`)
	if !webtest.Eval[bool](t, p, quietFor(3*time.Second)) {
		t.Error("a paused View makes calls")
	}
	save(t, "chat-paused", p)
	c.agentDoes(t, "plan", "add_card", `{"list":"Todo","title":"Meanwhile"}`)
	webtest.Eval[any](t, shell, inShell(`document.getElementById("again").click()`))
	shell.Wait(t, inShell(`document.getElementById("card").hidden`))
	inner(t, p).Wait(t, `document.body.textContent.includes("Meanwhile")`)
	clean(t, p)
}

// TestSlower: in a chat that runs one call at a time, calls are the rarer the longer nothing
// happens.
func TestSlower(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	c := newChats(t)
	p := c.chat(t, webtest.Start(t), object{"serial": true})
	open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}})
	inner(t, p).Wait(t, `document.body.textContent.includes("Todo")`)
	p.Wait(t, `(([a, b]) => a?.args.wait === 0 && b?.args.wait === 0 && !a.args.say && !b.args.say)(chat.log.calls.slice(-2))`) // two polls in a row that do not wait
	shell := shellOf(t, p)
	for _, step := range []struct{ later, gap time.Duration }{{6 * time.Second, 2 * time.Second}, {10 * time.Second, 4 * time.Second}, {50 * time.Second, 10 * time.Second}} {
		later(t, shell, step.later)
		const gap = `(() => { const [a, b] = chat.log.calls.slice(-2); return b.at - a.at - (a.took ?? 0); })()`
		if !p.WaitAtMost(60*time.Second, fmt.Sprintf(`((gap) => gap > %[2]d * 0.8 && gap < %[2]d * 1.8)(%[1]s)`, gap, step.gap.Milliseconds())) {
			t.Errorf("%v later: the last two calls are %v ms apart, want %v", step.later, webtest.Eval[float64](t, p, gap), step.gap)
		}
	}
	clean(t, p)
}
