package session

import (
	"context"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// An editor creates a session when its chat is opened, before the person has done
// anything, and often leaves it behind. Such a session is eager until it has a title, a
// canvas or a turn. It does not outlive a restart, and is disposed of some time after the
// client that created it has gone.

// EagerFor is how long an eager session stays without its client.
const EagerFor = 10 * time.Minute

// eager says that a session has not been used yet.
type eager struct {
	client string    // that created it; "" if it has been used
	left   time.Time // when the client was first found to be gone; zero while it is connected
}

// Used keeps a session for good: a person has sent a message in it.
func (s *Service) Used(uri string) {
	s.log.View(func(*channels.ReadTx) { s.use(uri) })
}

// use makes an eager session an ordinary one. The log is locked.
func (s *Service) use(uri string) {
	if e := s.catalog.sessions[uri]; e != nil && e.eager.client != "" {
		e.eager = eager{}
		s.keeper.records.Mark(stateKey + uri)
	}
}

// useFor calls use if an action made something of a session.
func (s *Service) useFor(uri string, now State, a ahp.Action) {
	switch a.(type) {
	case TitleChanged:
		s.use(uri)
	case OpenCanvasesChanged:
		if len(now.OpenCanvases) > 0 {
			s.use(uri)
		}
	}
}

// Tidy disposes of eager sessions whose client has been gone for EagerFor. It is to be
// called every minute or so; connected says whether a client has a connection.
func (s *Service) Tidy(ctx context.Context, connected func(clientID string) bool) {
	clients := map[string]bool{}
	s.log.View(func(*channels.ReadTx) {
		for _, e := range s.catalog.sessions {
			if e.eager.client != "" {
				clients[e.eager.client] = false
			}
		}
	})
	for id := range clients {
		clients[id] = connected(id)
	}
	for _, uri := range s.left(clients) {
		if err := s.disposeOf(ctx, uri, func(e *entry) error { return e.stillEager() }); err != nil {
			s.logger.Warn("unused session not disposed of", "channel", uri, "err", err)
		}
	}
}

// left returns the eager sessions whose client has been gone for long enough.
func (s *Service) left(connected map[string]bool) (uris []string) {
	now := s.catalog.now()
	s.log.View(func(*channels.ReadTx) {
		for uri, e := range s.catalog.sessions {
			switch {
			case e.eager.client == "", e.ending:
			case connected[e.eager.client]:
				e.eager.left = time.Time{}
			case e.eager.left.IsZero():
				e.eager.left = now
			case now.Sub(e.eager.left) >= EagerFor:
				uris = append(uris, uri)
			}
		}
	})
	return uris
}

// stillEager returns an error if a session has been used in the meantime.
func (e *entry) stillEager() error {
	if e.eager.client == "" {
		return ahp.Errorf(ahp.CodeInternal, "the session is in use")
	}
	return nil
}
