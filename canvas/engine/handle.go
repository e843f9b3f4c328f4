package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// handle is the engine's side of a [canvas.Handle].
type handle struct {
	canvas.Handle // what the provider is given
	engine        *Engine
	key           key
	ext           canvas.Extension
	life          lifetime

	// Guarded by the log's mutex.
	inst      *instance      // nil until the open is published
	pending   canvas.Update  // updates made until then
	saved     []byte         // data saved until then
	early     map[string]any // announced until then
	keeping   bool           // the open is being committed, and saved is part of it
	published chan struct{}  // closed when the open is published; nil while nothing waits
}

func newHandle(e *Engine, k key, ext canvas.Extension) *handle {
	h := &handle{engine: e, key: k, ext: ext, life: lifetime{engine: e.tasks.ctx}}
	h.Handle = canvas.MakeHandle(h, k.session, k.instance)
	return h
}

// Context implements [canvas.Backend].
func (h *handle) Context() context.Context { return h.life.context() }

// do runs fn in a transaction while the handle lives. inst is nil until the open is
// published.
func (h *handle) do(fn func(tx *channels.Tx, inst *instance) error) error {
	return h.engine.log.Update(func(tx *channels.Tx) error {
		if h.life.over() {
			return canvas.ErrHandleClosed
		}
		return fn(tx, h.inst)
	})
}

// Update implements [canvas.Backend]. An update without effect is not published.
func (h *handle) Update(_ context.Context, u canvas.Update) error {
	u, _ = h.engine.limits.CleanUpdate(u)
	return h.do(func(tx *channels.Tx, i *instance) error {
		if err := h.engine.limits.Update(h.key.instance, u, h.ext.Source()); err != nil {
			return err
		}
		if i == nil {
			h.pending = u.Over(h.pending)
			return nil
		}
		st, _ := i.state(tx)
		if a, changed := u.Action().Without(st); changed {
			return tx.Append(i.channel, a)
		}
		return nil
	})
}

// Post implements [canvas.Backend].
func (h *handle) Post(_ context.Context, p canvas.Post) error {
	var to channels.Audience
	if p.To.Conn != 0 {
		to = channels.OnlyConn(p.To.Conn)
	}
	limits := &h.engine.limits
	if p.Encoded {
		if err := limits.MessageSize(p.Payload); err != nil {
			return err
		}
		return h.publish(encodedMessage{canvas.Message{Payload: p.Payload}}, to)
	}
	if err := limits.Message(p.Payload); err != nil {
		return err
	}
	return h.publish(canvas.Message{Payload: p.Payload}, to)
}

// publish appends a message for the Views; before the open is published there are
// none.
func (h *handle) publish(m ahp.Action, to channels.Audience) error {
	return h.do(func(tx *channels.Tx, i *instance) error {
		if i == nil {
			return nil
		}
		return tx.AppendTo(i.channel, m, to)
	})
}

// Raise implements [canvas.Keeper].
func (h *handle) Raise(event ahp.Value) error {
	if err := h.engine.limits.Message(event); err != nil {
		return err
	}
	if h.life.over() || !h.engine.events.add(h.key, event, nil) {
		return canvas.ErrHandleClosed
	}
	return nil
}

// RaiseFor implements [canvas.PrivateRaiser].
func (h *handle) RaiseFor(agent string, event ahp.Value) error {
	if err := h.engine.limits.Message(event); err != nil {
		return err
	}
	if h.life.over() || !h.engine.events.add(h.key, event, &agent) {
		return canvas.ErrHandleClosed
	}
	return nil
}

// Note implements [canvas.Noter]. Before the open is published there is nothing to note: the
// open is.
func (h *handle) Note(who canvas.Actor, what string) error {
	return h.do(func(tx *channels.Tx, i *instance) error {
		if i == nil {
			return nil
		}
		switch who.Kind {
		case canvas.ActorPerson:
			for _, s := range tx.Subscribers(i.channel) {
				if s.ClientID == who.ClientID && s.Name != "" {
					who.Name = s.Name
				}
			}
		case canvas.ActorAgent:
			if caller := i.caller.Load(); caller != nil && who.Name == "" {
				who.Name = *caller
			}
		}
		i.notes.Add(1)
		st, _ := i.state(tx)
		h.engine.happened(i, st, who, what)
		return nil
	})
}

// Announce implements [canvas.Announcer].
func (h *handle) Announce(name string, value any) error {
	return h.do(func(tx *channels.Tx, i *instance) error {
		switch {
		case i != nil:
			h.engine.announce(tx, i, name, value)
			return nil
		case h.early == nil:
			h.early = map[string]any{}
		}
		if waits, ok := value.(canvas.Attention); ok {
			waits.Since = h.engine.now().UTC().Format(time.RFC3339)
			value = waits
		}
		h.early[name] = value
		return nil
	})
}

// WithdrawEvents implements [canvas.Withdrawer].
func (h *handle) WithdrawEvents() error {
	if h.life.over() {
		return canvas.ErrHandleClosed
	}
	h.engine.events.withdraw(h.key)
	return nil
}

// Save implements [canvas.Keeper].
func (h *handle) Save(ctx context.Context, data []byte) error {
	if limit := h.engine.limits.SaveBytes; len(data) > limit {
		return fmt.Errorf("canvas: cannot save %d bytes, at most %d are allowed", len(data), limit)
	}
	data = append([]byte{}, data...)
	i, err := h.saveEarly(ctx, data)
	if i == nil || err != nil {
		return err
	}
	if err := h.mayGrow(i, len(data)); err != nil {
		return err
	}
	i.saving.Lock()
	defer i.saving.Unlock()
	ctx, stop := h.while(ctx)
	defer stop()
	if err := h.engine.commits.write(ctx, nothingChanged, []channels.Change{{Key: savedKey + i.channel, Value: data}}); err != nil {
		if h.life.over() {
			return canvas.ErrHandleClosed
		}
		return err
	}
	h.engine.log.View(func(*channels.ReadTx) { h.engine.instances.save(i, data) })
	return nil
}

// mayGrow returns an error if the host's memory has no space for larger saved data.
func (h *handle) mayGrow(i *instance, size int) (err error) {
	h.engine.log.View(func(*channels.ReadTx) {
		more := int64(size - len(i.saved))
		if more > 0 && !h.engine.instances.memory.Fits(budget.Saved, more) {
			err = canvas.Errorf(canvas.CodeLimitExceeded, "cannot save %d bytes: %v", size, budget.ErrFull)
		}
	})
	return err
}

// while returns a context that ends with ctx and with the handle.
func (h *handle) while(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.Context(), cancel)
	return ctx, func() { stop(); cancel() }
}

// saveEarly puts data into the open that has not returned yet, or returns the
// instance. While the open is being committed, it waits until it is published.
func (h *handle) saveEarly(ctx context.Context, data []byte) (inst *instance, err error) {
	for {
		var published chan struct{}
		err := h.do(func(_ *channels.Tx, i *instance) error {
			switch inst = i; {
			case i != nil:
			case h.keeping:
				if h.published == nil {
					h.published = make(chan struct{})
				}
				published = h.published
			default:
				h.saved = data
			}
			return nil
		})
		if err != nil || published == nil {
			return inst, err
		}
		select {
		case <-published:
		case <-h.Context().Done():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Records implements [canvas.RecordKeeper].
func (h *handle) Records() canvas.Records { return h.engine.Records(h.ext.ID) }

// SetReachable implements [canvas.Keeper].
func (h *handle) SetReachable(reachable bool) {
	if reachable {
		h.reopen()
		return
	}
	h.engine.update(func(tx *channels.Tx) {
		switch {
		case h.life.over():
		case h.inst == nil:
			h.life.end() // the open that is under way fails
		default:
			h.inst.markStale(h.engine, tx)
		}
	})
}

// reopen opens the instance again, if it was published and is stale.
func (h *handle) reopen() {
	var i *instance
	h.engine.log.View(func(*channels.ReadTx) { i = h.inst })
	if i != nil {
		h.engine.tasks.start(func() { h.engine.reopen(i, anyInstance) })
	}
}

// attach makes the handle that of a published instance. It runs in the transaction that
// publishes.
func (h *handle) attach(i *instance) {
	h.inst = i
	i.said.attention, _ = h.early[canvas.MetaAttention].(canvas.Attention)
	if h.published != nil {
		close(h.published)
	}
}

// earlyMeta returns what was announced before the open is published, as a change of the
// state's _meta; nil if nothing was.
func (h *handle) earlyMeta() ahp.Value {
	if len(h.early) == 0 {
		return nil
	}
	return ahp.MustMarshal(h.early)
}

// encodedMessage is a Message whose payload a trusted encoder wrote: it is valid and has
// no white space, so it goes into the envelope without being read again.
type encodedMessage struct{ canvas.Message }

const messageHead = `{"type":"canvas/message","payload":`

func (m encodedMessage) EncodedSize() int { return len(messageHead) + len(m.Payload) + 1 }

func (m encodedMessage) AppendEncoded(b []byte) []byte {
	return append(append(append(b, messageHead...), m.Payload...), '}')
}
