package relay

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// An edge that has just started keeps a client waiting for a host that has not
// registered yet, but not for a host that has registered and left.
func TestAStartingEdgeWaitsForHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		began := time.Now()
		early, absent := dialHost(t, n, "laptop", userToken, ws.Options{}), dialHost(t, n, "absent", userToken, ws.Options{})
		time.Sleep(4 * time.Second)
		if s := e.Stats(); s.Waiting != 2 {
			t.Errorf("%d wait", s.Waiting)
		}
		u := startUplink(t, n, UplinkOptions{})
		u.await(t, Registered)
		wantEcho(t, early, "here you are")
		wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "and here")
		if d := time.Since(began); d != 4*time.Second {
			t.Errorf("the host was there after 4 s, its client after %s", d)
		}
		if err := u.stop(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeHostOffline, "host offline")
		if d := time.Since(began); d != 4*time.Second {
			t.Errorf("a host that left was waited for, %s", d)
		}
		wantClose(t, absent, CodeHostOffline, "host offline")
		wantClose(t, dialHost(t, n, "absent", userToken, ws.Options{}), CodeHostOffline, "host offline")
		if d := time.Since(began); d != 10*time.Second {
			t.Errorf("a host that did not come was waited for until %s", d)
		}
	})
}

// A client that waits for a host learns why the wait ended.
func TestAWaitingClientIsNotified(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(e *edgeServer, withdraw func())
		code ws.CloseCode
		says string
	}{
		"the edge ends":          {func(e *edgeServer, _ func()) { _ = e.Close(context.Background()) }, ws.CodeGoingAway, goingAway.Reason},
		"the token is withdrawn": {func(_ *edgeServer, withdraw func()) { withdraw() }, CodeWithdrawn, withdrawn.Reason},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := inMemory()
				valid, withdraw := context.WithCancel(context.Background())
				defer withdraw()
				e := startEdge(t, n, EdgeOptions{Authorizer: granting{Subject: "ann", Valid: valid}})
				client := dialHost(t, n, "laptop", userToken, ws.Options{})
				synctest.Wait()
				began := time.Now()
				go c.end(e, withdraw)
				wantClose(t, client, c.code, c.says)
				if d := time.Since(began); d != 0 {
					t.Errorf("after %s", d)
				}
			})
		})
	}
}

// granting accepts every token.
type granting Grant

func (g granting) Authorize(context.Context, Audience, string, string) (Grant, error) {
	return Grant(g), nil
}

// hasty is a directory whose host has dialed back before Signal returns.
type hasty struct {
	Directory
	dialed func(Offer)
}

func (d hasty) Signal(_ context.Context, _ string, o Offer) (int64, error) {
	d.dialed(o)
	return 1, nil
}

// A host that dials back for a client just as the client is rejected gets a
// close, so its lane does not wait for a reader.
func TestAHostDialsBackForARejectedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		valid, withdraw := context.WithCancel(context.Background())
		lanes := make(chan *ws.Conn, 1)
		directory := hasty{NewDirectory(), func(o Offer) {
			lane, err := tryDial(t, n, "lane/"+o.Lane, ws.DialOptions{Token: o.Secret})
			if err == nil {
				_, err = lane.ReadMessage() // the open message
			}
			if err != nil {
				t.Error(err)
			}
			lanes <- lane
			withdraw()
			synctest.Wait()
		}}
		startEdge(t, n, EdgeOptions{Directory: directory, Authorizer: granting{Subject: "ann", Valid: valid}})
		client := dialHost(t, n, "laptop", userToken, ws.Options{})
		began := time.Now()
		wantClose(t, client, CodeWithdrawn, withdrawn.Reason)
		wantClose(t, <-lanes, CodePeerLost, "the client disconnected")
		if d := time.Since(began); d != 0 {
			t.Errorf("after %s", d)
		}
	})
}

// After a relay was down, hosts and clients reconnect soon: their waits do not
// add up. Both use the default waits.
func TestReconnecting(t *testing.T) {
	for _, c := range []struct{ away, worst time.Duration }{
		{100 * time.Millisecond, 500 * time.Millisecond},
		{time.Second, 1800 * time.Millisecond},
		{5 * time.Second, 7 * time.Second},
		{time.Minute, 7500 * time.Millisecond},
		{time.Hour, 7500 * time.Millisecond},
	} {
		var took []time.Duration
		for range 40 {
			synctest.Test(t, func(t *testing.T) { took = append(took, reconnectTime(t, c.away)) })
		}
		slices.Sort(took)
		t.Logf("away for %s: back %s after the start at the median, %s at worst of %d", c.away, took[len(took)/2], took[len(took)-1], len(took))
		if took[len(took)-1] > c.worst {
			t.Errorf("away for %s: back after %s", c.away, took[len(took)-1])
		}
	}
}

// reconnectTime returns how long after the relay's start a client of its host gets
// an answer.
func reconnectTime(t *testing.T, away time.Duration) time.Duration {
	n := inMemory()
	e := startEdge(t, n, EdgeOptions{})
	u := startUplink(t, n, UplinkOptions{})
	u.await(t, Registered)
	c := dialHost(t, n, "laptop", userToken, ws.Options{})
	wantEcho(t, c, "before")
	c.Close(ws.CodeNormal, "")
	c.Wait() // otherwise the edge waits for its close frame
	time.Sleep(3 * time.Second)
	e.stop()
	var wg sync.WaitGroup
	var back time.Time
	wg.Go(func() {
		for waits := NewBackoff(); ; {
			time.Sleep(waits.NextBackOff())
			c, err := ws.Dial(t.Context(), edgeURL+"ahp/laptop", ws.DialOptions{Token: userToken, NetDial: n.dial})
			if err != nil {
				continue
			}
			_, err = say(c, "after")
			back = time.Now()
			c.Close(ws.CodeNormal, "")
			c.Wait()
			if ws.CodeOf(err) == CodeHostOffline {
				t.Error("the client was refused because its host is offline")
			}
			if err == nil || errors.Is(err, context.Canceled) {
				return
			}
		}
	})
	time.Sleep(away)
	startEdge(t, n, EdgeOptions{})
	at := time.Now()
	wg.Wait()
	_ = u.stop()
	return back.Sub(at).Round(time.Millisecond)
}
