package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Close closes an open canvas (canvas.md section 3): the provider hears of it
// once, and neither its error nor its silence keeps the canvas open. Once it has
// begun, the end of ctx does not stop it. A close that cannot be kept (a full
// disk) fails and leaves the canvas stale: after a restart it would be there again.
func (s *Engine) Close(ctx context.Context, uri, instanceID string) error {
	return s.close(ctx, key{uri, instanceID}, s.flows.limit, whichever)
}

// CloseSession closes every canvas of a session, side by side, and lets no other
// be opened in it: the hook BeforeDispose of package session. after is called in
// the transaction that removes the session, or tells that it stays; then canvases
// open in it again.
func (s *Engine) CloseSession(ctx context.Context, uri string) (after func(tx *channels.Tx, gone bool), err error) {
	var open []key
	s.log.View(func(tx *channels.ReadTx) {
		for gone := range s.disposing {
			if _, ok := tx.State(gone); !ok {
				delete(s.disposing, gone)
			}
		}
		s.disposing[uri] = true
		for i := range s.instances.in(uri) {
			open = append(open, i.key)
		}
	})
	errs := make([]error, len(open))
	var wg sync.WaitGroup
	for n, k := range open {
		// The session goes away whether or not the caller still waits.
		wg.Go(func() {
			errs[n] = s.close(context.WithoutCancel(ctx), k, anyway, whichever)
		})
	}
	wg.Wait()
	after = func(tx *channels.Tx, gone bool) { s.sessionClosed(tx, uri, gone) }
	for n, err := range errs {
		if err != nil && !errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}) {
			s.log.View(func(*channels.ReadTx) { delete(s.disposing, uri) })
			return nil, fmt.Errorf("canvas %q: %w", open[n].instance, err)
		}
	}
	return after, nil
}

// sessionClosed lets what clients declared in a session go with it, and what the
// agent was to hear of it. Whoever waits for that looks when the session is gone.
func (s *Engine) sessionClosed(tx *channels.Tx, uri string, gone bool) {
	if !gone {
		delete(s.disposing, uri)
		return
	}
	for _, r := range s.clientsOf(uri) {
		s.unfold(tx, r)
	}
	s.events.drop(uri)
}

// closedByPerson is what the agent hears of an instance that a person has closed: what
// it waits for there does not come any more.
var closedByPerson = ahp.Value(`{"type":"` + canvas.CloseRequested{}.ActionType() + `"}`)

// closeAsked starts the close flow for a person who clicked the ✕. However often
// it is asked of one instance, one flow is started.
func (s *Engine) closeAsked(channel string) {
	var i *instance
	s.log.View(func(*channels.ReadTx) { i = s.byChannel[channel] })
	if i == nil || i.closing.Swap(true) {
		return
	}
	s.tasks.start(func() {
		defer i.closing.Store(false) // it is gone now, or the host is
		there := false
		err := s.close(s.tasks.ctx, i.key, anyway, func(now *instance) bool {
			there = now == i
			return there
		})
		switch {
		case err == nil && there:
			s.events.add(i.key, closedByPerson)
		case err != nil && !errors.Is(err, &canvas.Error{Code: canvas.CodeInstanceNotFound}):
			s.logger.Warn("canvas not closed", "channel", channel, "id", i.key.instance, "err", err)
		}
	})
}

// anyway is the limit of who waits for a close that is asked for once an instance,
// by a person or a session's end, and must not be lost among an agent's operations.
const anyway = math.MaxInt

// whichever is open is meant by who names no instance but its id.
func whichever(*instance) bool { return true }

// close is the close flow of the instance under a key, if it is still the one
// that was meant.
func (s *Engine) close(ctx context.Context, k key, limit int, meant func(*instance) bool) error {
	release, err := s.flows.within(ctx, k, limit)
	if err != nil {
		return err
	}
	defer release()
	var i *instance
	ready := false
	err = s.locked(func(tx *channels.ReadTx) error {
		if i, err = s.find(tx, k); err != nil {
			return err
		}
		st, _ := i.state(tx)
		ready = st.Availability == session.Ready
		return nil
	})
	if err != nil || !meant(i) {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if ready {
		s.tellClosed(ctx, i)
	}
	_, err = s.settle(&change{ctx: ctx, records: forget(i.channel), otherwise: listed, publish: func(_ *channels.Tx, rows *rowChanges) error {
		rows.remove(i)
		return nil
	}})
	if err != nil {
		// Its provider has let it go; it would be back after a restart.
		s.update(func(tx *channels.Tx) { s.makeStale(tx, i) })
		return err
	}
	s.cache.forget(i.channel)
	return nil
}

// listed is what is said of a canvas whose close the store refuses.
const listed = "the canvas is stale now and still listed, for the host could not keep its end"

// tellClosed tells the provider, which has a few seconds to answer: from now on,
// also where its requests wait for each other, for a person is looking at the ✕.
func (s *Engine) tellClosed(ctx context.Context, i *instance) {
	ctx, stop := context.WithTimeoutCause(ctx, s.timeouts.Close, errTimeout)
	defer stop()
	c, err := s.begin(ctx, i.reg, s.timeouts.Close)
	if err == nil {
		defer s.end(c)
		target := i.current
		_, err = ask(s, c, func(ctx context.Context) (struct{}, error) { return struct{}{}, target.Close(ctx) }, nil)
	}
	if err != nil {
		s.logger.Warn("canvas closed without its provider's word", "channel", i.channel, "id", i.key.instance, "err", err)
	}
}
