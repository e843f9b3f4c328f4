package standalone

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// maxViews is the limit of a canvas's pages that take part in view/1.
const maxViews = 64

// Views are the pages of one canvas that take part in view/1. Each has a connection to the
// host, so that the provider sees each as a View. Dial is required; the zero value of the
// rest is ready.
type Views struct {
	// Channel is the canvas's channel.
	Channel string
	// Dial connects to the host, with a subscription to the channel.
	Dial func(ctx context.Context) (*client.Client, error)

	mu   sync.Mutex
	byID map[string]*client.Client
}

// Serve answers the requests of local.js, and reports whether the request was one of them.
// name is the path below /.ahp/.
func (v *Views) Serve(w http.ResponseWriter, r *http.Request, name string) bool {
	switch {
	case name == "events" && r.Method == http.MethodGet:
		v.serveEvents(w, r)
	case name == "message" && r.Method == http.MethodPost:
		v.serveMessage(w, r)
	case name == "stopped" && r.Method == http.MethodGet:
		Fail(w, r, http.StatusTooManyRequests, textFlooded)
	default:
		return false
	}
	return true
}

// textFlooded stands in place of a page that View of view.js has disconnected.
const textFlooded = "This canvas was stopped. It kept sending hundreds of messages a second. Open it again to reload it."

// serveEvents is an event stream with the provider's messages for one page. The page is
// a View as long as it reads the stream.
func (v *Views) serveEvents(w http.ResponseWriter, r *http.Request) {
	c, err := v.Dial(r.Context())
	if err != nil {
		Fail(w, r, http.StatusServiceUnavailable, "The host is not reachable.")
		return
	}
	defer c.Close()
	id := rand.Text()
	if !v.add(id, c) {
		Fail(w, r, http.StatusTooManyRequests, "This canvas is open on too many pages.")
		return
	}
	defer v.remove(id)
	watch := c.Watch(v.Channel) // before the page can send anything
	defer watch.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(v any) error {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", ahp.MustMarshal(v)); err != nil {
			return err
		}
		return out.Flush()
	}
	if send(map[string]string{"view": id}) == nil {
		stream(r.Context(), c, watch, send)
	}
}

// stream sends the provider's messages to a page. It ends with the page, the canvas or
// the connection; the page then reconnects and gets a new connection.
func stream(ctx context.Context, c *client.Client, watch *client.Watch, send func(any) error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lost := c.Disconnected()
	go func() {
		select {
		case <-lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	for ev, err := range watch.All(ctx) {
		if err != nil || ev.Kind == client.EventGone {
			return
		}
		if err := sendEvent(ev, c.ID(), send); err != nil {
			return
		}
	}
}

// sendEvent sends an event to a page in the form that local.js reads.
func sendEvent(ev client.Event, self string, send func(any) error) error {
	if m, ok := ev.Action.(canvas.Message); ok && ev.Kind == client.EventAction {
		if ev.Origin != nil && ev.Origin.ClientID == self {
			return nil // its own message, which serveMessage answers
		}
		return send(map[string]any{"payload": m.Payload})
	}
	if st, ok := ev.State.(canvas.CanvasState); ok {
		state := map[string]any{}
		if st.Input != nil {
			state["input"] = st.Input
		}
		return send(map[string]any{"state": state})
	}
	return nil
}

// serveMessage dispatches a page's canvas/message and answers with the outcome. A page
// sends one at a time, so that they arrive in order.
func (v *Views) serveMessage(w http.ResponseWriter, r *http.Request) {
	c := v.get(r.URL.Query().Get("view"))
	if c == nil {
		Fail(w, r, http.StatusConflict, "the connection to the host was lost; the message did not arrive")
		return
	}
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil || !ahp.Value(payload).IsValid() {
		Fail(w, r, http.StatusBadRequest, "a message must be JSON of at most 64 KiB")
		return
	}
	err = c.Dispatch(r.Context(), v.Channel, canvas.Message{Payload: payload})
	switch refused, ok := errors.AsType[*client.Refused](err); {
	case ok:
		Fail(w, r, http.StatusConflict, refused.Reason)
	case err != nil:
		Fail(w, r, http.StatusServiceUnavailable, "the connection to the host was lost; the message may not have arrived")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (v *Views) add(id string, c *client.Client) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.byID) >= maxViews {
		return false
	}
	if v.byID == nil {
		v.byID = map[string]*client.Client{}
	}
	v.byID[id] = c
	return true
}

func (v *Views) remove(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.byID, id)
}

func (v *Views) get(id string) *client.Client {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.byID[id]
}
