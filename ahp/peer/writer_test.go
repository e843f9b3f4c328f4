package peer

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// dialTCP dials with gorilla. The socket's buffer is small.
func dialTCP(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			_ = nc.(*net.TCPConn).SetReadBuffer(16 << 10)
		}
		return nc, err
	}}
	g, _, err := d.Dial(url, http.Header{"Authorization": {"Bearer t"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// Over a socket, frames are written by flushers, the runner and callers. All are
// written in the order in which they were queued, even if the socket is full
// meanwhile.
func TestOrderOverASocket(t *testing.T) {
	const n = 3000
	pad := strings.Repeat("x", 500)
	answered := 0 // used by the runner only
	url, hosts := tcpHost(t, HandlerFunc(func(_ context.Context, req *Request) {
		_ = req.Peer().Notify("before", answered)
		req.Reply(answered)
		answered++
	}), Options{QueueBytes: 64 << 20})
	g := dialTCP(t, url)
	host := <-hosts
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range n {
			_ = host.Notify("pushed", struct {
				N   int    `json:"n"`
				Pad string `json:"pad"`
			}{i, pad})
		}
	})
	wg.Go(func() {
		for i := range n {
			if err := g.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"m"}`, i)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	pushed, before, replied := 0, 0, 0
	for range 3 * n {
		_, msg, err := g.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		want, have := "", string(msg)
		switch {
		case strings.Contains(have, `"pushed"`):
			want = fmt.Sprintf(`{"jsonrpc":"2.0","method":"pushed","params":{"n":%d,`, pushed)
			pushed++
		case strings.Contains(have, `"before"`):
			want = fmt.Sprintf(`{"jsonrpc":"2.0","method":"before","params":%d}`, before)
			before++
		default:
			want = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, replied, replied)
			if replied++; replied > before {
				t.Fatal("an answer is before what was pushed before it")
			}
		}
		if !strings.HasPrefix(have, want) {
			t.Fatalf("have %.80s, want %s", have, want)
		}
	}
	wg.Wait()
	host.Close(ws.CodeNormal, "")
	_, _, _ = g.ReadMessage() // the close frame
	host.Wait()
}

// A peer that reads nothing is closed when its queue is full, and delays no other.
func TestSlowConsumerOfASocket(t *testing.T) {
	url, hosts := tcpHost(t, echo, Options{QueueBytes: 1 << 20})
	_ = dialTCP(t, url)
	slow := <-hosts
	g := dialTCP(t, url)
	healthy := <-hosts
	f := text(`"` + strings.Repeat("x", 10_000) + `"`)
	for i := 0; slow.Err() == nil; i++ {
		if i == 10_000 {
			t.Fatal("it was never cut")
		}
		slow.Push(f)
		healthy.Push(f)
		if _, _, err := g.ReadMessage(); err != nil {
			t.Fatal(err)
		}
	}
	if ws.CodeOf(slow.Err()) != ws.CodeSlow {
		t.Error(slow.Err())
	}
	slow.Wait()
	if healthy.Err() != nil {
		t.Error(healthy.Err())
	}
	healthy.Close(ws.CodeNormal, "")
	_, _, _ = g.ReadMessage()
	healthy.Wait()
}

// Close writes a handler's answer before the writer has started.
func TestCloseFlushesOverASocket(t *testing.T) {
	url, hosts := tcpHost(t, HandlerFunc(func(_ context.Context, req *Request) {
		req.Reply("last")
		req.Peer().Close(ws.CodeNormal, "done")
	}), Options{})
	g := dialTCP(t, url)
	host := <-hosts
	if err := g.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`)); err != nil {
		t.Fatal(err)
	}
	if _, msg, err := g.ReadMessage(); err != nil || string(msg) != `{"jsonrpc":"2.0","id":1,"result":"last"}` {
		t.Errorf("%s, %v", msg, err)
	}
	if _, _, err := g.ReadMessage(); !websocket.IsCloseError(err, int(ws.CodeNormal)) {
		t.Error(err)
	}
	host.Wait()
}
