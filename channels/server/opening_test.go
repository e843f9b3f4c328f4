package server_test

import (
	"context"
	"net/http"
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

// serve serves a host for the length of the test; dial connects to it.
func serve(t *testing.T, opts server.Options) (s *server.Server, dial func() *ws.Conn) {
	t.Helper()
	var n ahptest.Net
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
			s.Serve(c, "")
		}
	})})
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s, func() *ws.Conn {
		t.Helper()
		c, err := ws.Dial(t.Context(), "ws://host.test:80/ahp", ws.DialOptions{NetDial: n.Dial})
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

// talk sends a message every second until the connection ends or a minute is over,
// and returns how long it lasted and why it ended.
func talk(t *testing.T, c *ws.Conn, message func(second int) string) (time.Duration, error) {
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

// A connection that nobody opens ends, also one that goes on asking whether the host
// is there; one that was opened stays.
func TestAConnectionIsOpenedInTime(t *testing.T) {
	for name, tc := range map[string]struct {
		within  time.Duration
		message func(second int) string
		want    time.Duration // 0 is: it stays
	}{
		"silent":           {0, func(int) string { return "" }, 30 * time.Second},
		"pings":            {0, func(int) string { return pinging }, 30 * time.Second},
		"fails to open it": {5 * time.Second, func(int) string { return unreadable }, 5 * time.Second},
		"opened": {0, func(second int) string {
			if second == 0 {
				return initializing
			}
			return ""
		}, 0},
		"opened late": {0, func(second int) string {
			if second == 29 {
				return initializing
			}
			return pinging
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lasted, err := talk(t, connect(t, server.Options{Handshake: tc.within}), tc.message)
				if tc.want == 0 {
					if err != nil {
						t.Errorf("it ended after %v: %v", lasted, err)
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

// The first frames have 256 KiB, those behind the handshake 4 MiB (canvas.md section 8).
func TestFramesAreBounded(t *testing.T) {
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://","x":"`, `"}}`
	for name, tc := range map[string]struct {
		first string
		most  int
	}{
		"before": {pinging, 256 << 10},
		"behind": {initializing, 4 << 20},
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

// A client id has 256 bytes.
func TestClientIDsAreBounded(t *testing.T) {
	for id, want := range map[string]string{
		strings.Repeat("é", 128):       `"result"`,
		strings.Repeat("é", 128) + "x": `{"code":-32602,"message":"initialize: /clientId: longer than 256 bytes"}`,
	} {
		c := connect(t, server.Options{})
		tell(t, c, "%s", strings.Replace(initializing, `"c"`, `"`+id+`"`, 1))
		hear(t, c, want)
	}
}

// A connection may say 40,000 messages at once, and 20,000 a second behind them;
// one more ends it. A thousand are handled before the next come, so that what
// counts is not how many wait.
func TestTheRateOfMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, server.Options{})
		say := func(n int) {
			for ; n > 0; n -= 1000 {
				if err := c.WriteBatch(slices.Repeat([][]byte{[]byte(pinging)}, 1000)); err != nil {
					t.Fatal(err)
				}
				for range 1000 {
					hear(t, c, `"id":1`)
				}
			}
		}
		say(40_000)
		<-time.After(time.Second)
		say(20_000)
		tell(t, c, pinging)
		if _, err := c.ReadMessage(); ws.CodeOf(err) != ws.CodePolicy || !strings.Contains(err.Error(), "messages a second") {
			t.Errorf("one more: %v", err)
		}
	})
}
