package relay

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(childVariable); kind != "" {
		child(kind)
		return
	}
	ahptest.VerifyNoLeaks(m)
}

func TestALaneCarriesMessagesBothWays(t *testing.T) {
	for name, n := range map[string]*network{"in memory": inMemory(), "over sockets": kernel()} {
		t.Run(name, func(t *testing.T) {
			e := startEdge(t, n, EdgeOptions{})
			infos := make(chan LaneInfo, 1)
			u := startUplink(t, n, UplinkOptions{Serve: func(ctx context.Context, c *ws.Conn, info LaneInfo) {
				infos <- info
				echo(ctx, c, info)
			}})
			u.await(t, Registered)
			c := dialHost(t, n, "laptop", userToken, ws.Options{})
			for _, size := range []int{1, 125, 126, 4 << 10, 32 << 10, 64 << 10, 65<<10 + 1, 1 << 20} {
				wantEcho(t, c, randomText(size))
			}
			if info := within(t, infos); info.Subject != "ann" || info.ClientID != "ann-1" {
				t.Errorf("the host got %+v", info)
			}
			eventually(t, "all is counted", func() bool {
				s := e.Stats()
				return s.Lanes == 1 && s.Hosts == 1 && s.LanesOpened == 1 && s.BytesToHosts == s.BytesToClient && s.BytesToHosts > 1<<20
			})
			c.Close(ws.CodeNormal, "done")
			eventually(t, "the lane ends", func() bool { return e.Stats().Lanes == 0 })
		})
	}
}

func randomText(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw)
	return base64.StdEncoding.EncodeToString(raw)[:n]
}

// When one end of a lane closes, the other receives the same code and reason.
func TestACloseIsForwarded(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, client, host *ws.Conn){
		"of the client": func(t *testing.T, client, host *ws.Conn) {
			client.Close(3001, "bye")
			wantClose(t, host, 3001, "bye")
		},
		"of the host": func(t *testing.T, client, host *ws.Conn) {
			host.Close(4711, "so long")
			wantClose(t, client, 4711, "so long")
		},
		"without a code": func(t *testing.T, client, host *ws.Conn) {
			client.Close(ws.CodeLost, "") // CodeLost cannot be sent: this sends an empty close frame
			wantClose(t, host, ws.CodeNormal, "")
		},
		"after many messages": func(t *testing.T, client, host *ws.Conn) {
			go func() {
				for range 100 {
					_ = host.WriteBatch([][]byte{[]byte(randomText(9000))})
				}
				host.Close(4711, "so long")
			}()
			for i := range 100 {
				if m, err := client.ReadMessage(); err != nil || len(m) != 9000 {
					t.Fatalf("message %d: %d bytes, %v", i, len(m), err)
				}
			}
			wantClose(t, client, 4711, "so long")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := inMemory()
				startEdge(t, n, EdgeOptions{})
				sockets := make(chan *ws.Conn, 1)
				u := startUplink(t, n, UplinkOptions{Serve: func(_ context.Context, c *ws.Conn, _ LaneInfo) { sockets <- c }})
				u.await(t, Registered)
				client := dialHost(t, n, "laptop", userToken, ws.Options{})
				test(t, client, within(t, sockets))
			})
		})
	}
}

func TestOfflineAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{StartupGrace: -1})
		began := time.Now()
		wantClose(t, dialHost(t, n, "absent", userToken, ws.Options{}), CodeHostOffline, "host offline")
		u := startUplink(t, n, UplinkOptions{})
		u.await(t, Registered)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wantEcho(t, c, "hello")
		if err := u.stop(); err != nil {
			t.Error(err)
		}
		wantClose(t, c, ws.CodeGoingAway, "echo ends")
		synctest.Wait()
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeHostOffline, "host offline")
		if d := time.Since(began); d > 0 {
			t.Errorf("it took %s", d)
		}
		if r := e.Stats().Refused[RefusedOffline]; r != 2 {
			t.Errorf("%d counted as offline", r)
		}
	})
}

// A host that ignores an offer makes the client wait for the handshake timeout
// and no longer. A host that loses its control connection does not make it wait
// at all.
func TestAHostThatDoesNotDialBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		startEdge(t, n, EdgeOptions{})
		control := register(t, n, 1)
		began := time.Now()
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wantClose(t, c, CodeHostOffline, "the host did not answer")
		if d := time.Since(began); d != 10*time.Second {
			t.Errorf("it took %s", d)
		}
		began = time.Now()
		c = dialHost(t, n, "laptop", userToken, ws.Options{})
		offer := readOffer(t, control)
		offer = readOffer(t, control)
		_ = control.WriteBatch([][]byte{message{Type: typeDecline, Lane: offer.Lane}.encode()})
		wantClose(t, c, CodeHostOffline, "the host did not answer")
		c = dialHost(t, n, "laptop", userToken, ws.Options{})
		synctest.Wait()
		control.Close(ws.CodeNormal, "")
		wantClose(t, c, CodeHostOffline, "host offline")
		if d := time.Since(began); d != 0 {
			t.Errorf("declining and leaving took %s", d)
		}
	})
}

// register registers a host whose control connection the test handles itself.
func register(t testing.TB, n *network, generation int64) *ws.Conn {
	t.Helper()
	c, err := tryDial(t, n, "host/laptop", ws.DialOptions{Token: hostToken})
	if err != nil {
		t.Fatal(err)
	}
	m := message{Type: typeRegister, Generation: generation}
	if err := c.WriteBatch([][]byte{m.encode()}); err != nil {
		t.Fatal(err)
	}
	data, err := c.ReadMessage()
	if m, _ := decode(data); err == nil && m.Type != typeRegistered {
		t.Fatalf("got %s, want registered", data)
	}
	return c
}

func readOffer(t testing.TB, control *ws.Conn) message {
	t.Helper()
	data, err := control.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	m, err := decode(data)
	if err != nil || m.Type != typeLane {
		t.Fatalf("got %s, want an offer", data)
	}
	return m
}

func TestANewerRegistrationSupersedes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		startEdge(t, n, EdgeOptions{})
		first := startUplink(t, n, UplinkOptions{Generation: 1})
		first.await(t, Registered)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wantEcho(t, c, "to the first")
		second := startUplink(t, n, UplinkOptions{Generation: 2})
		second.await(t, Registered)
		if err := within(t, first.ended); err != ErrSuperseded {
			t.Errorf("the first ended with %v", err)
		}
		first.once.Do(func() {})
		wantClose(t, c, CodeSuperseded, superseded.Reason)
		wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "to the second")
		third := startUplink(t, n, UplinkOptions{Generation: 1})
		if err := within(t, third.ended); err != ErrSuperseded {
			t.Errorf("an older one was taken: %v", err)
		}
		third.once.Do(func() {})
		wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "still to the second")
	})
}

// A host that was killed cannot close its lanes. The edge closes them when the
// next run registers, not before.
func TestTheEdgeEndsTheLanesOfAnOlderRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		control := register(t, n, 1)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		offer := readOffer(t, control)
		if _, err := tryDial(t, n, "lane/"+offer.Lane, ws.DialOptions{Token: offer.Secret}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		register(t, n, 1)
		wantClose(t, control, CodeSuperseded, ErrSuperseded.Error())
		time.Sleep(5 * time.Second) // closing an end takes at most its grace period
		if s := e.Stats(); s.Lanes != 1 || s.Hosts != 1 {
			t.Fatalf("the same run registered again: %+v", s)
		}
		register(t, n, 2)
		wantClose(t, c, CodeSuperseded, superseded.Reason)
	})
}

// A host that drains is offline for new clients, although its control
// connection and its lanes still exist.
func TestADrainingHostIsOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		startEdge(t, n, EdgeOptions{})
		control := register(t, n, 1)
		_ = control.WriteBatch([][]byte{message{Type: typeDrain}.encode()})
		synctest.Wait()
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeHostOffline, "host offline")
		if err := control.Err(); err != nil {
			t.Error(err)
		}
	})
}

// A run that registers again after it lost its control connection keeps its
// lanes.
func TestTheSameGenerationKeepsItsLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		u := startUplink(t, n, UplinkOptions{Generation: 5})
		u.await(t, Registered)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wantEcho(t, c, "before")
		e.mu.Lock()
		control := e.hosts["laptop"].conn
		e.mu.Unlock()
		control.Close(ws.CodeInternal, "a test cuts it")
		if p := u.await(t, Lost); p.Retry <= 0 || p.Err == nil {
			t.Errorf("progress %+v", p)
		}
		wantEcho(t, c, "meanwhile")
		u.await(t, Registered)
		wantEcho(t, c, "after")
		wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "new")
	})
}

func TestManyLanesAtOnce(t *testing.T) {
	n := kernel()
	e := startEdge(t, n, EdgeOptions{ClientRate: 1000, ClientBurst: 1000, HostRate: 1000})
	u := startUplink(t, n, UplinkOptions{})
	u.await(t, Registered)
	var wg sync.WaitGroup
	for range 100 {
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wg.Go(func() {
			for range 20 {
				text := randomText(300)
				if got, err := say(c, text); err != nil || got != text {
					t.Errorf("%v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	eventually(t, "all is counted", func() bool {
		s := e.Stats()
		return s.Lanes == 100 && s.BytesToHosts == 100*20*300 && s.BytesToClient == s.BytesToHosts
	})
}
