package engine

import (
	"errors"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// A reopen is an open that no caller asked for: the provider of stale instances is
// reachable again. If it fails, the instance stays stale until the next open or the
// provider's next return.

// reopenAll reopens the stale instances of a provider, side by side, each with the
// input that it had.
func (r *Registration) reopenAll() {
	r.reopenIf(anyInstance)
}

// reopenUnanswered reopens those whose provider was asked and did not answer.
func (r *Registration) reopenUnanswered() {
	r.reopenIf(func(i *instance) bool { return i.unanswered })
}

// reopenIf reopens the stale instances of a provider for which wanted is true when
// their turn has come. wanted runs under the log's lock.
func (r *Registration) reopenIf(wanted func(*instance) bool) {
	for _, i := range r.staleInstances() {
		r.engine.tasks.start(func() { r.engine.reopen(i, wanted) })
	}
}

func (r *Registration) staleInstances() (stale []*instance) {
	e := r.engine
	e.log.View(func(tx *channels.ReadTx) {
		if r.unreachable() {
			return
		}
		for i := range e.instances.in(r.ext.Session) {
			st, ok := i.state(tx)
			if ok && st.Availability == session.Stale && i.ext.ID == r.ext.ID && r.serves(i.key.session) && r.find(i.canvasID) != nil {
				stale = append(stale, i)
			}
		}
	})
	slices.SortFunc(stale, byKey)
	return stale
}

// reopen runs the open flow of a stale instance.
func (e *Engine) reopen(i *instance, wanted func(*instance) bool) {
	release, err := e.turns.take(e.tasks.ctx, i.key)
	if err != nil {
		return
	}
	defer release()
	open := false
	e.log.View(func(*channels.ReadTx) { open = e.instances.at(i.key) == i && wanted(i) })
	if !open {
		return
	}
	p, _, err := e.planOpen(i.key, canvas.OpenArgs{Session: i.key.session, ExtensionID: i.ext.ID, CanvasID: i.canvasID, InstanceID: i.key.instance})
	if p != nil {
		_, err = p.run(e.tasks.ctx)
	}
	superseded := err == error(errSuperseded) // the declaration that came asks again
	e.log.View(func(*channels.ReadTx) { i.unanswered = errors.Is(err, errUnavailable) && !superseded })
	if err != nil {
		e.logger.Warn("canvas not opened again", "channel", i.channel, "id", i.key.instance, "err", err)
	}
}
