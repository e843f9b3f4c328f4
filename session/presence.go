package session

import (
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// ClientLeft removes a client from the active clients of a session, because none
// of its connections is subscribed any more (ahp-host.md section 3d). Other
// channels have no active clients.
func (s *Service) ClientLeft(clientID, uri string) {
	s.leave(clientID, []string{uri}, func(string) bool { return false })
}

// ClientGone removes a client from every session for which keep is false: its
// grace is over, or it reconnected without them.
func (s *Service) ClientGone(clientID string, keep func(uri string) bool) {
	s.leave(clientID, nil, keep)
}

// leave is one transaction over the given sessions, or over all. The news of a
// client's end come late: where a connection of it is subscribed again, it stays.
func (s *Service) leave(clientID string, uris []string, keep func(string) bool) {
	err := s.log.Update(func(tx *channels.Tx) error {
		for _, uri := range s.activeIn(&tx.ReadTx, clientID, uris) {
			if keep(uri) || tx.ClientSubscribed(clientID, uri) {
				continue
			}
			if err := tx.Append(uri, ActiveClientRemoved{ClientID: clientID}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.logger.Error("active client not removed", "client", clientID, "err", err)
	}
}

// activeIn returns which of the given sessions, or of all for nil, have the client
// among their active ones, sorted. Few do, and everybody is asked for who reconnects.
func (s *Service) activeIn(tx *channels.ReadTx, clientID string, uris []string) (active []string) {
	among := slices.Values(uris)
	if uris == nil {
		among = maps.Keys(s.sessions)
	}
	for uri := range among {
		state, _ := tx.State(uri)
		st, _ := state.(State)
		if slices.ContainsFunc(st.ActiveClients, func(c SessionActiveClient) bool { return c.ClientID == clientID }) {
			active = append(active, uri)
		}
	}
	slices.Sort(active)
	return active
}
