package canvas

import (
	"context"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// The records of an open canvas, named after its channel, which is never used
// again (canvas.md sections 3 and 5). What was opened, with which input, is
// committed before anybody sees it, and so are its end and what its provider
// saves; what it shows follows soon. A record that comes later than the end
// belongs to nobody and is swept at the next start.
//
//	canvas/<channel>        instanceRecord
//	canvas-shown/<channel>  shownRecord, from the first change on
//	canvas-saved/<channel>  the provider's bytes
const (
	instanceKey = "canvas/"
	shownKey    = "canvas-shown/"
	savedKey    = "canvas-saved/"
)

type instanceRecord struct {
	Session       string                       `json:"session"`
	InstanceID    string                       `json:"instanceId"`
	ExtensionID   string                       `json:"extensionId"`
	ExtensionName string                       `json:"extensionName,omitzero"`
	CanvasID      string                       `json:"canvasId"`
	DisplayName   string                       `json:"displayName,omitzero"`
	Provider      session.CanvasProviderSource `json:"provider"`
	Input         ahp.Value                    `json:"input,omitzero"`
	HTTP          bool                         `json:"http,omitzero"`
	Opened        time.Time                    `json:"opened"` // the order of the catalogue
	// Shown is what it showed when this was written; a record of its own, where
	// there is one, is newer.
	Shown shownRecord `json:"shown,omitzero"`
}

type shownRecord struct {
	Title  *string `json:"title,omitzero"`
	Status *string `json:"status,omitzero"`
}

func recordOf(st CanvasState, uri string, opened time.Time) instanceRecord {
	return instanceRecord{
		Session: uri, InstanceID: st.InstanceID, ExtensionID: st.ExtensionID, ExtensionName: st.ExtensionName,
		CanvasID: st.CanvasID, DisplayName: st.DisplayName, Provider: st.Provider, Input: st.Input,
		HTTP: len(st.Meta) > 0, Opened: opened, Shown: shownRecord{st.Title, st.Status},
	}
}

// takeBack undoes in the store what an open that is not published after all changed.
func (s *Service) takeBack(ctx context.Context, k key, back []channels.Change) {
	if len(back) == 0 {
		return
	}
	if err := s.commit(context.WithoutCancel(ctx), back...); err != nil {
		s.logger.Error("the store has an open that failed", "id", k.instance, "err", err)
	}
}

// openChanges is what an open changes in the store, and what takes it back. From
// here until it is published, what the provider saves waits (see Handle.Save).
func (s *Service) openChanges(tx *channels.Tx, k key, o *opening, opened Opened) (changes, back []channels.Change) {
	o.handle.keeping = o.fresh
	if o.inst == nil {
		o.channel, o.opened = ahp.SchemeCanvas+":/"+s.newID(), s.now()
		o.state = s.firstState(k, o, opened)
		changes = append(changes, channels.Change{Key: instanceKey + o.channel, Value: ahp.MustMarshal(recordOf(o.state, k.session, o.opened))})
		back = forget(o.channel)
	} else if st, _ := o.inst.state(tx); !ahp.Equal(st.Input, o.input) {
		before := recordOf(st, k.session, o.inst.opened)
		now := before
		now.Input = o.input
		changes = append(changes, channels.Change{Key: instanceKey + o.inst.channel, Value: ahp.MustMarshal(now)})
		back = append(back, channels.Change{Key: instanceKey + o.inst.channel, Value: ahp.MustMarshal(before)})
	}
	if o.fresh && o.handle.saved != nil {
		at := savedKey + o.channel
		if o.inst != nil {
			at = savedKey + o.inst.channel
			back = append(back, channels.Change{Key: at, Value: o.inst.saved, Gone: o.inst.saved == nil})
		}
		changes = append(changes, channels.Change{Key: at, Value: o.handle.saved})
	}
	return changes, back
}

// firstState is what a new instance begins with. It runs under the log's lock.
func (s *Service) firstState(k key, o *opening, opened Opened) CanvasState {
	st := merge(CanvasState{
		InstanceID: k.instance, CanvasID: o.decl.CanvasID, ExtensionID: o.reg.ext.ID, ExtensionName: o.reg.ext.Name,
		DisplayName: o.decl.DisplayName, Input: o.input, Availability: session.Ready, Provider: o.reg.ext.source(),
	}, o.handle.pending.action())
	if opened.HTTP {
		st.Meta = httpMeta
	}
	return merge(st, opened.update().action())
}

// httpMeta says in a state's _meta that the provider answers http/1 (canvas.md
// section 4).
var httpMeta = ahp.Value(`{"x-ahp-canvas/http":1}`)

// forget removes every record of an instance.
func forget(channel string) []channels.Change {
	return []channels.Change{
		{Key: instanceKey + channel, Gone: true}, {Key: shownKey + channel, Gone: true}, {Key: savedKey + channel, Gone: true},
	}
}

// commit asks the store, and says to people why nothing happened.
func (s *Service) commit(ctx context.Context, changes ...channels.Change) error {
	if err := s.store.Commit(ctx, changes...); err != nil {
		if ctx.Err() != nil {
			return ended(ctx)
		}
		return errorf(CodeStoreFailed, "nothing was changed, for the host could not keep it: %v", err)
	}
	return nil
}

// collect brings marked records up to date: what instances show.
func (s *Service) collect(keys []string) (changes []channels.Change) {
	s.must(func(tx *channels.Tx) {
		for _, key := range keys {
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
