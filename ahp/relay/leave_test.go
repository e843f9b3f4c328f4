package relay

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// A client that leaves while it waits for its host, with a close frame or without,
// frees its place at once, also if it has sent something.
func TestAClientThatLeavesWhileItWaits(t *testing.T) {
	for name, c := range map[string]struct {
		says  string
		leave func(c *ws.Conn, socket net.Conn)
	}{
		"a close frame":                {"", func(c *ws.Conn, _ net.Conn) { c.Close(ws.CodeNormal, "") }},
		"a close frame after messages": {strings.Repeat("x", 2000), func(c *ws.Conn, _ net.Conn) { c.Close(ws.CodeNormal, "") }},
		"a lost socket":                {"hello", func(_ *ws.Conn, socket net.Conn) { _ = socket.Close() }},
	} {
		for _, registered := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := inMemory()
					e := startEdge(t, n, EdgeOptions{LanesPerClient: 1})
					if registered {
						register(t, n, 1) // and never dials back
					}
					var socket net.Conn
					conn, err := tryDial(t, n, "ahp/laptop", ws.DialOptions{Token: userToken, NetDial: func(ctx context.Context, network, addr string) (nc net.Conn, err error) {
						nc, err = n.dial(ctx, network, addr)
						socket = nc
						return nc, err
					}})
					if err != nil {
						t.Fatal(err)
					}
					if c.says != "" {
						_ = conn.WriteBatch([][]byte{[]byte(c.says)})
					}
					synctest.Wait()
					if s := e.Stats(); s.Waiting != 1 {
						t.Fatalf("%d wait", s.Waiting)
					}
					began := time.Now()
					c.leave(conn, socket)
					synctest.Wait()
					if s := e.Stats(); s.Waiting != 0 || s.Refused[RefusedLeft] != 1 {
						t.Errorf("after %s, %d wait, and %d left", time.Since(began), s.Waiting, s.Refused[RefusedLeft])
					}
					next := dialHost(t, n, "laptop", userToken, ws.Options{})
					synctest.Wait()
					if s := e.Stats(); s.Waiting != 1 || next.Err() != nil {
						t.Errorf("the next client does not wait: %v", next.Err())
					}
				})
			})
		}
	}
}

// What a client sent before its host dialed back arrives, in order, however much it is.
func TestMessagesBeforeTheHostDialsBack(t *testing.T) {
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { earlyMessages(t, inMemory(), synctest.Wait) })
	})
	t.Run("kernel", func(t *testing.T) { earlyMessages(t, kernel(), func() {}) })
}

// earlyMessages sends messages, waits, and only then starts the host.
func earlyMessages(t *testing.T, n *network, wait func()) {
	startEdge(t, n, EdgeOptions{})
	var sent []string
	var batch [][]byte
	for i, size := range []int{0, 5, 1000, 4095, 4096, 4097, 70_000, 1} {
		sent = append(sent, strings.Repeat(string(rune('a'+i)), size))
		batch = append(batch, []byte(sent[i]))
	}
	c := dialHost(t, n, "laptop", userToken, ws.Options{})
	written := make(chan error, 1)
	go func() { written <- c.WriteBatch(batch) }()
	wait()
	u := startUplink(t, n, UplinkOptions{})
	for i, want := range sent {
		if got, err := c.ReadMessage(); err != nil || string(got) != want {
			t.Fatalf("message %d: %d bytes of %d, %v", i, len(got), len(want), err)
		}
	}
	if err := within(t, written); err != nil {
		t.Error(err)
	}
	wantEcho(t, c, "and later")
	if err := u.stop(); err != nil {
		t.Error(err)
	}
}
