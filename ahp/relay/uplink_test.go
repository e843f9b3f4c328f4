package relay

import (
	"context"
	"errors"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

func TestNewUplinkRefuses(t *testing.T) {
	good := UplinkOptions{URL: "wss://relay.example/", Token: "t", Host: "laptop", Serve: echo}
	for want, change := range map[string]func(*UplinkOptions){
		"want a URL":          func(o *UplinkOptions) { o.URL = "https://relay.example/" },
		"of the form":         func(o *UplinkOptions) { o.URL = "wss://relay.example/?tkn=secret-token" },
		"wss://relay.example": func(o *UplinkOptions) { o.URL = "wss://secret-token@relay.example/" },
		"host token":          func(o *UplinkOptions) { o.Token = "" },
		"host name":           func(o *UplinkOptions) { o.Host = "../ahp" },
		"Serve is required":   func(o *UplinkOptions) { o.Serve = nil },
	} {
		o := good
		change(&o)
		_, err := NewUplink(o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-token") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A refusal of the first registration is final: the token or the name is wrong,
// and a retry would hide that.
func TestARefusalIsFinalAtFirst(t *testing.T) {
	for name, c := range map[string]struct {
		opts   UplinkOptions
		status int
	}{
		"token":   {UplinkOptions{Token: "wrong-token"}, 401},
		"name":    {UplinkOptions{Host: "desktop"}, 403},
		"address": {UplinkOptions{URL: "ws://other.test:80/"}, 421},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := inMemory()
				startEdge(t, n, EdgeOptions{})
				dial := n.dial
				there := &network{dial: func(ctx context.Context, network, _ string) (net.Conn, error) { return dial(ctx, network, edgeHost) }}
				u := startUplink(t, there, c.opts)
				err := within(t, u.ended)
				u.once.Do(func() {})
				if re, ok := errors.AsType[*RefusedError](err); !ok || re.Status != c.status || strings.Contains(err.Error(), "wrong-token") {
					t.Errorf("got %v, want %d", err, c.status)
				}
			})
		})
	}
}

// While the relay is down, the uplink retries with increasing waits. A
// registration that lasted long enough resets them.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		u := startUplink(t, n, UplinkOptions{})
		var last time.Duration
		for i := range 12 {
			p := u.await(t, Lost)
			base := min(time.Duration(200*math.Pow(1.5, float64(i)))*time.Millisecond, 5*time.Second)
			if p.Retry < base/2-time.Millisecond || p.Retry > base+base/2+2*time.Millisecond {
				t.Errorf("attempt %d: %s, want %s half more or less", i, p.Retry, base)
			}
			last = p.Retry
		}
		if last < 2500*time.Millisecond {
			t.Errorf("at last %s", last)
		}
		e := startEdge(t, n, EdgeOptions{})
		u.await(t, Registered)
		time.Sleep(1900 * time.Millisecond)
		e.stop()
		if p := u.await(t, Lost); p.Retry < 2500*time.Millisecond || ws.CodeOf(p.Err) != ws.CodeGoingAway {
			t.Errorf("a short registration reset the back-off: %+v", p)
		}
		e = startEdge(t, n, EdgeOptions{})
		u.await(t, Registered)
		time.Sleep(2 * time.Second)
		e.stop()
		if p := u.await(t, Lost); p.Retry > 500*time.Millisecond {
			t.Errorf("a long registration did not: %+v", p)
		}
	})
}

func TestAFullHostDeclines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		startEdge(t, n, EdgeOptions{})
		u := startUplink(t, n, UplinkOptions{MaxLanes: 2, Dials: 1})
		u.await(t, Registered)
		a, b := dialHost(t, n, "laptop", userToken, ws.Options{}), dialHost(t, n, "laptop", userToken, ws.Options{})
		wantEcho(t, a, "a")
		wantEcho(t, b, "b")
		began := time.Now()
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeHostOffline, "the host did not answer")
		if time.Since(began) != 0 {
			t.Error("it took time to decline")
		}
		b.Close(ws.CodeNormal, "")
		b.Wait()
		synctest.Wait()
		wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "a place is free")
	})
}

// A host dials only the edges in its options: an offer must not lead it to
// other machines.
func TestAnOfferNamesAnEdge(t *testing.T) {
	edges, err := ParseEdges("wss://edge-2.example:8443")
	if err != nil {
		t.Fatal(err)
	}
	u, err := NewUplink(UplinkOptions{URL: "wss://relay.example/x/", Token: "t", Host: "h", Serve: echo, Edges: edges})
	if err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string]string{
		"":                            "wss://relay.example/x/",
		"wss://edge-2.example:8443/":  "wss://edge-2.example:8443/",
		"wss://relay.example/":        "wss://relay.example/",
		"wss://edge-2.example/":       "",
		"ws://edge-2.example:8443/":   "",
		"wss://10.0.0.1/":             "",
		"wss://a@relay.example/":      "",
		"http://relay.example/":       "",
		"://":                         "",
		"wss://relay.example.evil/":   "",
		"wss://relay.example:443.x/":  "",
		"wss://edge-2.example:84430/": "",
	} {
		at, err := u.edge(named, Edges{})
		if (err == nil) != (want != "") || err == nil && at.String() != want {
			t.Errorf("%q leads to %v, %v", named, at, err)
		}
	}
}

// A host that drains notifies the relay, is offline for new clients at once,
// and lets the existing lanes end.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		startEdge(t, n, EdgeOptions{})
		u := startUplink(t, n, UplinkOptions{Serve: func(ctx context.Context, c *ws.Conn, info LaneInfo) {
			m, err := c.ReadMessage()
			if err != nil {
				return
			}
			switch <-ctx.Done(); string(m) {
			case "answer":
				time.Sleep(3 * time.Second)
				_ = c.WriteBatch([][]byte{[]byte("the answer")})
				c.Close(ws.CodeGoingAway, "answered")
			case "hang": // and never returns
			}
		}})
		u.await(t, Registered)
		a, b := dialHost(t, n, "laptop", userToken, ws.Options{}), dialHost(t, n, "laptop", userToken, ws.Options{})
		_, _ = a.WriteBatch([][]byte{[]byte("answer")}), b.WriteBatch([][]byte{[]byte("hang")})
		synctest.Wait()
		began := time.Now()
		u.cancel()
		synctest.Wait()
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), CodeHostOffline, "host offline")
		if m, err := a.ReadMessage(); string(m) != "the answer" {
			t.Errorf("%q, %v", m, err)
		}
		wantClose(t, a, ws.CodeGoingAway, "answered")
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("after %s", d)
		}
		wantClose(t, b, ws.CodeGoingAway, "the host is shutting down")
		if d := time.Since(began); d != 10*time.Second {
			t.Errorf("after %s", d)
		}
		if err := u.stop(); err != nil {
			t.Error(err)
		}
	})
}

// An edge that shuts down closes every connection and waits for them.
func TestTheEdgeDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		u := startUplink(t, n, UplinkOptions{})
		u.await(t, Registered)
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wantEcho(t, c, "before")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		go func() { _ = e.Close(ctx) }()
		wantClose(t, c, ws.CodeGoingAway, goingAway.Reason)
		u.await(t, Lost)
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
		wantClose(t, dialHost(t, n, "laptop", userToken, ws.Options{}), ws.CodeGoingAway, goingAway.Reason)
		if s := e.Stats(); s.Lanes != 0 || s.Hosts != 0 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
}
