package engine

import (
	"context"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// preparedOpen is an open whose answer was accepted, with what it commits.
type preparedOpen struct {
	*answeredOpen
	at    time.Time             // when a new instance was opened
	state canvas.CanvasState    // of a new instance, or of the open one before this open
	entry session.OpenCanvasRef // of a new instance in its session's catalog

	records []channels.Change // to commit
	undo    []channels.Change // what restores the records of an open instance
}

// prepare fixes what the open commits. From here until it is published, the
// provider's Save waits (see handle.saveEarly).
func (a *answeredOpen) prepare() *preparedOpen {
	p := &preparedOpen{answeredOpen: a}
	if a.inst == nil {
		p.at = a.engine.now()
	} else {
		p.at = a.inst.opened
	}
	var save, before []byte // the provider's data, new and old
	a.engine.log.View(func(tx *channels.ReadTx) {
		if a.live == nil {
			a.handle.keeping, save = true, a.handle.saved
		}
		if a.inst == nil {
			p.state = a.firstState()
			return
		}
		p.state, _ = a.inst.state(tx)
		before = a.inst.saved
	})
	p.changes(save, before)
	return p
}

// firstState returns the state with which a new instance begins.
func (a *answeredOpen) firstState() canvas.CanvasState {
	st := canvas.CanvasState{
		InstanceID: a.key.instance, CanvasID: a.decl.CanvasID, ExtensionID: a.ext.ID, ExtensionName: a.ext.Name,
		DisplayName: a.decl.DisplayName, Input: a.opened.Input, Availability: session.Ready, Provider: a.ext.Source(),
	}.Apply(shownBy(a.opened).Over(a.handle.pending).Action())
	st.Meta = metaOf(a.opened.HTTP, a.opened.Sockets, a.opened.Links, a.engine.net(a.ext.ClientID, a.ext.ID, a.decl.CanvasID))
	return st
}

// changes computes the records of the open, and those that undo a reopen. It encodes, so it
// runs without the lock.
func (p *preparedOpen) changes(save, before []byte) {
	id, data := instanceKey+p.uri, savedKey+p.uri
	rec := recordOf(p.state, p.key.session, p.at)
	switch {
	case p.inst == nil:
		p.records = append(p.records, channels.Change{Key: id, Value: rec.encode()})
		p.entry = entryOf(p.uri, p.state)
	case !ahp.Equal(p.state.Input, p.opened.Input):
		p.undo = append(p.undo, channels.Change{Key: id, Value: rec.encode()})
		rec.Input = p.opened.Input
		p.records = append(p.records, channels.Change{Key: id, Value: rec.encode()})
	}
	if save == nil {
		return
	}
	p.records = append(p.records, channels.Change{Key: data, Value: save})
	if p.inst != nil {
		p.undo = append(p.undo, channels.Change{Key: data, Value: before, Delete: before == nil})
	}
}

// commit makes the open durable, then visible. If it cannot be published after all,
// the store is rolled back.
func (p *preparedOpen) commit() (open canvas.OpenCanvas, err error) {
	committed, err := p.engine.commits.run(&change{
		ctx: p.call, records: p.records, failure: nothingChanged,
		publish: func(tx *channels.Tx, changes *catalogChanges) (err error) {
			open, err = p.publish(tx, changes)
			return err
		},
	})
	if err != nil && committed {
		p.rollBack()
	}
	return open, err
}

// rollBack undoes the open's records. If the store refuses that for a new instance,
// they are removed later.
func (p *preparedOpen) rollBack() {
	undo := p.undo
	if p.inst == nil {
		undo = forget(p.uri)
	}
	if len(undo) == 0 {
		return
	}
	err := p.engine.commits.write(context.WithoutCancel(p.call), nothingChanged, undo)
	if err != nil {
		p.engine.logger.Error("the store keeps an open that failed", "id", p.key.instance, "err", err)
		if p.inst == nil {
			p.engine.shown.Mark(instanceKey + p.uri)
		}
	}
}
