package programtest

import (
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestPageHeals kills and restarts the host under an open page. The page reconnects
// automatically, to the same port with the same token, and shows what the board has saved
// and what is added now.
func TestPageHeals(t *testing.T) {
	m := newMachine(t)
	s := m.serve()
	m.do(0, "invoke", "board", "add_card", "--input", `{"list":"To do","title":"Kept"}`)
	tab := webtest.Start(t).Open(t, s.Link)
	const cards = `(document.querySelector("iframe").contentDocument?.body.innerText ?? "")`
	inner := func() *webtest.Page { return tab.Frames(t, 1, webtest.ContentFrame)[0] }
	inner().Wait(t, cards+`.includes("Kept")`)
	s.stop(syscall.SIGKILL)
	tab.Wait(t, `document.body.dataset.lost === "true"`)
	m.serve()
	tab.Wait(t, `document.body.dataset.lost !== "true"`)
	m.do(0, "invoke", "board", "add_card", "--input", `{"list":"To do","title":"After the restart"}`)
	inner().Wait(t, cards+`.includes("Kept") && `+cards+`.includes("After the restart")`)
}
