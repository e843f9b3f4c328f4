package programtest

import (
	"bytes"
	"errors"
	"net/url"
	"os/exec"
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
	frame := tab.Frames(t, 1, func(u *url.URL) bool { return u.Path == "/.ahp/frame.html" })[0]
	submits(t, f.m)
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
		untilTrue(t, "answer after the relay is back", func() bool {
			out, err := f.m.command(t.Context(), "invoke", "contact-form", "contact.submit_name", "--input", `{"name":"Eve"}`).Output()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && strings.Contains(string(exit.Stderr), "runtime_not_ready") {
				return false // it was not sent
			}
			if got := compact(string(out)); err != nil || got != `{"ok":true,"result":"Submitted Eve"}` {
				t.Fatalf("kill %d: after it, the tool answered %s, %v", n, got, err)
			}
			return true
		})
		frame.Wait(t, page+`.submitted === 2`)
	}
}
