package web_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// load is what a host sends for a measurement: messages of a size.
type load struct {
	size, count int
	goals       map[string]float64 // sealed against clear, by client
}

var sealLoads = map[string]load{
	"10 MiB":    {10 << 20, 1, map[string]float64{"Go": 0.7, "Chromium": 0.6}},
	"300 bytes": {300, 20_000, map[string]float64{"Go": 0.8, "Chromium": 0.8}},
}

// send writes the messages as a peer does: in batches of 64 KiB.
func (l load) send(c *ws.Conn) error {
	m := []byte(`{"jsonrpc":"2.0","method":"action","params":"` + strings.Repeat("x", l.size-48) + `"}`)
	var batch [][]byte
	for n := range l.count {
		if batch = append(batch, m); len(batch)*l.size < 64<<10 && n < l.count-1 {
			continue
		}
		if err := c.WriteBatch(batch); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return nil
}

// TestSealedThroughput measures messages through a relay, sealed against clear in turns.
func TestSealedThroughput(t *testing.T) {
	if !long {
		t.Skip("a measurement: AHP_LONG=1")
	}
	key := seal.NewKey()
	sealing := seal.NewHost(key, "laptop", true)
	origin := serveAtRelay(t, nil, func(ctx context.Context, c *ws.Conn, _ relay.LaneInfo) {
		defer context.AfterFunc(ctx, func() { c.Close(ws.CodeGoingAway, "") })()
		defer c.Close(ws.CodeNormal, "")
		if sealing.Accept(ctx, c, "ann") != nil {
			return
		}
		for {
			name, err := c.ReadMessage()
			if err != nil || sealLoads[string(name)].send(c) != nil {
				return
			}
		}
	})
	p := webtest.Start(t).Open(t, origin+"/")
	clients := map[string]func(t *testing.T, name string, clear bool) time.Duration{
		"Go": func(t *testing.T, name string, clear bool) time.Duration {
			return receiveInGo(t, strings.Replace(origin, "http", "ws", 1)+"/ahp/laptop", seal.Identity{Host: "laptop", Key: key.Public()}, name, clear)
		},
		"Chromium": func(t *testing.T, name string, clear bool) time.Duration {
			return receiveInPage(t, p, key.Public(), name, clear)
		},
	}
	for client, receive := range clients {
		for name, l := range sealLoads {
			var took [2][]time.Duration
			for range 15 {
				took[0] = append(took[0], receive(t, name, true))
				took[1] = append(took[1], receive(t, name, false))
			}
			clear, sealed := median(took[0]), median(took[1])
			ratio := clear.Seconds() / sealed.Seconds()
			mib := float64(l.size*l.count) / (1 << 20)
			t.Logf("%s, %s: clear %.0f MiB/s, sealed %.0f MiB/s, %.2f x (goal %.1f)", client, name, mib/clear.Seconds(), mib/sealed.Seconds(), ratio, l.goals[client])
			if ratio < l.goals[client]/2 {
				t.Errorf("%s, %s: sealed is %.2f x", client, name, ratio)
			}
		}
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func receiveInGo(t *testing.T, url string, id seal.Identity, name string, clear bool) time.Duration {
	t.Helper()
	c, err := ws.Dial(t.Context(), url, ws.DialOptions{Token: "relay-token"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Close(ws.CodeNormal, "")
	if !clear {
		if err := id.Dial(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if err := c.WriteBatch([][]byte{[]byte(name)}); err != nil {
		t.Fatal(err)
	}
	for range sealLoads[name].count {
		if _, err := c.ReadMessage(); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(began)
}

func receiveInPage(t *testing.T, p *webtest.Page, key seal.PublicKey, name string, clear bool) time.Duration {
	t.Helper()
	ms := webtest.Eval[float64](t, p, fmt.Sprintf(`(async (name, count, clear) => {
	const { SealedSocket } = await import("./seal.js");
	const { decodeKey } = await import("./noise.js");
	const { parse } = await import("./wire.js");
	const url = new URL("/ahp/laptop", location.href.replace("http", "ws")), protocols = ["ahp", "bearer.relay-token"];
	const s = clear ? new WebSocket(url, protocols) : new SealedSocket(url, protocols, decodeKey(%q), "laptop");
	await new Promise((ok) => { s.onopen = ok; });
	const began = performance.now();
	await new Promise((ok, failed) => {
		s.onclose = () => failed(new Error("closed"));
		s.onmessage = ({ data }) => { parse(data); if (--count === 0) ok(); };
		s.send(name);
	});
	const took = performance.now() - began;
	s.onclose = () => {};
	s.close();
	return took;
})(%q, %d, %v)`, key, name, sealLoads[name].count, clear))
	return time.Duration(ms * float64(time.Millisecond))
}
