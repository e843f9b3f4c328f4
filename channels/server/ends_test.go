package server_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// A client has two connections and the newer one ends: a reconnect resumes that
// one. What only the older one follows has no base there, and a replay would leave
// it without one.
func TestReconnectResumesTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := toys(t, "ahp-toy:/a", "ahp-toy:/b")
		_, dial := serve(t, server.Options{Log: log})
		open := func(uris string) *ws.Conn {
			c := dial()
			tell(t, c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.6.0"],"clientId":"c","initialSubscriptions":[%s]}}`, uris)
			hear(t, c, `"id":0`)
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
		hear(t, newer, `"serverSeq":2`)
		end(newer)
		for _, tc := range []struct{ uris, want string }{
			{`"ahp-toy:/b"`, `"type":"replay"`},
			{`"ahp-toy:/a","ahp-toy:/b"`, `"type":"snapshot"`},
		} {
			c := dial()
			tell(t, c, `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{"channel":"ahp-root://","clientId":"c","lastSeenServerSeq":2,"subscriptions":[%s]}}`, tc.uris)
			hear(t, c, tc.want)
			end(c)
		}
	})
}

// held is a Connectivity that is not done with a client's end until it may be.
type held struct{ may chan struct{} }

func (h held) ClientLost(string) { <-h.may }
func (h held) ClientBack(string) {}

// Close waits for the connections that are ending by themselves, too: what hears of
// it may not be there any more afterwards.
func TestCloseWaitsForWhatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := held{make(chan struct{})}
		s, dial := serve(t, server.Options{Connectivity: h})
		c := dial()
		tell(t, c, initializing)
		hear(t, c, `"id":2`)
		c.Close(ws.CodeNormal, "")
		c.Wait()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- s.Close(context.Background()) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed, and the end of a connection is still being told")
		default:
		}
		close(h.may)
		synctest.Wait()
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("not closed")
		}
	})
}
