package server_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// TestReconnectResumesTheNewest: a second connection replaces a client's first one, and
// ends. A reconnect resumes the second one. It has no snapshot of a channel to which only
// the first one was subscribed, so the answer for that channel is a snapshot.
func TestReconnectResumesTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := toys(t, "ahp-toy:/a", "ahp-toy:/b")
		_, dialWith := serveGrants(t, server.Options{Log: log})
		dial := func() *ws.Conn { return dialWith(ws.Grant{ClientID: "c"}) } // it needs no resume secret
		open := func(uris string) *ws.Conn {
			c := dial()
			sendText(t, c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.6.0"],"clientId":"c","initialSubscriptions":[%s]}}`, uris)
			expect(t, c, `"id":0`)
			return c
		}
		end := func(c *ws.Conn) {
			c.Close(ws.CodeNormal, "")
			c.Wait()
			synctest.Wait()
		}
		open(`"ahp-toy:/a","ahp-toy:/b"`)
		newer := open(`"ahp-toy:/b"`)
		_ = log.Update(func(tx *channels.Tx) error { return tx.Append("ahp-toy:/b", said{Text: "x"}) })
		expect(t, newer, `"serverSeq":2`)
		end(newer)
		for _, tc := range []struct{ uris, want string }{
			{`"ahp-toy:/b"`, `"type":"replay"`},
			{`"ahp-toy:/a","ahp-toy:/b"`, `"type":"snapshot"`},
		} {
			c := dial()
			sendText(t, c, `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"channel":"ahp-root://","clientId":"c","lastSeenServerSeq":2,"subscriptions":[%s]}}`, tc.uris)
			expect(t, c, tc.want)
			end(c)
		}
	})
}

// blocking is a Connectivity whose ClientLost returns when release is closed.
type blocking struct{ release chan struct{} }

func (b blocking) ClientLost(string) { <-b.release }
func (b blocking) ClientBack(string) {}

// TestCloseWaitsForEndingConnections: Close also waits for connections that are
// ending already, because Connectivity must not be called after Close.
func TestCloseWaitsForEndingConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := blocking{make(chan struct{})}
		s, dial := serve(t, server.Options{Connectivity: h})
		c := dial()
		sendText(t, c, initializing)
		expect(t, c, `"id":2`)
		c.Close(ws.CodeNormal, "")
		c.Wait()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- s.Close(context.Background()) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close returned during a call of Connectivity")
		default:
		}
		close(h.release)
		synctest.Wait()
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("Close did not return")
		}
	})
}
