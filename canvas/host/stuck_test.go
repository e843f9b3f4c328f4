package host_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// A client that stops reading is disconnected as slow. After it reconnects it has missed
// nothing, and a hundred other clients never wait for it.
func TestSlowClientRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newModelRun(t)
		var healthy []*client.Client
		for n := range 100 {
			c, err := client.Dial(t.Context(), "ws://"+address+"/ahp", client.Options{
				ClientID: fmt.Sprint("healthy-", n), Token: viewToken, NetDial: r.net.Dial, Subscriptions: []string{host.DefaultSession},
			})
			if err != nil {
				t.Fatal(err)
			}
			healthy = append(healthy, c)
		}
		r.wire.(*ahptest.Conn).Freeze()
		var title string
		for n := range 15 {
			title = fmt.Sprint(n, pad(60<<10))
			err := r.host.Log().Update(func(tx *channels.Tx) error {
				return tx.Append(host.DefaultSession, session.TitleChanged{Title: title})
			})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // no time passes: no healthy client waits for the slow one
			for _, c := range healthy {
				if got, _ := c.State(host.DefaultSession); got.State.(session.State).Title != title {
					t.Fatalf("%s has not received title %d", c.ID(), n)
				}
			}
			time.Sleep(2 * time.Second)
		}
		synctest.Wait()
		r.wire.(*ahptest.Conn).Thaw()
		synctest.Wait()
		if code := ws.CodeOf(r.watcher.Err()); code == 0 {
			t.Errorf("the client that stopped reading was not closed with a code: %v", r.watcher.Err())
		} else {
			t.Logf("closed with %d", code)
		}
		if err := r.watcher.Reconnect(context.Background()); err != nil {
			t.Fatal(err)
		}
		want, _ := r.host.Log().State(host.DefaultSession)
		got, _ := r.watcher.State(host.DefaultSession)
		if !ahp.Equal(ahp.MustMarshal(want), ahp.MustMarshal(got.State)) {
			t.Error("the mirror of the reconnected client differs from the host's state")
		}
		for _, c := range healthy {
			c.Close()
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
}

// pad returns a text of n bytes that does not compress well.
func pad(n int) string {
	b := make([]byte, n/2)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
