package web_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestWakesUp: a page that wakes up from sleep checks its connection at once, and
// replaces a dead one without waiting for the next ping.
func TestWakesUp(t *testing.T) {
	e := start(t, nil, helloSite("one"))
	p := webtest.Start(t).Open(t, e.link)
	frame := shown(t, p, 1)[0]
	webtest.Eval[any](t, frame, `void(`+document+`.mark = 1)`)
	webtest.Eval[any](t, p, `void (() => {
		window.said = []; window.dead = false;
		const send = WebSocket.prototype.send;
		WebSocket.prototype.send = function (m) {
			const { method } = JSON.parse(m);
			said.push(method);
			if (!(dead && method === "ping")) return send.call(this, m);
		};
		dispatchEvent(new Event("online"));
	})()`)
	p.Wait(t, `said.join() === "ping"`)
	webtest.Eval[any](t, p, `void (dead = true, said.length = 0, document.dispatchEvent(new Event("visibilitychange")))`)
	p.Wait(t, `said.includes("reconnect") && document.getElementById("connection").textContent === "Connected"`)
	if said := webtest.Eval[string](t, p, `said.filter((m) => m === "initialize").join()`); said != "" {
		t.Error("the page initialized, though it could reconnect")
	}
	if webtest.Eval[int](t, frame, `(`+document+`.mark ?? 0)`) != 1 {
		t.Error("the canvas was loaded again")
	}
}

// TestHangs: a canvas that hangs is reported, and its neighbor works.
func TestHangs(t *testing.T) {
	stuck := helloSite("stuck")
	stuck.files["main.js"] = `setTimeout(() => { for (;;); }, 200);`
	e := start(t, nil, stuck, helloSite("fine"))
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, words+`.includes("This canvas's page does not respond. It may be busy, or it crashed.")`)
	e.send(t, "fine", object{"x-ahp": "view/1", "type": "invoke", "id": "7", "action": "add", "input": object{"n": 1}})
	e.message(t, func(payload any) bool { return isView(payload, "result") })
	save(t, "hangs", p)
}
