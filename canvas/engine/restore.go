package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// A restart goes through these steps: Load reads the records, package session restores
// its sessions, whose catalogs come from Prepare, and Restore creates the channels.

// restoring is what Load has read and Restore will create. Guarded by the log's mutex.
type restoring struct {
	active   bool // between Load and Restore: clients are listed, but not connected
	sessions map[string][]*restored
	orphans  []channels.Change // deletes records that belong to no instance
}

// restored is an open canvas as the store has it.
type restored struct {
	channel string
	record  instanceRecord
	saved   []byte
	private bool
}

// Load reads the open canvases and the providers' records of an earlier run. The sessions are restored after it,
// and then [Engine.Restore] creates the canvases.
func (e *Engine) Load(records channels.Records) error {
	e.records.load(records)
	byChannel := map[string]*restored{}
	for _, rec := range records.Under(instanceKey) {
		r := &restored{channel: rec.Key}
		if err := rec.Read(instanceKey, &r.record); err != nil {
			return err
		}
		byChannel[r.channel] = r
	}
	state := restoring{active: true, sessions: map[string][]*restored{}}
	if err := state.readShown(records, byChannel); err != nil {
		return err
	}
	for _, rec := range records.Under(savedKey) {
		if r := byChannel[rec.Key]; r != nil {
			r.saved = rec.Value
		} else {
			state.orphans = append(state.orphans, channels.Change{Key: savedKey + rec.Key, Delete: true})
		}
	}
	for _, rec := range records.Under(privateKey) {
		if r := byChannel[rec.Key]; r != nil {
			r.private = true
		} else {
			state.orphans = append(state.orphans, channels.Change{Key: privateKey + rec.Key, Delete: true})
		}
	}
	for _, rec := range records.Under(closingKey) { // a person closed it, and did not undo that
		delete(byChannel, rec.Key)
		state.orphans = append(state.orphans, forget(rec.Key)...)
	}
	for _, r := range byChannel {
		state.sessions[r.record.Session] = append(state.sessions[r.record.Session], r)
	}
	for uri, list := range state.sessions {
		slices.SortFunc(list, byOpening)
		state.sessions[uri] = state.newest(list)
	}
	e.log.View(func(*channels.ReadTx) { e.restoring = state })
	return nil
}

// readShown puts what instances showed into their records.
func (s *restoring) readShown(records channels.Records, byChannel map[string]*restored) error {
	for _, rec := range records.Under(shownKey) {
		r := byChannel[rec.Key]
		if r == nil {
			s.orphans = append(s.orphans, channels.Change{Key: shownKey + rec.Key, Delete: true})
			continue
		}
		var shown shownRecord
		if err := rec.Read(shownKey, &shown); err != nil {
			return err
		}
		r.record.Shown = shown
	}
	return nil
}

// newest drops from a session's canvases, which are in order, those whose instance id a
// later one has: opens that failed and could not be rolled back.
func (s *restoring) newest(list []*restored) []*restored {
	last := map[string]*restored{}
	for _, r := range list {
		last[r.record.InstanceID] = r
	}
	return slices.DeleteFunc(list, func(r *restored) bool {
		old := last[r.record.InstanceID] != r
		if old {
			s.orphans = append(s.orphans, forget(r.channel)...)
		}
		return old
	})
}

func byOpening(a, b *restored) int {
	if c := a.record.Opened.Compare(b.record.Opened); c != 0 {
		return c
	}
	return strings.Compare(a.channel, b.channel)
}

// catalog returns the catalog of a session that is being restored. It is never nil.
func (s *restoring) catalog(uri string) []session.OpenCanvasRef {
	entries := []session.OpenCanvasRef{}
	for _, r := range s.sessions[uri] {
		entries = append(entries, session.OpenCanvasRef{
			InstanceID: r.record.InstanceID, Channel: r.channel, CanvasID: r.record.CanvasID, ExtensionID: r.record.ExtensionID,
			ExtensionName: r.record.ExtensionName, Title: r.record.Shown.Title, Availability: session.Stale,
		}.Encoded())
	}
	return entries
}

// Restore creates the instances that Load read, in the sessions that exist: each is
// stale, without a url, until its provider opens it again (canvas/PROTOCOL.md section
// 5). Records that belong to no session are removed from the store.
func (e *Engine) Restore(ctx context.Context) error {
	var orphans []channels.Change
	err := e.log.Update(func(tx *channels.Tx) error {
		orphans = e.restoring.orphans
		for uri, list := range e.restoring.sessions {
			_, exists := sessionState(tx, uri)
			for _, r := range list {
				if !exists {
					orphans = append(orphans, forget(r.channel)...)
				} else if err := e.restore(tx, r); err != nil {
					return err
				}
			}
		}
		e.restoring = restoring{}
		return nil
	})
	if err != nil || len(orphans) == 0 {
		return err
	}
	return e.commits.write(ctx, nothingChanged, orphans)
}

func (e *Engine) restore(tx *channels.Tx, r *restored) error {
	rec := r.record
	st := canvas.CanvasState{
		InstanceID: rec.InstanceID, CanvasID: rec.CanvasID, ExtensionID: rec.ExtensionID, ExtensionName: rec.ExtensionName,
		DisplayName: rec.DisplayName, Input: rec.Input, Title: rec.Shown.Title, Status: rec.Shown.Status,
		Availability: session.Stale, Provider: rec.Provider, IsPrivate: r.private, Meta: metaOf(rec.HTTP, rec.Sockets, rec.Links, e.net(rec.Provider.ClientID, rec.ExtensionID, rec.CanvasID)),
	}
	if err := tx.Create(r.channel, rec.Session, st); err != nil {
		return err
	}
	ext := canvas.Extension{ID: rec.ExtensionID, Name: rec.ExtensionName, ClientID: rec.Provider.ClientID}
	i := &instance{key: key{rec.Session, rec.InstanceID}, channel: r.channel, ext: ext, canvasID: rec.CanvasID, saved: r.saved, opened: rec.Opened}
	i.handle = newHandle(e, i.key, ext)
	i.box = newMailbox(e.tasks, &i.handle.life, e.limits.MailboxBytes, nil)
	i.disconnect() // until it is opened again
	e.instances.add(i)
	return nil
}
