package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Options configures Run. Session and Dial are required.
type Options struct {
	// Session is the URI of the session whose canvases are served.
	Session string
	// Dial connects to the host with these subscriptions. The client reconnects
	// automatically.
	Dial func(ctx context.Context, subscriptions ...string) (*client.Client, error)
	// Listen returns the listener of a canvas; nil means a free port of 127.0.0.1.
	Listen func() (net.Listener, error)
	// Changed, if not nil, is called when a canvas is served, changes, or is no longer
	// served. Calls are not concurrent.
	Changed func(Canvas)
	// Logger receives warnings; nil discards them.
	Logger *slog.Logger
}

// Canvas is an open canvas that is served locally.
type Canvas struct {
	// InstanceID is the id of the instance in its session.
	InstanceID string `json:"instanceId"`
	// CanvasID is the id of its declaration.
	CanvasID string `json:"canvasId"`
	// Title is its current title.
	Title string `json:"title,omitzero"`
	// Availability is ready, or stale while its provider is not running.
	Availability session.CanvasAvailability `json:"availability"`
	// URL is its address, http://127.0.0.1:PORT/… with a secret, or a direct url of the provider;
	// "" if it has nothing to show.
	URL string `json:"url,omitzero"`
	// OtherOrigins reports that its host lets it load from origins that this package does
	// not: what it loads from them, as pictures, is missing here.
	OtherOrigins bool `json:"otherOrigins,omitzero"`
	// Closed reports that it is no longer served.
	Closed bool `json:"closed,omitzero"`
}

// renderer is the state of one Run.
type renderer struct {
	opts   Options
	panels map[string]*panel // by channel
	wg     sync.WaitGroup

	notifying sync.Mutex
}

// Run serves the canvases of a session until ctx is canceled, and then returns nil. It
// fails if the host cannot be reached, or has ended the connection or the session.
func Run(ctx context.Context, opts Options) error {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Listen == nil {
		opts.Listen = func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }
	}
	if opts.Changed == nil {
		opts.Changed = func(Canvas) {}
	}
	c, err := opts.Dial(ctx, opts.Session)
	if err != nil {
		return err
	}
	defer c.Close()
	r := &renderer{opts: opts, panels: map[string]*panel{}}
	defer r.wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, ok := c.Session(opts.Session); !ok {
		return fmt.Errorf("the host has no session %q", opts.Session)
	}
	w := c.Watch(opts.Session)
	defer w.Close()
	for {
		ev, err := w.Next(ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		if ev.Kind == client.EventGone {
			return fmt.Errorf("the session %q has ended", opts.Session)
		}
		if st, ok := ev.State.(session.State); ok {
			r.follow(ctx, st.OpenCanvases)
		}
	}
}

// follow starts panels for new catalog entries and stops those of closed canvases.
func (r *renderer) follow(ctx context.Context, entries []session.OpenCanvasRef) {
	open := map[string]bool{}
	for _, entry := range entries {
		open[entry.Channel] = true
		if r.panels[entry.Channel] == nil {
			p := &panel{renderer: r, channel: entry.Channel, instanceID: entry.InstanceID, canvasID: entry.CanvasID}
			p.ctx, p.cancel = context.WithCancel(ctx)
			r.panels[entry.Channel] = p
			r.wg.Go(p.run)
		}
	}
	for channel, p := range r.panels {
		if !open[channel] {
			p.cancel()
			delete(r.panels, channel)
		}
	}
}

func (r *renderer) notify(c Canvas) {
	r.notifying.Lock()
	defer r.notifying.Unlock()
	r.opts.Changed(c)
}
