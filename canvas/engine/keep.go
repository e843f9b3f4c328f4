package engine

import (
	"context"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// The records of an open canvas, named after its channel, which is never used
// again (canvas.md sections 3 and 5). What was opened, with which input, is
// committed before anybody sees it, and so are its end and what its provider
// saves; what it shows follows soon. A record that comes later than the end
// belongs to nobody and is swept at the next start.
//
//	canvas/<channel>        instanceRecord; a mark of it is of one that failed to open
//	canvas-shown/<channel>  shownRecord, from the first change on
//	canvas-saved/<channel>  the provider's bytes
const (
	instanceKey = "canvas/"
	shownKey    = "canvas-shown/"
	savedKey    = "canvas-saved/"
)

// takeBack undoes in the store what an open that is not published after all changed.
func (s *Engine) takeBack(ctx context.Context, k key, back []channels.Change) {
	if len(back) == 0 {
		return
	}
	if err := s.commit(context.WithoutCancel(ctx), back...); err != nil {
		s.logger.Error("the store has an open that failed", "id", k.instance, "err", err)
		if back[0].Delete { // of a new instance, or of nothing that collect knows
			s.behind.Mark(back[0].Key)
		}
	}
}

// beginKeeping fixes what an open will be kept as. From here until it is published,
// what the provider saves waits (see Handle.Save). It runs under the log's lock.
func (s *Engine) beginKeeping(tx *channels.ReadTx, k key, o *opening, opened canvas.Opened) {
	o.handle.keeping = o.fresh
	if o.fresh {
		o.save = o.handle.saved
	}
	if o.inst == nil {
		o.state = s.firstState(k, o, opened)
		return
	}
	o.state, _ = o.inst.state(tx)
	o.saved = o.inst.saved
}

// openChanges is what an open changes in the store, and what takes it back. It
// encodes, and so runs without the lock.
func (o *opening) openChanges(k key) (changes, back []channels.Change) {
	channel := o.channel
	if o.inst == nil {
		rec := recordOf(o.state, k.session, o.opened)
		changes = append(changes, channels.Change{Key: instanceKey + channel, Value: rec.encode()})
		o.row = rowOf(channel, o.state)
	} else if channel = o.inst.channel; !ahp.Equal(o.state.Input, o.input) {
		before := recordOf(o.state, k.session, o.inst.opened)
		now := before
		now.Input = o.input
		changes = append(changes, channels.Change{Key: instanceKey + channel, Value: now.encode()})
		back = append(back, channels.Change{Key: instanceKey + channel, Value: before.encode()})
	}
	if o.save == nil {
		return changes, back
	}
	if o.inst != nil {
		back = append(back, channels.Change{Key: savedKey + channel, Value: o.saved, Delete: o.saved == nil})
	}
	return append(changes, channels.Change{Key: savedKey + channel, Value: o.save}), back
}

// firstState is what a new instance begins with. It runs under the log's lock.
func (s *Engine) firstState(k key, o *opening, opened canvas.Opened) canvas.CanvasState {
	st := canvas.CanvasState{
		InstanceID: k.instance, CanvasID: o.decl.CanvasID, ExtensionID: o.ext.ID, ExtensionName: o.ext.Name,
		DisplayName: o.decl.DisplayName, Input: o.input, Availability: session.Ready, Provider: o.ext.Source(),
	}.Apply(o.handle.pending.Action())
	if opened.HTTP {
		st.Meta = httpMeta
	}
	return st.Apply(o.shown.Action())
}

// httpMeta says in a state's _meta that the provider answers http/1 (canvas.md
// section 4).
var httpMeta = ahp.Value(`{"x-ahp-canvas/http":1}`)

// forget removes every record of an instance.
func forget(channel string) []channels.Change {
	return []channels.Change{
		{Key: instanceKey + channel, Delete: true}, {Key: shownKey + channel, Delete: true}, {Key: savedKey + channel, Delete: true},
	}
}

// asBefore is what is said where the store refuses what nobody has seen any of.
const asBefore = "nothing was changed, for the host could not keep it"

// commit asks the store, and says to people why nothing happened.
func (s *Engine) commit(ctx context.Context, changes ...channels.Change) error {
	return s.commitOr(ctx, asBefore, changes)
}

// commitOr is commit for what leaves more behind where the store refuses it.
func (s *Engine) commitOr(ctx context.Context, otherwise string, changes []channels.Change) error {
	if err := s.store.Commit(ctx, changes...); err != nil {
		if ctx.Err() != nil {
			return ended(ctx)
		}
		return canvas.Errorf(canvas.CodeStoreFailed, "%s: %v", otherwise, err)
	}
	return nil
}

// collect brings marked records up to date: what instances show, and those that
// belong to none.
func (s *Engine) collect(keys []string) (changes []channels.Change) {
	s.log.View(func(tx *channels.ReadTx) {
		for _, key := range keys {
			if channel, failed := strings.CutPrefix(key, instanceKey); failed {
				changes = append(changes, forget(channel)...)
				continue
			}
			i := s.byChannel[strings.TrimPrefix(key, shownKey)]
			if i == nil {
				continue
			}
			if st, ok := i.state(tx); ok {
				changes = append(changes, channels.Change{Key: key, Value: ahp.MustMarshal(shownRecord{st.Title, st.Status})})
			}
		}
	})
	return changes
}
