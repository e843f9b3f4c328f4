package programtest

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestActionsPageFar: host, relay and browser are in three networks. The relay is killed
// with a call in flight: the agent receives one error that says so, and the form was
// submitted once.
func TestActionsPageFar(t *testing.T) {
	f, args := newFarMachines(t)
	s := f.m.serve(append(args, "--actions-page", simpleForm(t))...)
	tab := f.browser(t).Open(t, s.Link)
	submits(t, f.m)
	frame := tab.Frames(t, 1, func(u *url.URL) bool { return u.Path == "/.ahp/frame.html" })[0]
	const page = `document.querySelector("iframe").contentWindow`
	for n := range runs(1, 20) {
		webtest.Eval[bool](t, frame, `(`+page+`.delay = 20000, `+page+`.submitted = 0, true)`)
		call := f.m.command(t.Context(), "invoke", "contact-form", "contact.submit_name", "--json", "--input", `{"name":"Bob"}`)
		var failure bytes.Buffer
		call.Stderr = &failure
		if err := call.Start(); err != nil {
			t.Fatal(err)
		}
		frame.Wait(t, page+`.submitted === 1`)
		f.killRelay()
		if err := call.Wait(); err == nil || strings.Count(failure.String(), `"code"`) != 1 || !strings.Contains(failure.String(), `"code":"transport_failed"`) || !strings.Contains(failure.String(), `"elapsed_ms"`) {
			t.Errorf("kill %d: the call ended with %v: %s", n, err, failure.String())
		}
		f.startRelay(t)
		webtest.Eval[bool](t, frame, `(`+page+`.delay = 0, true)`)
		if got := compact(f.m.do(0, "invoke", "contact-form", "contact.submit_name", "--input", `{"name":"Eve"}`)); got != `{"ok":true,"result":"Submitted Eve"}` {
			t.Errorf("kill %d: after it, the tool answered %s", n, got)
		}
		frame.Wait(t, page+`.submitted === 2`)
	}
}
