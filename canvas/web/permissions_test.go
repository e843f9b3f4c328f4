package web_test

import (
	"fmt"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestPermissions: what a canvas uses is off until the person allows it on the card, on the
// listener and through the channel, and off again once they take it back.
func TestPermissions(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t, "use-fake-device-for-media-stream", "use-fake-ui-for-media-stream")
	if b.Kind != webtest.Chromium {
		t.Skip("needs Chromium's fake camera")
	}
	const tell = `.then(() => { document.title = "works"; }, (err) => { document.title = err.name; })`
	rows := []struct{ name, run, says string }{
		{"camera", `navigator.mediaDevices.getUserMedia({ video: true })` + tell, "use the camera"},
		{"microphone", `navigator.mediaDevices.getUserMedia({ audio: true })` + tell, "use the microphone"},
		{"clipboardWrite", `navigator.clipboard.writeText("x")` + tell, "write to the clipboard"},
		{"fullscreen", `document.body.requestFullscreen().then(() => document.exitFullscreen())` + tell, "fill the screen"},
		// A headless browser refuses it without permission, and does not answer with it.
		{"pointerLock", `Promise.race([document.body.requestPointerLock(), new Promise((go) => setTimeout(go, 1000))])` + tell, "lock the mouse pointer"},
	}
	for _, direct := range []bool{false, true} {
		match := webtest.ContentFrame
		if direct {
			match = near
		}
		for i, tt := range rows {
			if !long && i%2 == 0 == direct {
				continue // the frames have the same attributes both ways
			}
			t.Run(fmt.Sprintf("%s direct %v", tt.name, direct), func(t *testing.T) {
				p, frame := showWhole(t, b, direct)
				try := func(want string) {
					t.Helper()
					p.Wait(t, `document.querySelector(".card .words").hidden`)
					frame = p.Frames(t, 1, match)[0]
					frame.Wait(t, document+`.title === "App" && `+document+`.readyState === "complete"`)
					inCanvas[any](t, frame, `globalThis.run = () => { `+tt.run+` }`)
					pressInside(t, p)
					frame.Wait(t, document+`.title !== "App"`)
					if got := webtest.Eval[string](t, frame, document+`.title`); (got == "works") != (want == "works") {
						t.Fatalf("it is %q, want %s", got, want)
					}
				}
				try("refused")
				p.Wait(t, askedText+`.startsWith("This canvas tried to `+tt.says+`.")`)
				agree(t, p)
				p.Wait(t, `document.querySelector(".card .note").textContent.includes("You let it `+tt.says+`")`)
				try("works")
				choose(t, p, "Withdraw what you allowed")
				p.Wait(t, `document.querySelector(".card .note").hidden`)
				try("refused")
			})
		}
	}
}

// TestDeclaredPermissions: a canvas of files may ask for what its declaration has, and for
// nothing else.
func TestDeclaredPermissions(t *testing.T) {
	files := map[string]string{"index.html": `<!doctype html><title>Files</title>`}
	e := start(t, nil, site{id: "one", title: "One", files: files, allow: true})
	p := webtest.Start(t).Open(t, e.link)
	shown(t, p, 1)
	p.Wait(t, askedText+`.startsWith("This canvas asks to write to the clipboard.")`)
	if got := webtest.Eval[string](t, p, `document.querySelector(".card iframe").allow`); got != "" {
		t.Errorf("before the answer, its frame has %q", got)
	}
	agree(t, p)
	p.Wait(t, `document.querySelector(".card iframe").allow === "clipboard-write"`)
	p.Reload(t) // it is kept
	p.Wait(t, `document.querySelector(".card iframe")?.allow === "clipboard-write"`)

	other := start(t, nil, site{id: "one", title: "One", files: files})
	p = webtest.Start(t).Open(t, other.link)
	frame := shown(t, p, 1)[0]
	inCanvas[any](t, frame, `navigator.mediaDevices.getUserMedia({ video: true }).catch(() => {})`)
	p.Wait(t, askedText+`.includes("Its declaration does not ask for that")`)
	if n := webtest.Eval[int](t, p, `document.querySelectorAll(".asked button:not([hidden])").length`); n != 1 {
		t.Errorf("the bar has %d buttons", n)
	}
}
