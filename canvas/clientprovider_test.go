package canvas_test

import (
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// TestReopenThatFailsClosesNothing: a client whose canvas is open and could not be
// opened with another input is not told that it is closed.
func TestReopenThatFailsClosesNothing(t *testing.T) {
	for name, fail := range map[string]func(*canvastest.Host, *clients){
		"its answer is refused": func(_ *canvastest.Host, c *clients) { c.answers(always(`{"url":"file:///etc/passwd"}`, nil)) },
		"the disk is full":      func(h *canvastest.Host, _ *clients) { h.Canvases.PutStore(full{}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, c := newClients(t)
				join(t, h, "c1", editor)
				h.Open("editor", "one", nil)
				fail(h, c)
				c.took()
				_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{
					Session: canvastest.Session, CanvasID: "editor", InstanceID: "one", Input: ahp.Value(`{"n":2}`),
				})
				if err == nil {
					t.Error("opened again after all")
				}
				synctest.Wait()
				equal(t, []string{`c1 canvasOpen {"channel":"ahp-session:/test","canvasId":"editor","extensionId":"client:c1","instanceId":"one","input":{"n":2}}`}, c.took())
				equal(t, "client:c1/editor, one ready", registry(h))
			})
		})
	}
}
