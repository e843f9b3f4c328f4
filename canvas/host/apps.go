package host

import (
	"context"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
)

// Attach attaches a View of this process to an open canvas: a subscriber like a page, without
// a socket. The caller closes it.
func (h *Host) Attach(args attach.Args) (*attach.View, error) {
	return attach.Attach(attach.Host{Log: h.log, Content: h.canvases.Content}, args)
}

// newApps returns the Views of chats.
func (h *Host) newApps() *appview.Apps {
	return appview.New(appview.Options{
		Attach: h.Attach, Document: h.opts.Document, Key: h.opts.TicketKey, Events: h.eventsOf,
		Link: func(channel string) string {
			if session := h.canvases.SessionOf(channel); session != "" {
				return h.invitation(session)
			}
			return ""
		},
	})
}

// eventsOf returns the events of a canvas after a cursor, none if the cursor is negative, and
// the next cursor.
func (h *Host) eventsOf(channel string, after int64) ([]canvas.Event, int64) {
	state, _ := h.log.State(channel)
	st, ok := state.(canvas.CanvasState)
	if !ok {
		return nil, after
	}
	page, err := h.canvases.Events(context.Background(), h.canvases.SessionOf(channel), max(after, 0), 0)
	if err != nil {
		return nil, after
	}
	if after < 0 {
		return nil, page.Next
	}
	return slices.DeleteFunc(page.Events, func(e canvas.Event) bool { return e.InstanceID != st.InstanceID }), page.Next
}
