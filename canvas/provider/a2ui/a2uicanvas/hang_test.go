package a2uicanvas_test

import (
	"os"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestHangingPattern: a pattern that takes forever runs in its page alone: the card says
// that the page does not respond, and another canvas and the host do. It runs with
// AHP_LONG=1, because a page has ten seconds to respond.
func TestHangingPattern(t *testing.T) {
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("needs AHP_LONG=1")
	}
	s := newStage(t)
	s.open("a2ui", "hung", `{"title":"Hung","messages":[{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"`+a2ui.BasicCatalogID+`"}},
		{"version":"v0.9","updateComponents":{"surfaceId":"s","components":[{"id":"root","component":"TextField","label":"In","value":{"path":"/in"},
			"checks":[{"condition":{"call":"regex","args":{"value":{"path":"/in"},"pattern":"^(a+)+$"}},"message":"no"}]}]}}]}`)
	s.open("a2ui", "fine", `{"title":"Fine","messages":`+rows+`}`)
	b := webtest.Start(t, "disable-hang-monitor")
	if b.Kind != webtest.Chromium {
		t.Skip("in the other browsers all frames share a process")
	}
	tab := b.Open(t, s.host.Link("ahp-session:/default"))
	var hung, fine *screen
	for _, frame := range tab.Frames(t, 2, webtest.ContentFrame) {
		v := &screen{t: t, tab: tab, frame: frame}
		v.wait(`all("input").length > 0 || says().includes("Banana")`)
		if v.eval(`says().includes("Banana")`) == "true" {
			fine = v
		} else {
			hung = v
		}
	}
	hung.do(`w.setTimeout(() => type("input", "a".repeat(48) + "!"))`)
	tab.Wait(t, `[...document.querySelectorAll(".card")].some((c) => c.querySelector("h2").textContent === "Hung" && c.querySelector(".words").innerText.includes("does not respond"))`)
	fine.do(`button("Banana").click()`)
	tab.Wait(t, `document.body.innerText.includes("Working…")`)
	if e := s.events(); len(e) != 1 {
		t.Errorf("events %q", e)
	}
	s.apply("hung", `{"version":"v0.9","deleteSurface":{"surfaceId":"s"}}`)
}
