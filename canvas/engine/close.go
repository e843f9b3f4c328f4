package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Close closes an open canvas (canvas/PROTOCOL.md section 3). The provider is called
// once; the canvas closes even if the provider fails or does not answer. Once the close
// has begun, canceling ctx does not stop it. If the store cannot save the close (a full
// disk), Close fails and the canvas is stale: after a restart it would be open again.
func (e *Engine) Close(ctx context.Context, uri, instanceID string) error {
	return e.close(ctx, key{uri, instanceID}, e.turns.limit, anyInstance)
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

// cutCalls gives the flows that run and wait at an instance the time of a close: a
// person waits for the canvas to disappear. After that their calls fail. The returned
// function ends it; the instance may exist then, if the store rejected the close.
func (e *Engine) cutCalls(i *instance) (stop func()) {
	stopped := false // guarded by the log's mutex
	timer := e.tasks.after(e.timeouts.Close, func() {
		e.log.View(func(*channels.ReadTx) {
			if i.cut = !stopped; stopped {
				return
			}
			for _, r := range e.registry {
				r.failCallsOf(i, errClosing)
			}
		})
	})
	return func() {
		timer.Stop()
		e.log.View(func(*channels.ReadTx) { stopped, i.cut = true, false })
	}
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
