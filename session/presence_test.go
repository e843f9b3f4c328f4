package session_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestSubscribedAgain: between a connection's unsubscribe and the call of ClientLeft,
// another connection of the client might subscribe (ahp/PROTOCOL.md section 3d).
func TestSubscribedAgain(t *testing.T) {
	const uri = "ahp-session:/a"
	for name, leave := range map[string]func(*session.Service){
		"left": func(s *session.Service) { s.ClientLeft("c1", uri) },
		"gone": func(s *session.Service) { s.ClientGone("c1", func(string) bool { return false }) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, session.Options{})
			if err := b.svc.Ensure(uri, "A"); err != nil {
				t.Fatal(err)
			}
			err := b.log.Update(func(tx *channels.Tx) error {
				return tx.Append(uri, session.ActiveClientSet{ActiveClient: session.SessionActiveClient{ClientID: "c1"}})
			})
			if err != nil {
				t.Fatal(err)
			}
			s, _ := b.connect(2, "c1", uri)
			leave(b.svc)
			if st, _ := b.log.State(uri); len(st.(session.State).ActiveClients) != 1 {
				t.Error("removed while a connection is subscribed")
			}
			b.log.Unsubscribe(s, uri)
			leave(b.svc)
			if st, _ := b.log.State(uri); len(st.(session.State).ActiveClients) != 0 {
				t.Error("not removed after the last connection unsubscribed")
			}
		})
	}
}
