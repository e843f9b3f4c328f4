package server_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

// serve serves a host until the test ends; dial connects to it, without a token.
func serve(t *testing.T, opts server.Options) (s *server.Server, dial func() *ws.Conn) {
	t.Helper()
	s, dialWith := serveGrants(t, opts)
	return s, func() *ws.Conn { t.Helper(); return dialWith(ws.Grant{}) }
}

// serveGrants is serve with what the token of each connection grants.
func serveGrants(t *testing.T, opts server.Options) (s *server.Server, dial func(ws.Grant) *ws.Conn) {
	t.Helper()
	return serveOver(t, opts, nil)
}

// serveOver is serveGrants that calls dialed, if it is not nil, with the client's end of
// each connection.
func serveOver(t *testing.T, opts server.Options, dialed func(*ahptest.Conn)) (s *server.Server, dial func(ws.Grant) *ws.Conn) {
	t.Helper()
	var n ahptest.Net
	netDial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := n.Dial(ctx, network, addr)
		if err == nil && dialed != nil {
			dialed(c.(*ahptest.Conn))
		}
		return c, err
	}
	l, err := n.Listen("host.test:80")
	if err != nil {
		t.Fatal(err)
	}
	if opts.Log == nil {
		opts.Log = channels.New(channels.Options{})
	}
	s = server.New(opts)
	ahptest.Serve(t, l, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := ws.Upgrade(w, r, ws.Options{}); err == nil {
			q := r.URL.Query()
			s.Serve(c, ws.Grant{Role: q.Get("role"), Token: q.Get("token"), ClientID: q.Get("client")})
		}
	})})
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s, func(g ws.Grant) *ws.Conn {
		t.Helper()
		q := url.Values{"role": {g.Role}, "token": {g.Token}, "client": {g.ClientID}}
		c, err := ws.Dial(t.Context(), "ws://host.test:80/ahp?"+q.Encode(), ws.DialOptions{NetDial: netDial})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Wait)
		t.Cleanup(func() { c.Close(ws.CodeNormal, "") })
		return c
	}
}

// connect serves a host and connects to it.
func connect(t *testing.T, opts server.Options) *ws.Conn {
	t.Helper()
	_, dial := serve(t, opts)
	return dial()
}

// sendEverySecond sends a message every second, until the connection ends or a minute
// has passed. It returns how long the connection lasted and why it ended.
func sendEverySecond(t *testing.T, c *ws.Conn, message func(second int) string) (time.Duration, error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := c.ReadMessage(); err != nil {
				ended <- err
				return
			}
		}
	}()
	began := time.Now()
	for second := range 60 {
		if text := message(second); text != "" {
			_ = c.WriteBatch([][]byte{[]byte(text)})
		}
		select {
		case err := <-ended:
			return time.Since(began), err
		case <-time.After(time.Second):
		}
	}
	c.Close(ws.CodeNormal, "")
	<-ended
	return time.Since(began), nil
}

const (
	pinging      = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`
	initializing = `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.6.0"],"clientId":"c"}}`
	unreadable   = `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"channel":"ahp-root://"}}`
)

// TestHandshakeTimeout: a connection without a handshake is closed, even if it sends
// pings. One with a handshake stays open.
func TestHandshakeTimeout(t *testing.T) {
	for name, tc := range map[string]struct {
		within  time.Duration
		message func(second int) string
		want    time.Duration // 0 if it stays open
	}{
		"silent":            {0, func(int) string { return "" }, 30 * time.Second},
		"pings":             {0, func(int) string { return pinging }, 30 * time.Second},
		"invalid handshake": {5 * time.Second, func(int) string { return unreadable }, 5 * time.Second},
		"opened": {0, func(second int) string {
			if second == 0 {
				return initializing
			}
			return ""
		}, 0},
		"opened in the last second": {0, func(second int) string {
			if second == 29 {
				return initializing
			}
			return pinging
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lasted, err := sendEverySecond(t, connect(t, server.Options{Handshake: tc.within}), tc.message)
				if tc.want == 0 {
					if err != nil {
						t.Errorf("ended after %v: %v", lasted, err)
					}
					return
				}
				if lasted != tc.want || ws.CodeOf(err) != ws.CodePolicy || !strings.Contains(err.Error(), "neither initialize nor reconnect") {
					t.Errorf("after %v: %v", lasted, err)
				}
			})
		})
	}
}

// TestFrameLimits: a frame has at most 256 KiB before the handshake and 4 MiB after it
// (canvas/PROTOCOL.md section 8).
func TestFrameLimits(t *testing.T) {
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://","x":"`, `"}}`
	for name, tc := range map[string]struct {
		first string
		most  int
	}{
		"before": {pinging, 256 << 10},
		"after":  {initializing, 4 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, server.Options{})
			frames := [][]byte{[]byte(tc.first)}
			for _, size := range []int{tc.most, tc.most + 1} {
				frames = append(frames, []byte(head+strings.Repeat("x", size-len(head)-len(tail))+tail))
			}
			for n, frame := range frames {
				go func() { _ = c.WriteBatch([][]byte{frame}) }()
				if _, err := c.ReadMessage(); n < 2 && err != nil || n == 2 && ws.CodeOf(err) != ws.CodeTooBig {
					t.Errorf("after %d bytes: %v", len(frame), err)
				}
			}
		})
	}
}

// TestClientIDLimit: a client id has at most 256 bytes.
func TestClientIDLimit(t *testing.T) {
	for id, want := range map[string]string{
		strings.Repeat("é", 128):       `"result"`,
		strings.Repeat("é", 128) + "x": `{"code":-32602,"message":"initialize: /clientId: longer than 256 bytes"}`,
	} {
		c := connect(t, server.Options{})
		sendText(t, c, "%s", strings.Replace(initializing, `"c"`, `"`+id+`"`, 1))
		expect(t, c, want)
	}
}

// TestMessageRate: a connection may send 40,000 messages at once, and then 20,000 a
// second; one more closes it. The test waits for the answers to each thousand, so
// that the limit of queued messages does not apply.
func TestMessageRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, server.Options{})
		ping := func(n int) {
			for ; n > 0; n -= 1000 {
				if err := c.WriteBatch(slices.Repeat([][]byte{[]byte(pinging)}, 1000)); err != nil {
					t.Fatal(err)
				}
				for range 1000 {
					expect(t, c, `"id":1`)
				}
			}
		}
		ping(40_000)
		<-time.After(time.Second)
		ping(20_000)
		sendText(t, c, pinging)
		if _, err := c.ReadMessage(); ws.CodeOf(err) != ws.CodePolicy || !strings.Contains(err.Error(), "messages a second") {
			t.Errorf("one more: %v", err)
		}
	})
}
