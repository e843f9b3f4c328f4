package session

import (
	"context"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// restored is a session from a store.
type restored struct {
	uri     string
	entry   entry
	state   State
	clients []clientRecord
}

// Restore restores the sessions of records, before the host serves. It calls expect with
// each client that took part in one, its token and its capabilities: until the client reconnects or
// its grace period is over, it is listed as before (canvas/PROTOCOL.md section 5). expect
// is called under the log's lock and may be nil. Restore removes orphaned records from
// the store.
func (s *Service) Restore(ctx context.Context, records channels.Records, expect func(clientID, token string, caps ahp.Capabilities)) error {
	byID, orphans, err := s.read(records)
	if err != nil {
		return err
	}
	if expect == nil {
		expect = func(string, string, ahp.Capabilities) {}
	}
	list := make([]*restored, 0, len(byID))
	for _, r := range byID {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *restored) int {
		if c := a.entry.modified.Compare(b.entry.modified); c != 0 {
			return c
		}
		return strings.Compare(a.uri, b.uri)
	})
	err = s.log.Update(func(tx *channels.Tx) error {
		for i, r := range list {
			r.entry.order = int64(i)
			kept, err := s.restore(tx, r, expect)
			if err != nil {
				return err
			}
			if !kept {
				orphans = append(orphans, r.records()...)
			}
		}
		return s.catalog.counted(tx)
	})
	if err == nil && len(orphans) > 0 {
		err = s.keeper.store.Commit(ctx, orphans...)
	}
	return err
}

// read returns the sessions of records by id, and the changes that remove orphans.
func (s *Service) read(records channels.Records) (byID map[string]*restored, orphans []channels.Change, err error) {
	byID = map[string]*restored{}
	for _, rec := range records.Under(sessionKey) {
		var r sessionRecord
		if err := rec.Read(sessionKey, &r); err != nil {
			return nil, nil, err
		}
		byID[r.ID] = &restored{
			uri: rec.Key, entry: entry{id: r.ID, created: r.Created, modified: r.Created, creator: r.Creator, eager: eager{client: r.Eager}},
			state: s.newState(r.Title, r.WorkingDirectory),
		}
	}
	for _, rec := range records.Under(stateKey) {
		r := byID[rec.Key]
		if r == nil {
			orphans = append(orphans, channels.Change{Key: stateKey + rec.Key, Delete: true})
			continue
		}
		var kept stateRecord
		if err := rec.Read(stateKey, &kept); err != nil {
			return nil, nil, err
		}
		r.state, r.entry.modified = kept.State, kept.Modified
		if kept.Used {
			r.entry.eager = eager{}
		}
		r.state.Title = ahp.Line(r.state.Title, MaxTitle) // earlier versions had no limit
	}
	for _, rec := range records.Under(clientKey) {
		id, _, _ := strings.Cut(rec.Key, "/")
		r := byID[id]
		if r == nil {
			orphans = append(orphans, channels.Change{Key: clientKey + rec.Key, Delete: true})
			continue
		}
		var c clientRecord
		if err := rec.Read(clientKey, &c); err != nil {
			return nil, nil, err
		}
		r.clients = append(r.clients, c)
	}
	return byID, orphans, nil
}

// records returns the changes that remove a session's records.
func (r *restored) records() []channels.Change {
	changes := []channels.Change{{Key: sessionKey + r.uri, Delete: true}, {Key: stateKey + r.entry.id, Delete: true}}
	for _, c := range r.clients {
		changes = append(changes, channels.Change{Key: clientKey + r.entry.id + "/" + c.Client.ClientID, Delete: true})
	}
	return changes
}

// restore creates one session and then adds its clients, so that After handles their
// declarations. It reports whether the session is kept: one that was not used is not.
func (s *Service) restore(tx *channels.Tx, r *restored, expect func(clientID, token string, caps ahp.Capabilities)) (kept bool, err error) {
	st := r.state
	if s.prepare != nil {
		st = s.prepare(tx, r.uri, st)
	}
	if r.entry.eager.client != "" && len(st.OpenCanvases) == 0 {
		return false, nil
	}
	r.entry.eager = eager{}
	for _, c := range r.clients {
		expect(c.Client.ClientID, c.Token, c.Capabilities)
	}
	if err := tx.Create(r.uri, "", st); err != nil {
		return false, err
	}
	s.catalog.sessions[r.uri] = &r.entry
	for _, c := range r.clients {
		if err := tx.Append(r.uri, ActiveClientSet{ActiveClient: c.Client}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// newState returns the state of a new session.
func (s *Service) newState(title string, dir *string) State {
	return State{
		Provider: s.agent.Provider, Title: title, Status: StatusIdle, WorkingDirectory: dir, Lifecycle: LifecycleReady,
		ActiveClients: []SessionActiveClient{}, Chats: []ChatSummary{},
	}
}
