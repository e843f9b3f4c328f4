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

// Options says what is shown, and who is told. Session and Dial are required.
type Options struct {
	// Session is the URI of the session whose canvases are offered.
	Session string
	// Dial makes a connection to the host, which follows the channels and
	// reconnects by itself.
	Dial func(ctx context.Context, subscriptions ...string) (*client.Client, error)
	// Listen makes the listener of a canvas; nil takes a free port of 127.0.0.1.
	Listen func() (net.Listener, error)
	// Changed is told of a canvas that is offered, changed, or offered no longer;
	// one call at a time. Nil tells nobody.
	Changed func(Canvas)
	Logger  *slog.Logger // nil discards
}

// Canvas is an open canvas as it is offered here.
type Canvas struct {
	InstanceID   string                     `json:"instanceId"`
	CanvasID     string                     `json:"canvasId"`
	Title        string                     `json:"title,omitzero"`
	Availability session.CanvasAvailability `json:"availability"`
	// URL is where it can be looked at: http://127.0.0.1:PORT/…; "" where it has
	// nothing to look at.
	URL string `json:"url,omitzero"`
	// Closed says that it is offered no longer.
	Closed bool `json:"closed,omitzero"`
}

// renderer is one Run.
type renderer struct {
	opts   Options
	panels map[string]*panel // by channel
	wg     sync.WaitGroup

	telling sync.Mutex
}

// Run offers the canvases of a session until ctx is done, which is no failure. Its
// error is that the host cannot be reached, or will not have us any more.
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
			return fmt.Errorf("the session %q is gone", opts.Session)
		}
		if st, ok := ev.State.(session.State); ok {
			r.follow(ctx, st.OpenCanvases)
		}
	}
}

// follow begins to offer what is new in the catalogue, and ends what is gone.
func (r *renderer) follow(ctx context.Context, rows []session.OpenCanvasRef) {
	open := map[string]bool{}
	for _, row := range rows {
		open[row.Channel] = true
		if r.panels[row.Channel] == nil {
			p := &panel{renderer: r, channel: row.Channel, instanceID: row.InstanceID, canvasID: row.CanvasID}
			p.ctx, p.cancel = context.WithCancel(ctx)
			r.panels[row.Channel] = p
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

func (r *renderer) tell(c Canvas) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.opts.Changed(c)
}
