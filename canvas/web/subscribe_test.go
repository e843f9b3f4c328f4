package web_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// TestRefusedSubscription: a canvas to which the host does not let the page subscribe
// keeps its card, with the reason and a button to try again.
func TestRefusedSubscription(t *testing.T) {
	e := startWith(t, setup{name: "localhost", server: server.Options{MaxSubs: 2}}, helloSite("one"), helloSite("two"))
	p := webtest.Start(t).Open(t, e.link)
	const refused = `[...document.querySelectorAll(".card")].find((c) => c.querySelector(".words:not([hidden])")?.textContent.includes("more than 2 subscriptions"))`
	p.Wait(t, refused+`?.querySelector("h2").textContent === "Hello one"`) // the page asks for the current canvas first
	p.Wait(t, `document.querySelectorAll(".card").length === 2`)
	save(t, "refused-light", p)
	p.Click(t, "#theme")
	p.Click(t, "#theme")
	p.Resize(t, 390, 844)
	save(t, "refused-dark", p)
	p.Resize(t, 1280, 860)
	p.Click(t, ".card .retry:not([hidden])")
	p.Wait(t, refused) // again
	webtest.Eval[any](t, p, `document.querySelector("[aria-label='Close “Hello two”']").click()`)
	p.Wait(t, `document.querySelectorAll(".card").length === 1`)
	p.Click(t, ".card .retry:not([hidden])")
	shown(t, p, 1)
	e.gone() // after a lost connection, the handshake subscribes
	p.Wait(t, `document.getElementById("connection").textContent === "Not connected"`)
	e.back(t)
	p.Wait(t, `document.getElementById("connection").textContent === "Connected"`)
	shown(t, p, 1)
}
