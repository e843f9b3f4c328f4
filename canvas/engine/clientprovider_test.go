package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// TestReopenThatFailsClosesNothing: if a client rejects opening an instance with
// another input, the instance stays open, and the client receives no canvasClose.
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

// TestBackOnAnotherConnection: a client reconnects twice, and the connection that
// was asked to open its canvas again ends without an answer. The engine then asks on
// the current connection (canvas/PROTOCOL.md section 5).
func TestBackOnAnotherConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := newClients(t)
		join(t, h, "c1", editor)
		h.Open("editor", "one", nil)
		h.Canvases.Clients.ClientLost("c1")
		c.took()
		older := make(chan struct{})
		c.answers(func(context.Context, string) (ahp.Value, error) {
			<-older
			return nil, &ws.CloseError{Code: ws.CodeLost}
		})
		h.Canvases.Clients.ClientBack("c1")
		synctest.Wait()
		h.Canvases.Clients.ClientBack("c1") // a newer connection
		c.answers(always(`{}`, nil))
		close(older)
		h.Canvases.Clients.ClientBack("c1") // the older one has ended
		synctest.Wait()
		equal(t, "client:c1/editor, one ready", registry(h))
		equal(t, 2, len(c.took()))
	})
}

// TestClientValueAboveTheLimit: the caller learns that the action ran.
func TestClientValueAboveTheLimit(t *testing.T) {
	h, c := newClients(t)
	join(t, h, "c1", editor)
	h.Open("editor", "e1", nil)
	c.answers(always(`{"value":"`+strings.Repeat("x", 64<<10)+`"}`, nil))
	_, err := invoke(h, "e1", "save", `{"to":"disk"}`)
	e := wantCode(t, err, canvas.CodeLimitExceeded)
	equal(t, "the action ran; its value was dropped: the answer has 65548 bytes, at most 65536 are allowed", e.Message)
}
