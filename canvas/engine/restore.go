package engine

import (
	"context"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// restored is an open canvas as a store had it.
type restored struct {
	channel string
	record  instanceRecord
	saved   []byte
}

// Load reads the open canvases of an earlier life. The sessions are restored
// after it, whose catalogues name them then (see [Engine.Prepare]), and then
// [Engine.Restore] makes them.
func (s *Engine) Load(records channels.Records) error {
	byChannel := map[string]*restored{}
	for _, rec := range records.Under(instanceKey) {
		r := &restored{channel: rec.Key}
		if err := rec.Read(instanceKey, &r.record); err != nil {
			return err
		}
		byChannel[r.channel] = r
	}
	loaded := map[string][]*restored{}
	for _, rec := range records.Under(shownKey) {
		var shown shownRecord
		if r := byChannel[rec.Key]; r == nil {
			s.sweep = append(s.sweep, channels.Change{Key: shownKey + rec.Key, Delete: true})
		} else if err := rec.Read(shownKey, &shown); err != nil {
			return err
		} else {
			r.record.Shown = shown
		}
	}
	for _, rec := range records.Under(savedKey) {
		if r := byChannel[rec.Key]; r == nil {
			s.sweep = append(s.sweep, channels.Change{Key: savedKey + rec.Key, Delete: true})
		} else {
			r.saved = rec.Value
		}
	}
	for _, r := range byChannel {
		loaded[r.record.Session] = append(loaded[r.record.Session], r)
	}
	for uri, list := range loaded {
		slices.SortFunc(list, inOrder)
		loaded[uri] = s.newest(list)
	}
	s.log.View(func(*channels.ReadTx) { s.loaded, s.restoring = loaded, true })
	return nil
}

// newest leaves out of a session's canvases, which are in their order, those whose
// name a later one has: an open that failed and that the store did not take back.
func (s *Engine) newest(list []*restored) []*restored {
	last := map[string]*restored{}
	for _, r := range list {
		last[r.record.InstanceID] = r
	}
	return slices.DeleteFunc(list, func(r *restored) bool {
		old := last[r.record.InstanceID] != r
		if old {
			s.sweep = append(s.sweep, forget(r.channel)...)
		}
		return old
	})
}

func inOrder(a, b *restored) int {
	if c := a.record.Opened.Compare(b.record.Opened); c != 0 {
		return c
	}
	if a.channel < b.channel {
		return -1
	}
	return 1
}

// Restore makes the instances that Load read, in the sessions that are there:
// each is stale, without a url, until its provider opens it again (canvas.md
// section 5). What belongs to no session is removed from the store.
func (s *Engine) Restore(ctx context.Context) error {
	err := s.log.Update(func(tx *channels.Tx) error {
		for uri, list := range s.loaded {
			_, here := sessionState(tx, uri)
			for _, r := range list {
				if !here {
					s.sweep = append(s.sweep, forget(r.channel)...)
				} else if err := s.restore(tx, r); err != nil {
					return err
				}
			}
		}
		s.loaded, s.restoring = nil, false
		return nil
	})
	if err != nil || len(s.sweep) == 0 {
		return err
	}
	sweep := s.sweep
	s.sweep = nil
	return s.commit(ctx, sweep...)
}

func (s *Engine) restore(tx *channels.Tx, r *restored) error {
	rec := r.record
	k := key{rec.Session, rec.InstanceID}
	st := canvas.CanvasState{
		InstanceID: rec.InstanceID, CanvasID: rec.CanvasID, ExtensionID: rec.ExtensionID, ExtensionName: rec.ExtensionName,
		DisplayName: rec.DisplayName, Input: rec.Input, Title: rec.Shown.Title, Status: rec.Shown.Status,
		Availability: session.Stale, Provider: rec.Provider,
	}
	if rec.HTTP {
		st.Meta = httpMeta
	}
	if err := tx.Create(r.channel, rec.Session, st); err != nil {
		return err
	}
	ext := canvas.Extension{ID: rec.ExtensionID, Name: rec.ExtensionName, ClientID: rec.Provider.ClientID}
	i := &instance{key: k, channel: r.channel, ext: ext, canvasID: rec.CanvasID, saved: r.saved, opened: rec.Opened}
	i.handle = newHandle(s, k, ext)
	i.box = newMailbox(s.tasks, &i.handle.life, s.limits.MailboxBytes, nil)
	i.quiet() // until it is opened again
	s.instances.add(i)
	s.byChannel[r.channel] = i
	return nil
}

// rows is the catalogue of a session that is being restored. It is never nil.
func (s *Engine) rows(uri string) []session.OpenCanvasRef {
	rows := []session.OpenCanvasRef{}
	for _, r := range s.loaded[uri] {
		rows = append(rows, session.OpenCanvasRef{
			InstanceID: r.record.InstanceID, Channel: r.channel, CanvasID: r.record.CanvasID, ExtensionID: r.record.ExtensionID,
			ExtensionName: r.record.ExtensionName, Title: r.record.Shown.Title, Availability: session.Stale,
		}.Encoded())
	}
	return rows
}
