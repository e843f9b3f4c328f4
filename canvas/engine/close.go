package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Close closes an open canvas (canvas/PROTOCOL.md section 3). The provider is called
// once; the canvas closes even if the provider fails or does not answer. Once the close
// has begun, canceling ctx does not stop it. If the store cannot save the close (a full
// disk), Close fails and the canvas is stale: after a restart it would be open again.
func (e *Engine) Close(ctx context.Context, uri, instanceID string) (err error) {
	ctx, span := e.trace.Start(ctx, "canvas close")
	defer func() { span.End(codeOf(err)) }()
	return e.closeNoted(ctx, key{uri, instanceID}, e.turns.limit, agentOf(ctx), anyInstance)
}

// closeNoted is close with an entry in the history.
func (e *Engine) closeNoted(ctx context.Context, k key, limit int, who canvas.Actor, meant func(*instance) bool) error {
	var closed *instance
	var st canvas.CanvasState
	err := e.close(ctx, k, limit, func(i *instance) bool {
		if meant(i) {
			closed = i
			e.log.View(func(tx *channels.ReadTx) { st, _ = i.state(tx) })
		}
		return closed != nil
	})
	if err == nil && closed != nil {
		e.happened(closed, st, who, "closed the canvas")
	}
	return err
}

// CloseSession closes every canvas of a session concurrently, and rejects opens in it: it
// is the hook BeforeDispose of package session. The caller calls after in the transaction
// that removes the session, or with gone false if the session stays; then canvases can be
// opened in it again.
func (e *Engine) CloseSession(ctx context.Context, uri string) (after func(tx *channels.Tx, gone bool), err error) {
	var open []key
	e.log.View(func(tx *channels.ReadTx) {
		for disposing := range e.admission.disposing {
			if _, ok := tx.State(disposing); !ok {
				delete(e.admission.disposing, disposing)
			}
		}
		e.admission.disposing[uri] = true
		for i := range e.instances.in(uri) {
			open = append(open, i.key)
		}
	})
	errs := make([]error, len(open))
	var wg sync.WaitGroup
	for n, k := range open {
		// The session ends whether or not the caller still waits.
		wg.Go(func() { errs[n] = e.close(context.WithoutCancel(ctx), k, unlimited, anyInstance) })
	}
	wg.Wait()
	for n, err := range errs {
		if err != nil && !errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}) {
			e.log.View(func(*channels.ReadTx) { delete(e.admission.disposing, uri) })
			return nil, fmt.Errorf("canvas %q: %w", open[n].instance, err)
		}
	}
	return func(tx *channels.Tx, gone bool) { e.sessionClosed(tx, uri, gone) }, nil
}

// sessionClosed removes what clients declared in a session, and its events. Callers
// that wait for events look when the session is gone.
func (e *Engine) sessionClosed(tx *channels.Tx, uri string, gone bool) {
	if !gone {
		delete(e.admission.disposing, uri)
		return
	}
	for _, r := range e.registry.clients(uri) {
		r.withdraw(tx)
	}
	e.events.drop(uri)
	e.history.Drop(uri)
}

// unlimited lets a close wait for its turn behind any number of flows: a close by a
// person or by the end of a session must not be rejected because an agent is busy.
const unlimited = math.MaxInt

// close is the close flow: plan, call the provider, commit, publish. It does nothing if
// meant returns false for the instance.
func (e *Engine) close(ctx context.Context, k key, limit int, meant func(*instance) bool) error {
	release, err := e.turns.takeWithin(ctx, k, limit)
	if err != nil {
		return err
	}
	defer release()
	p, err := e.planClose(k)
	if err != nil || !meant(p.inst) {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if p.ready {
		p.callProvider(ctx)
	}
	return p.commit(ctx)
}

// closedByPerson is the agent's event for an instance that a person closed: whatever the
// agent waits for there will not happen.
var closedByPerson = ahp.Value(`{"type":"` + canvas.CloseRequested{}.ActionType() + `"}`)

// closeForPerson runs the close flow for a person who pressed ✕. Repeated requests for one
// instance start one flow. It reports whether the instance is gone, or another flow closes
// it.
func (e *Engine) closeForPerson(i *instance, who canvas.Actor) bool {
	if i.closing.Swap(true) {
		return true
	}
	defer i.closing.Store(false)
	stop := e.cutCalls(i)
	defer stop()
	closed := false
	err := e.closeNoted(e.tasks.ctx, i.key, unlimited, who, func(now *instance) bool {
		closed = now == i
		return closed
	})
	if err != nil && !errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}) {
		e.logger.Warn("canvas not closed", "channel", i.channel, "id", i.key.instance, "err", err)
		return false
	}
	if err == nil && closed {
		e.events.add(i.key, closedByPerson, nil)
	}
	return true
}

// undoable is a close that a person asked for and can still undo. Guarded by the log's
// mutex.
type undoable struct {
	from  string       // the client that asked
	who   canvas.Actor // likewise
	timer *time.Timer
}

// stop stops the close of an instance that is closed already.
func (u *undoable) stop() {
	if u != nil {
		u.timer.Stop()
	}
}

// closeUnlessUndone closes an instance after a time, unless the client that asked undoes
// it. That the close was asked for is durable, so the next start completes it. If a close
// of the instance waits already, that one counts.
func (e *Engine) closeUnlessUndone(i *instance, from *channels.Subscriber, within time.Duration) {
	i.saving.Lock()
	defer i.saving.Unlock()
	u := &undoable{from: from.ClientID, who: e.actor(from)}
	record := channels.Change{Key: closingKey + i.channel, Value: []byte("{}")}
	err := e.changeUndoable(e.tasks.ctx, i, nil, u, record, canvas.SetMeta(canvas.MetaClosing, canvas.Closing{
		ClientID: from.ClientID, Until: e.now().Add(within).UTC().Format(time.RFC3339Nano), Seconds: int(math.Ceil(within.Seconds())),
	}), func() { u.timer = e.tasks.after(within, func() { e.closeUndoable(i, u) }) })
	if err != nil && !errors.Is(err, ahp.ErrNotFound) {
		e.logger.Warn("canvas not closed", "channel", i.channel, "id", i.key.instance, "err", err)
	}
}

// changeUndoable replaces an instance's undoable close, durably and then visibly. It
// returns ahp.ErrNotFound if the instance does not have the expected one any more.
func (e *Engine) changeUndoable(ctx context.Context, i *instance, from, to *undoable, record channels.Change, u canvas.Updated, then func()) error {
	expected := false
	if e.log.View(func(*channels.ReadTx) { expected = i.undoable == from }); !expected {
		return ahp.ErrNotFound
	}
	_, err := e.commits.run(&change{
		ctx: ctx, records: []channels.Change{record}, failure: nothingChanged,
		publish: func(tx *channels.Tx, _ *catalogChanges) error {
			if e.instances.byChannel[i.channel] != i || i.undoable != from {
				return ahp.ErrNotFound
			}
			i.undoable = to
			then()
			e.publish(tx, i.channel, u)
			return nil
		},
	})
	return err
}

// closeUndoable closes an instance whose close was not undone in time. If the close fails,
// the instance stays open.
func (e *Engine) closeUndoable(i *instance, u *undoable) {
	due := false
	e.log.View(func(*channels.ReadTx) {
		if due = i.undoable == u && e.instances.byChannel[i.channel] == i; due {
			i.undoable = nil
		}
	})
	if !due || e.closeForPerson(i, u.who) {
		return
	}
	i.saving.Lock()
	defer i.saving.Unlock()
	err := e.changeUndoable(e.tasks.ctx, i, nil, nil, notClosing(i), canvas.SetMeta(canvas.MetaClosing, nil), func() {})
	if err != nil {
		e.update(func(tx *channels.Tx) {
			if e.instances.byChannel[i.channel] == i {
				e.publish(tx, i.channel, canvas.SetMeta(canvas.MetaClosing, nil))
			}
		})
	}
}

// notClosing deletes the record of an instance's undoable close.
func notClosing(i *instance) channels.Change {
	return channels.Change{Key: closingKey + i.channel, Delete: true}
}

// UndoClose is the method x-ahp-canvas/undoClose: the client that asked for a close undoes
// it in time. The undo is durable when it returns (canvas/PROTOCOL.md section 3.4).
func (e *Engine) UndoClose(ctx context.Context, from *channels.Subscriber, p canvas.UndoCloseParams) (ahp.None, error) {
	var i *instance
	var u *undoable
	e.log.View(func(tx *channels.ReadTx) {
		if tx.ClientSubscribed(from.ClientID, p.Channel) {
			i = e.instances.byChannel[p.Channel]
		}
	})
	if i == nil {
		return ahp.None{}, ahp.ErrNotFound
	}
	i.saving.Lock()
	defer i.saving.Unlock()
	e.log.View(func(*channels.ReadTx) { u = i.undoable })
	if u == nil || u.from != from.ClientID {
		return ahp.None{}, ahp.ErrNotFound
	}
	err := e.changeUndoable(ctx, i, u, nil, notClosing(i), canvas.SetMeta(canvas.MetaClosing, nil), u.stop)
	return ahp.None{}, asWire(err)
}

// plannedClose is a close of an instance that exists.
type plannedClose struct {
	engine *Engine
	inst   *instance
	ready  bool // its provider can be called
}

func (e *Engine) planClose(k key) (*plannedClose, error) {
	p := &plannedClose{engine: e}
	err := e.locked(func(tx *channels.ReadTx) (err error) {
		if p.inst, err = e.find(tx, k); err != nil {
			return err
		}
		st, _ := p.inst.state(tx)
		p.ready = st.Availability == session.Ready
		return nil
	})
	return p, err
}

// callProvider calls the provider's Close. The timeout starts now, even if the request
// waits behind others: a person waits for the canvas to disappear.
func (p *plannedClose) callProvider(ctx context.Context) {
	i, within := p.inst, p.engine.timeouts.Close
	ctx, stop := context.WithTimeoutCause(ctx, within, errTimeout)
	defer stop()
	c, err := p.engine.begin(ctx, i.reg, within)
	if err == nil {
		defer c.end()
		target := i.current
		_, err = ask(c, func(ctx context.Context) (struct{}, error) { return struct{}{}, target.Close(ctx) }, nil)
	}
	if err != nil {
		p.engine.logger.Warn("canvas closed without its provider's answer", "channel", i.channel, "id", i.key.instance, "err", err)
	}
}

// commit makes the close durable and then visible. If that fails, the canvas becomes
// stale: its provider has closed it, but the store still has it.
func (p *plannedClose) commit(ctx context.Context) error {
	_, err := p.engine.commits.run(&change{
		ctx: ctx, records: forget(p.inst.channel), failure: stillListed,
		publish: func(_ *channels.Tx, changes *catalogChanges) error { changes.remove(p.inst); return nil },
	})
	if err != nil {
		p.engine.update(func(tx *channels.Tx) { p.inst.markStale(p.engine, tx) })
		return err
	}
	p.engine.Content.cache.Forget(p.inst.channel)
	return nil
}
