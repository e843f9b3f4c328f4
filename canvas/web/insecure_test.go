package web_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

const insecureNote = `document.getElementById("insecure")`

// TestPlainHTTP: over plain http beyond loopback, where a browser has no service
// workers and fewer APIs, the page shows canvases as single documents and states that
// the connection is not private. A wrong token is reported as usual.
func TestPlainHTTP(t *testing.T) {
	e := startWith(t, setup{name: "canvas.test"}, helloSite("one"))
	b := webtest.Start(t, "host-resolver-rules=MAP canvas.test 127.0.0.1")
	p := b.Open(t, e.link)
	if webtest.Eval[bool](t, p, "isSecureContext") {
		t.Fatal("the test's origin is a secure context")
	}
	e.message(t, func(payload any) bool { return isView(payload, "hello") })
	p.Frames(t, 1, singleDocument)
	p.Wait(t, spoken+`.startsWith("Single-document mode: without https, browsers allow no service workers.")`)
	p.Wait(t, `!`+insecureNote+`.hidden && `+insecureNote+`.textContent.includes("not private")`)
	p.Wait(t, `document.getElementById("connection").textContent === "Connected"`)
	save(t, "insecure-light", p)
	p.Click(t, "#theme")
	p.Click(t, "#theme")
	p.Resize(t, 390, 844)
	save(t, "insecure-dark", p)
	p.Reload(t) // the token is in the tab's storage
	e.message(t, func(payload any) bool { return isView(payload, "hello") })
	p = b.Open(t, strings.Replace(e.link, viewToken, "wrong", 1))
	p.Wait(t, `document.querySelector("#empty h2").textContent === "The link is not valid here."`)
	p.Wait(t, insecureNote+`.hidden === false`)
	p = b.Open(t, e.link+"&host=laptop&key="+seal.NewKey().Public().String()) // a link through a relay
	p.Wait(t, `document.querySelector("#empty h2").textContent === "This page cannot seal the connection."`)
}

// TestPrivate: a page on this machine does not claim that it is not private.
func TestPrivate(t *testing.T) {
	e := start(t, nil)
	p := webtest.Start(t).Open(t, e.link)
	p.Wait(t, `document.getElementById("connection").textContent === "Connected" && `+insecureNote+`.hidden`)
}
