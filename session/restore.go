package session

import (
	"context"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// restored is a session as a store had it.
type restored struct {
	uri     string
	entry   entry
	state   State
	clients []clientRecord
}

// Restore makes the sessions of an earlier life again, before anybody can see
// them. expect is told of the clients that took part in them, and what they could
// do: until they are back or their grace is over, they are listed as before
// (canvas.md section 5). It is called under the log's lock; nil tells nobody.
// Records that belong to no session are removed.
func (s *Service) Restore(ctx context.Context, records channels.Records, expect func(clientID string, caps ahp.Capabilities)) error {
	byID, sweep, err := s.read(records)
	if err != nil {
		return err
	}
	if expect == nil {
		expect = func(string, ahp.Capabilities) {}
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
			for _, c := range r.clients {
				expect(c.Client.ClientID, c.Capabilities)
			}
			if err := s.restore(tx, r); err != nil {
				return err
			}
		}
		return s.counted(tx)
	})
	if err == nil && len(sweep) > 0 {
		err = s.store.Commit(ctx, sweep...)
	}
	return err
}

// read puts records together, and returns changes that remove the rest.
func (s *Service) read(records channels.Records) (byID map[string]*restored, sweep []channels.Change, err error) {
	byID = map[string]*restored{}
	for _, rec := range records.Under(sessionKey) {
		var r sessionRecord
		if err := rec.Read(sessionKey, &r); err != nil {
			return nil, nil, err
		}
		byID[r.ID] = &restored{
			uri: rec.Key, entry: entry{id: r.ID, created: r.Created, modified: r.Created},
			state: s.newState(r.Title, r.WorkingDirectory),
		}
	}
	for _, rec := range records.Under(stateKey) {
		r := byID[rec.Key]
		if r == nil {
			sweep = append(sweep, channels.Change{Key: stateKey + rec.Key, Delete: true})
			continue
		}
		var kept stateRecord
		if err := rec.Read(stateKey, &kept); err != nil {
			return nil, nil, err
		}
		r.state, r.entry.modified = kept.State, kept.Modified
	}
	for _, rec := range records.Under(clientKey) {
		id, _, _ := strings.Cut(rec.Key, "/")
		r := byID[id]
		if r == nil {
			sweep = append(sweep, channels.Change{Key: clientKey + rec.Key, Delete: true})
			continue
		}
		var c clientRecord
		if err := rec.Read(clientKey, &c); err != nil {
			return nil, nil, err
		}
		r.clients = append(r.clients, c)
	}
	return byID, sweep, nil
}

// restore makes one session. Its clients join after it is there, for what they
// declare is folded by whoever hears of a change.
func (s *Service) restore(tx *channels.Tx, r *restored) error {
	st := r.state
	if s.prepare != nil {
		st = s.prepare(tx, r.uri, st)
	}
	if err := tx.Create(r.uri, "", st); err != nil {
		return err
	}
	s.sessions[r.uri] = &r.entry
	for _, c := range r.clients {
		if err := tx.Append(r.uri, ActiveClientSet{ActiveClient: c.Client}); err != nil {
			return err
		}
	}
	return nil
}

// newState is what a session begins with.
func (s *Service) newState(title string, dir *string) State {
	return State{
		Provider: s.agent.Provider, Title: title, Status: StatusIdle, WorkingDirectory: dir, Lifecycle: LifecycleReady,
		ActiveClients: []SessionActiveClient{}, Chats: []ChatSummary{},
	}
}
