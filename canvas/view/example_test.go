package view_test

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// chart is an instance whose declared actions its page runs.
type chart struct{ *view.Pages }

// A provider without a server: its pages run the actions, and their messages become
// events for the agent.
func Example() {
	var provider canvas.Func = func(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		c, lives := req.Current.(*chart)
		if !lives {
			c = &chart{view.New(view.Options{To: h, OnMessage: func(_ context.Context, _ canvas.View, payload ahp.Value) { _ = h.Raise(payload) }})}
		}
		return canvas.Opened{Instance: c, URL: h.ContentURL("/")}, nil
	}
	_ = provider // for engine.Engine.Register
}
