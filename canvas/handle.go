package canvas

import (
	"context"
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Handle is what a provider works an instance with. It is made for an open, and
// stays the instance's through every open after it while the canvas is ready. It
// is dead, and says [ErrHandleDead], once the canvas is closed, the provider
// went away, or the open that it was made for failed. Its methods may be called
// concurrently and at any time; they call no provider, so one may hold its own
// lock while it calls them. None but Save waits for a disk.
//
// Before the open that it was made for is answered, updates are collected and
// become part of the first state; there are no Views yet.
type Handle struct {
	service *Service
	key     key
	ext     Extension
	life    life // over when the handle is dead

	// Guarded by the log's mutex.
	inst    *instance     // nil until the open is published
	pending Update        // until then
	saved   []byte        // likewise
	keeping bool          // the open is on its way to disk: saved is part of it
	settled chan struct{} // closed when the open is published; nil while nobody waits for that
}

func newHandle(s *Service, k key, ext Extension) *Handle {
	return &Handle{service: s, key: k, ext: ext, life: life{of: s.tasks.ctx}}
}

// Done is closed when the handle is dead: whatever works for the instance stops.
func (h *Handle) Done() <-chan struct{} { return h.Context().Done() }

// Context is done when the handle is dead.
func (h *Handle) Context() context.Context { return h.life.context() }

// Session is the URI of the session in which the canvas is open.
func (h *Handle) Session() string { return h.key.session }

// InstanceID names the instance in its session.
func (h *Handle) InstanceID() string { return h.key.instance }

// ContentURL is the address of content of this instance; path begins with "/".
func (h *Handle) ContentURL(path string) string { return ContentURL(h.key.instance, path) }

// do runs fn in a transaction while the handle lives. inst is nil while the open
// is not answered yet.
func (h *Handle) do(fn func(tx *channels.Tx, inst *instance) error) error {
	return h.service.log.Update(func(tx *channels.Tx) error {
		if h.life.over() {
			return ErrHandleDead
		}
		return fn(tx, h.inst)
	})
}

// Update changes title, status and url. An update without effect is not sent.
func (h *Handle) Update(u Update) error {
	s := h.service
	return h.do(func(tx *channels.Tx, i *instance) error {
		if err := s.checkUpdate(h.key.instance, u, h.ext.source()); err != nil {
			return err
		}
		if i == nil {
			h.pending = u.over(h.pending)
			return nil
		}
		st, _ := i.state(tx)
		if a, any := effective(st, u.action()); any {
			return tx.Append(i.channel, a)
		}
		return nil
	})
}

// SetTitle is Update of the title alone.
func (h *Handle) SetTitle(title string) error { return h.Update(Update{Title: ahp.Set(title)}) }

// SetStatus is Update of the status alone; "" clears it.
func (h *Handle) SetStatus(status string) error {
	if status == "" {
		return h.Update(Update{Status: ahp.Clear[string]()})
	}
	return h.Update(Update{Status: ahp.Set(status)})
}

// Post sends a payload to all Views. It is kept for those that reconnect.
func (h *Handle) Post(payload ahp.Value) error { return h.post(payload, channels.Audience{}) }

// PostTo sends a payload to one View. It is not kept: that lane is dead with its
// connection, of which the instance hears by ViewGone. The zero View is an error.
func (h *Handle) PostTo(to View, payload ahp.Value) error {
	if to.Conn == 0 {
		return errNobody
	}
	return h.post(payload, channels.OnlyConn(to.Conn))
}

// errNobody keeps what is for one from everybody, whom an audience of no connection
// means.
var errNobody = errors.New("canvas: a message to one View names none")

// PostWritten is PostTo for a payload that an encoder wrote which is trusted to
// write valid, compact JSON: it is bounded in size, and not looked at. What a
// provider was given by somebody else goes through PostTo. It copies the bytes.
func (h *Handle) PostWritten(to View, payload ahp.Value) error {
	if to.Conn == 0 {
		return errNobody
	}
	if err := h.service.limits.size(payload); err != nil {
		return err
	}
	return h.publish(written{Message{Payload: payload}}, channels.OnlyConn(to.Conn))
}

func (h *Handle) post(payload ahp.Value, to channels.Audience) error {
	if err := h.service.limits.payload(payload); err != nil {
		return err
	}
	return h.publish(Message{Payload: payload}, to)
}

func (h *Handle) publish(m ahp.Action, to channels.Audience) error {
	return h.do(func(tx *channels.Tx, i *instance) error {
		if i == nil {
			return nil // nobody can be looking yet
		}
		return tx.AppendTo(i.channel, m, to)
	})
}

// size bounds a message's bytes.
func (l *Limits) size(p ahp.Value) error {
	if len(p) > l.MessageBytes {
		return fmt.Errorf("the payload has %d bytes, at most %d are allowed", len(p), l.MessageBytes)
	}
	return nil
}

// payload bounds a message.
func (l *Limits) payload(p ahp.Value) error {
	if err := l.size(p); err != nil {
		return err
	}
	if !p.IsValid() {
		return errors.New("the payload is not JSON")
	}
	return l.decoded(p)
}

// decoded is payload for what was decoded, and so is JSON.
func (l *Limits) decoded(p ahp.Value) error {
	if err := l.size(p); err != nil {
		return err
	}
	if err := l.shape(p); err != nil {
		return fmt.Errorf("the payload %w", err)
	}
	return nil
}

// Raise tells the agent that something happened: it reads events with a cursor,
// when it wants to (canvas.md section 7).
func (h *Handle) Raise(event ahp.Value) error {
	if err := h.service.limits.payload(event); err != nil {
		return err
	}
	if h.life.over() || !h.service.events.add(h.key, event) {
		return ErrHandleDead
	}
	return nil
}

// Save keeps bytes of the provider's own for this instance until it is closed;
// the next open of it gets them in OpenRequest.Saved, also after a restart of the
// host. At most 256 KiB. It returns when they are durable (before the open is
// answered, they become so with it), and so may wait for a disk; on an error what
// was kept before is kept.
func (h *Handle) Save(b []byte) error {
	if max := h.service.limits.SaveBytes; len(b) > max {
		return fmt.Errorf("canvas: %d bytes are too many to save, at most %d are allowed", len(b), max)
	}
	b = append([]byte{}, b...)
	i, err := h.saveEarly(b)
	if i == nil || err != nil {
		return err
	}
	i.saving.Lock()
	defer i.saving.Unlock()
	if err := h.service.commit(h.Context(), channels.Change{Key: savedKey + i.channel, Value: b}); err != nil {
		if h.life.over() {
			return ErrHandleDead
		}
		return err
	}
	h.service.log.View(func(*channels.ReadTx) { i.saved = b })
	return nil
}

// saveEarly puts b into the open that is not answered yet, or returns the
// instance. Once the open is on its way to disk, it waits until it is there.
func (h *Handle) saveEarly(b []byte) (inst *instance, err error) {
	for {
		var settled chan struct{}
		err := h.do(func(_ *channels.Tx, i *instance) error {
			switch inst = i; {
			case i != nil:
			case h.keeping:
				if h.settled == nil {
					h.settled = make(chan struct{})
				}
				settled = h.settled
			default:
				h.saved = b
			}
			return nil
		})
		if err != nil || settled == nil {
			return inst, err
		}
		select {
		case <-settled:
		case <-h.Done():
		}
	}
}

// Gone says that the instance cannot be reached, though its provider can be: it
// is stale at once, and the handle is dead. Back opens it again.
func (h *Handle) Gone() {
	s := h.service
	s.update(func(tx *channels.Tx) {
		switch {
		case h.life.over():
		case h.inst == nil:
			h.life.end() // its open, which is under way, fails
		default:
			s.makeStale(tx, h.inst)
		}
	})
}

// Back says that the instance of a handle that is dead can be reached again: if
// it is still stale, it is opened again, with a new handle.
func (h *Handle) Back() {
	s := h.service
	var i *instance
	s.log.View(func(*channels.ReadTx) { i = h.inst })
	if i != nil {
		s.tasks.start(func() { s.revive(i) })
	}
}

// over returns u laid over what was there before.
func (u Update) over(before Update) Update {
	if !u.Title.Present {
		u.Title = before.Title
	}
	if !u.Status.Present {
		u.Status = before.Status
	}
	if !u.URL.Present {
		u.URL = before.URL
	}
	return u
}

func (u Update) action() Updated { return Updated{Title: u.Title, Status: u.Status, URL: u.URL} }
