package session

import "github.com/ahp-canvas/ahp-canvas/channels"

// ClientLeft removes a client from the active clients of a session after its last
// connection has unsubscribed (ahp/PROTOCOL.md section 3d). For other channels it does
// nothing.
func (s *Service) ClientLeft(clientID, uri string) {
	s.leave(clientID, []string{uri}, func(string) bool { return false })
}

// ClientGone removes a client from every session for which keep returns false, because
// its grace period is over, or because it reconnected without listing them.
func (s *Service) ClientGone(clientID string, keep func(uri string) bool) {
	s.leave(clientID, nil, keep)
}

// leave removes a client from the given sessions, or from all for nil, in one
// transaction. A connection of the client might have subscribed in the meantime; then
// the client stays.
func (s *Service) leave(clientID string, uris []string, keep func(string) bool) {
	err := s.log.Update(func(tx *channels.Tx) error {
		for _, uri := range s.catalog.activeIn(&tx.ReadTx, clientID, uris) {
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
