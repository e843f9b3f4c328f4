package server_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// TestSessionRate: eight connections that dispatch in one session as fast as they can get
// its rate together, and none of them more than its part. A ninth one that sends little waits
// for none of them.
func TestSessionRate(t *testing.T) {
	const rate, seconds, senders = 400, 10, 8
	synctest.Test(t, func(t *testing.T) {
		_, dial := serve(t, server.Options{Log: toys(t, "ahp-toy:/a"), Rates: server.Rates{Session: rate}})
		join := func(id string) *ws.Conn {
			c := dial()
			sendText(t, c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.6.0"],"clientId":%q,"initialSubscriptions":["ahp-toy:/a"]}}`, id)
			expect(t, c, `"id":0`)
			return c
		}
		say := func(c *ws.Conn, n int) error {
			return c.WriteBatch([][]byte{fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-toy:/a","clientSeq":%d,"action":{"type":"ahp-toy/said","text":"x"}}}`, n)})
		}
		ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
		defer cancel()
		var wg sync.WaitGroup
		var handled atomic.Int64
		for n := range senders {
			c := join(fmt.Sprint("loud-", n))
			own := fmt.Appendf(nil, `"loud-%d"`, n)
			wg.Go(func() { // until the connection is closed
				for m, err := c.ReadMessage(); err == nil; m, err = c.ReadMessage() {
					if ctx.Err() == nil && bytes.Contains(m, own) {
						handled.Add(1)
					}
				}
			})
			wg.Go(func() {
				for k := 1; ctx.Err() == nil && say(c, k) == nil; k++ {
				}
			})
			context.AfterFunc(ctx, func() { c.Close(ws.CodeNormal, "") })
		}
		quiet := join("quiet")
		time.Sleep(time.Second) // the others have used up what they had at once
		for n := 1; n <= 50; n++ {
			began := time.Now()
			if err := say(quiet, n); err != nil {
				t.Fatal(err)
			}
			for m := []byte(nil); !bytes.Contains(m, []byte(`"quiet"`)); {
				var err error
				if m, err = quiet.ReadMessage(); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(began); took > 20*time.Millisecond {
				t.Errorf("message %d of the quiet connection took %s", n, took)
			}
			time.Sleep(100 * time.Millisecond)
		}
		quiet.Close(ws.CodeNormal, "")
		wg.Wait()
		const each = 1 + (senders+1)/16.0   // units, with the deliveries
		most := rate * seconds / each * 1.5 // also what each has at once
		if n := float64(handled.Load()); n > most || n < most/2 {
			t.Errorf("%.0f messages were handled in %d s, want at most %.0f and at least half", n, seconds, most)
		}
	})
}
