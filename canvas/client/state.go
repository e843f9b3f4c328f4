package client

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Root returns the mirror's state of the root channel, and whether the client
// follows it.
func (c *Client) Root() (session.RootState, bool) { return stateOf[session.RootState](c, ahp.RootURI) }

// Session returns the mirror's state of a session channel, and whether the
// client follows it.
func (c *Client) Session(uri string) (session.State, bool) { return stateOf[session.State](c, uri) }

// Canvas returns the mirror's state of a canvas channel, and whether the client
// follows it.
func (c *Client) Canvas(uri string) (canvas.CanvasState, bool) {
	return stateOf[canvas.CanvasState](c, uri)
}

func stateOf[S any](c *Client, uri string) (S, bool) {
	snap, _ := c.State(uri)
	state, ok := snap.State.(S)
	return state, ok
}
