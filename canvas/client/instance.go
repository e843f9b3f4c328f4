package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// instance is a canvas that this client provides, from its first Open until it is
// closed. It is the [canvas.Backend] of its handle, and a [canvas.Announcer].
type instance struct {
	c       *Client
	key     instanceKey
	handle  canvas.Handle
	mailbox mailbox

	ctx context.Context // done when the handle has ended
	end context.CancelFunc

	listed  chan struct{} // closed when the host's catalog has the canvas
	channel string        // set before listed is closed

	announced announcements // guarded by the client's mutex

	// mu guards what follows. Nothing is called under it.
	mu      sync.Mutex
	current canvas.Instance // nil until the first Open has returned
	opening bool            // Open is running
	pending canvas.Update   // updates made before the first Open has returned
	newest  *Dispatched     // the last update that was sent
}

func newInstance(c *Client, key instanceKey) *instance {
	i := &instance{c: c, key: key, listed: make(chan struct{})}
	i.ctx, i.end = context.WithCancel(c.ctx)
	i.handle = canvas.MakeHandle(i, key.session, key.instance)
	i.mailbox.i = i
	return i
}

// now returns the provider's newest Instance.
func (i *instance) now() canvas.Instance {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.current
}

func (i *instance) messenger() canvas.Messenger {
	m, _ := i.now().(canvas.Messenger)
	return m
}

func (i *instance) isListed() bool {
	select {
	case <-i.listed:
		return true
	default:
		return false
	}
}

// open asks the provider to open the canvas, or to open it again. The result holds
// what the provider updated meanwhile; its answer has precedence.
func (i *instance) open(ctx context.Context, p canvas.Provider, q canvas.CanvasOpenParams) (canvas.Opened, error) {
	i.mu.Lock()
	i.opening = true
	req := canvas.OpenRequest{
		Session: q.Channel, ExtensionID: q.ExtensionID, CanvasID: q.CanvasID, InstanceID: q.InstanceID,
		Channel: channelOf(q.Meta), Input: q.Input, Current: i.current,
	}
	i.mu.Unlock()
	opened, err := p.Open(ctx, req, &i.handle)
	if err == nil && opened.Instance == nil {
		err = errors.New("the provider opened nothing")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.opening = false
	if err != nil {
		return opened, err
	}
	i.current = opened.Instance
	opened.Title = cmp.Or(opened.Title, text(i.pending.Title))
	opened.Status = cmp.Or(opened.Status, text(i.pending.Status))
	opened.URL = cmp.Or(opened.URL, text(i.pending.URL))
	i.pending = canvas.Update{}
	return opened, nil
}

// channelOf returns the instance's channel that a host named, or "".
func channelOf(meta ahp.Value) string {
	var m map[string]ahp.Value
	var uri string
	if ahp.Unmarshal(meta, &m) != nil || ahp.Unmarshal(m[canvas.MetaChannel], &uri) != nil {
		return ""
	}
	return uri
}

// Context implements [canvas.Backend].
func (i *instance) Context() context.Context { return i.ctx }

// Update implements [canvas.Backend].
func (i *instance) Update(ctx context.Context, u canvas.Update) error {
	return i.do(ctx, func(ctx context.Context) error {
		if i.hold(u) {
			return nil
		}
		if err := i.subscribe(ctx); err != nil {
			return fmt.Errorf("update canvas %q: %w", i.key.instance, err)
		}
		d, err := i.dispatch(u)
		if d == nil {
			return err
		}
		return d.Wait(ctx)
	})
}

// hold keeps an update for the answer of the first Open. It returns false once
// that has returned.
func (i *instance) hold(u canvas.Update) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.current != nil {
		return false
	}
	i.pending = u.Over(i.pending)
	return true
}

// dispatch sends an update without the members that change nothing. It returns
// nil if none are left: the host would echo an update without effect to every
// View. While an earlier update waits for its echo, the effect is unknown, and all
// of u is sent.
func (i *instance) dispatch(u canvas.Update) (*Dispatched, error) {
	a := u.Action()
	i.mu.Lock()
	echoed := i.newest == nil || i.newest.isDone()
	i.mu.Unlock()
	if state, ok := i.c.Canvas(i.channel); ok && echoed {
		var changes bool
		if a, changes = a.Without(state); !changes {
			return nil, i.c.Err()
		}
	}
	d, err := i.c.DispatchAsync(i.channel, a)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.newest = d
	return d, nil
}

// Post implements [canvas.Backend].
func (i *instance) Post(ctx context.Context, p canvas.Post) error {
	if p.To != (canvas.View{}) {
		return canvas.ErrUnsupported
	}
	if !p.Payload.IsValid() {
		return errors.New("post: the payload is not JSON")
	}
	return i.do(ctx, func(ctx context.Context) error {
		if i.unseen() {
			return nil
		}
		if err := i.subscribe(ctx); err != nil {
			return fmt.Errorf("post to the Views of canvas %q: %w", i.key.instance, err)
		}
		return i.c.Message(ctx, i.channel, p.Payload)
	})
}

// unseen reports whether no View can receive a message: the canvas is being
// opened for the first time, or while it is stale.
func (i *instance) unseen() bool {
	i.mu.Lock()
	current, opening := i.current, i.opening
	i.mu.Unlock()
	if current == nil || !opening {
		return current == nil
	}
	i.c.mu.Lock()
	defer i.c.mu.Unlock()
	entry := i.c.feed.mirror.catalogEntry(i.key, i.c.opts.ClientID)
	return entry != nil && entry.Availability == session.Stale
}

// do calls fn with a context that also ends with the handle.
func (i *instance) do(ctx context.Context, fn func(context.Context) error) error {
	if i.ctx.Err() != nil {
		return canvas.ErrHandleClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(i.ctx, cancel)()
	err := fn(ctx)
	if err != nil && i.ctx.Err() != nil {
		return canvas.ErrHandleClosed
	}
	return err
}

// subscribe waits until the host lists the canvas, and subscribes to its channel
// unless the client is subscribed: a host refuses what others dispatch.
func (i *instance) subscribe(ctx context.Context) error {
	if err := i.awaitListed(ctx); err != nil {
		return err
	}
	if _, ok := i.c.Canvas(i.channel); ok {
		return nil
	}
	_, err := i.c.Subscribe(ctx, i.channel)
	return err
}

func (i *instance) awaitListed(ctx context.Context) error {
	if i.isListed() {
		return nil
	}
	timer := time.NewTimer(i.c.opts.Timeout)
	defer timer.Stop()
	select {
	case <-i.listed:
		return nil
	case <-i.c.Disconnected():
		return cmp.Or(i.c.Err(), ErrNotOpen)
	case <-timer.C:
		return ErrNotOpen
	case <-ctx.Done():
		return ctx.Err()
	}
}

// InstanceChannel returns the URI of the channel of a canvas that this client
// provides. The host lists it in the session's state after Open has returned;
// before that, and after the canvas was closed, the error is [ErrNotOpen].
func (c *Client) InstanceChannel(sessionURI, instanceID string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry := c.feed.mirror.catalogEntry(instanceKey{sessionURI, instanceID}, c.opts.ClientID); entry != nil {
		return entry.Channel, nil
	}
	return "", ErrNotOpen
}
