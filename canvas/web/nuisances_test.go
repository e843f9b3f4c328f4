package web_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestNuisances: a canvas does not receive what a neighbor's window posts, cannot fill the
// page's history, cannot register protocol handlers or read the screen's colors, and cannot
// give its service worker another port.
func TestNuisances(t *testing.T) {
	a := newApp(t)
	e := start(t, nil, appSite("one", a), appSite("two", a))
	p := webtest.Start(t).Open(t, e.link)
	frames := shown(t, p, 2)
	one, two := frames[0], frames[1]
	inCanvas[any](t, two, `globalThis.got = []; addEventListener("message", (e) => got.push(e.data))`)
	inCanvas[any](t, one, `for (let i = 0; i < top.length; i++) for (let j = 0; j < top.frames[i].length; j++) top.frames[i].frames[j].postMessage("foreign", "*")`)
	inCanvas[any](t, one, `for (let i = 0; i < top.length; i++) for (let j = 0; j < top.frames[i].length; j++) {
		const f = document.createElement("iframe");
		document.body.append(f);
		f.contentWindow.eval("top.frames[" + i + "].frames[" + j + "].postMessage('removed', '*')");
		f.remove(); // before the message arrives
	}`)
	inCanvas[any](t, two, `const f = document.createElement("iframe"); f.sandbox = "allow-scripts"; f.srcdoc = "<script>parent.postMessage('inner', '*')</" + "script>"; document.body.append(f)`)
	two.Wait(t, win+`.got.includes("inner")`)
	if got := webtest.Eval[[]any](t, two, win+`.got`); len(got) != 1 {
		t.Errorf("the canvas received %v", got)
	}

	before := webtest.Eval[int](t, p, `history.length`)
	got := inCanvas[string](t, one, `for (let i = 0; i < 200; i++) history.pushState({ i }, "", "?" + i); return location.search + history.state.i`)
	if after := webtest.Eval[int](t, p, `history.length`); got != "?199199" || after-before > 20 {
		t.Errorf("200 entries led to %s, and %d became %d", got, before, after)
	}

	if got := inCanvas[string](t, one, `return [typeof navigator.registerProtocolHandler, typeof EyeDropper].join()`); got != "undefined,undefined" {
		t.Errorf("the canvas has %s", got)
	}
	got = inCanvas[string](t, one, `navigator.serviceWorker.controller.postMessage({ t: "port" }, [new MessageChannel().port1]);
		return (await (await fetch("/echo")).json()).method`)
	if got != "GET" {
		t.Errorf("after another port for its worker, a canvas got %s", got)
	}
}
