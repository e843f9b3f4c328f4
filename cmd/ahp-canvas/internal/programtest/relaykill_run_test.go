package programtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// load keeps requests of every kind in flight until done is closed. A failed request is
// not repeated: the next one has another name.
func (a *relayed) load(t *testing.T, done <-chan struct{}) (wait func()) {
	tallied := a.channel(t, "tally")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	keep := func(count *tally, do func(id string) error) {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				delay := 2 * time.Millisecond // leaves processor time to the others
				if !count.send(do) {
					delay = 20 * time.Millisecond // the relay is down
				}
				after(delay)
			}
		})
	}
	for n, c := range a.clients {
		keep(a.invokes, func(id string) error {
			_, err := a.host.Canvases().Invoke(ctx, canvas.InvokeArgs{
				Session: host.DefaultSession, InstanceID: fmt.Sprint("base-", n), ActionName: "count", Input: ahp.MustMarshal(map[string]string{"id": id}),
			})
			return err
		})
		keep(a.opens, func(id string) error {
			err := a.open(ctx, n, id)
			_ = a.host.Canvases().Close(ctx, host.DefaultSession, id)
			return err
		})
		keep(a.messages, func(id string) error { return c.Message(ctx, tallied, id) })
		keep(a.reads, func(id string) error {
			_, err := c.ReadResource(ctx, tallied, "ahp-canvas-content:/tally/"+id)
			return err
		})
		keep(a.titles, func(id string) error { return c.Dispatch(ctx, host.DefaultSession, session.TitleChanged{Title: id}) })
		keep(a.sessions, func(id string) error {
			uri := "ahp-session:/" + id
			_, err := client.Call(ctx, c, session.CreateSession, session.CreateSessionParams{Channel: uri})
			_, _ = client.Call(ctx, c, session.DisposeSession, ahp.ChannelParams{Channel: uri})
			return err
		})
	}
	return func() { wg.Wait(); cancel() }
}

// TestRelayKilledUnderRequests kills and restarts a relay while requests are in flight.
// None is repeated, and clients and host reconnect automatically and soon.
func TestRelayKilledUnderRequests(t *testing.T) {
	a, n := newRelayed(t), runs(5, 50)
	done := make(chan struct{})
	wait := a.load(t, done)
	var away, hosts, clients []float64
	for range n {
		after(2*time.Second + rand.N(300*time.Millisecond)) // long enough for everything to reconnect
		gone := make([]<-chan struct{}, len(a.clients))
		for i, c := range a.clients {
			gone[i] = c.Disconnected()
		}
		a.relay.kill()
		down := rand.N(2 * time.Second)
		after(down)
		a.relay = a.m.start(a.relayArgs...)
		at := time.Now()
		away = append(away, float64(down.Milliseconds()))
		var wg sync.WaitGroup
		back := make([]float64, len(a.clients))
		for i, c := range a.clients {
			wg.Go(func() { <-gone[i]; a.awaitConnected(t, c); back[i] = since(at) })
		}
		a.registered()
		hosts = append(hosts, since(at))
		wg.Wait()
		clients = append(clients, back...)
	}
	close(done)
	wait()
	t.Logf("%d kills; the relay was away: %s", n, spread(away))
	t.Logf("after its start the host was back: %s", spread(hosts))
	t.Logf("the clients were back: %s", spread(clients))
	a.drain(t)
	a.compareStates(t)
	for _, c := range []*tally{a.invokes, a.opens, a.messages, a.reads, a.titles, a.sessions} {
		c.check(t)
	}
}

// since returns the milliseconds since a time.
func since(at time.Time) float64 { return float64(time.Since(at).Milliseconds()) }

// awaitConnected waits until a client is connected.
func (a *relayed) awaitConnected(t *testing.T, c *client.Client) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); c.Err() != nil; <-tick.C {
		if time.Now().After(end) {
			t.Errorf("%s is not back: %v", c.ID(), c.Err())
			return
		}
	}
}

// drain has every client dispatch once more. Its echo comes after everything that was sent
// before, and the others have received it once each has answered a ping.
func (a *relayed) drain(t *testing.T) {
	t.Helper()
	for _, c := range a.clients {
		if !a.titles.send(func(id string) error {
			return c.Dispatch(t.Context(), host.DefaultSession, session.TitleChanged{Title: id})
		}) {
			t.Errorf("%s cannot dispatch", c.ID())
		}
	}
	for _, c := range append([]*client.Client{a.witness}, a.clients...) {
		if _, err := client.Call(t.Context(), c, ahp.Ping, ahp.PingParams{Channel: ahp.RootURI}); err != nil {
			t.Errorf("%s: %v", c.ID(), err)
		}
	}
}

// compareStates compares every client's state with the host's: of the session and of each
// open canvas.
func (a *relayed) compareStates(t *testing.T) {
	t.Helper()
	open, err := a.host.Canvases().ListOpen(host.DefaultSession)
	if err != nil {
		t.Fatal(err)
	}
	all, uris, bytes := append([]*client.Client{a.witness}, a.clients...), []string{host.DefaultSession}, 0
	for _, o := range open {
		uris = append(uris, o.Channel)
	}
	for _, uri := range uris {
		for _, c := range all {
			if _, err := c.Subscribe(t.Context(), uri); err != nil {
				t.Errorf("%s: %s: %v", c.ID(), uri, err)
			}
		}
		want, _ := hosttest.Log(a.host).State(uri)
		bytes += len(ahp.MustMarshal(want))
		for _, c := range all {
			if got, ok := c.State(uri); !ok || !ahp.Equal(ahp.MustMarshal(want), ahp.MustMarshal(got.State)) {
				t.Errorf("%s: %s is not what the host has", c.ID(), uri)
			}
		}
	}
	t.Logf("%d clients have the host's state of %d channels, %d bytes", len(all), len(uris), bytes)
}
