package peer

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

const (
	testHost = "host.test:80"
	testURL  = "ws://" + testHost + "/ahp"
)

// stack is a host's server on an in-memory network: net/http, the WebSocket and
// a peer for each connection.
type stack struct {
	net   ahptest.Net
	hosts chan *Peer
	wires []*ahptest.Conn
	http  *http.Server
	done  chan struct{}
}

func newStack(t testing.TB, h Handler, opts Options) *stack {
	t.Helper()
	s := &stack{hosts: make(chan *Peer, 1000), done: make(chan struct{})}
	guard := &ws.Guard{Hosts: []string{testHost}, Tokens: []ws.Token{{Secret: "t"}}}
	s.http = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := ws.Accept(w, r, ws.AcceptOptions{Guard: guard, Conn: ws.Options{ReadLimit: ws.MessageReadLimit}})
		if err != nil {
			t.Error(err)
			return
		}
		p := New(c, h, opts)
		t.Cleanup(func() {
			p.Close(ws.CodeGoingAway, "")
			p.Wait()
		})
		p.Start()
		s.hosts <- p
	})}
	l, err := s.net.Listen(testHost)
	if err != nil {
		t.Fatal(err)
	}
	go func() { defer close(s.done); _ = s.http.Serve(l) }()
	t.Cleanup(func() {
		for _, w := range s.wires {
			w.Thaw()
		}
		_ = s.http.Close()
		<-s.done
	})
	return s
}

func (s *stack) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := s.net.Dial(ctx, network, addr)
	if err == nil {
		s.wires = append(s.wires, nc.(*ahptest.Conn))
	}
	return nc, err
}

// client connects a peer.
func (s *stack) client(t testing.TB, h Handler, opts Options) (host, client *Peer) {
	t.Helper()
	c, err := ws.Dial(t.Context(), testURL, ws.DialOptions{Token: "t", NetDial: s.dial, Conn: ws.Options{PingAfter: time.Hour, DeadAfter: 2 * time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	client = New(c, h, opts)
	client.Start()
	t.Cleanup(func() {
		client.Close(ws.CodeNormal, "")
		client.Wait()
	})
	return <-s.hosts, client
}

// raw connects a plain WebSocket, to send and receive any message.
func (s *stack) raw(t testing.TB) (*Peer, *rawClient) {
	t.Helper()
	d := websocket.Dialer{NetDialContext: s.dial}
	g, _, err := d.Dial(testURL, http.Header{"Authorization": {"Bearer t"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return <-s.hosts, &rawClient{t: t, ws: g}
}

type rawClient struct {
	t  testing.TB
	ws *websocket.Conn
	mu sync.Mutex // of send
}

func (c *rawClient) send(text string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *rawClient) receive() string {
	c.t.Helper()
	_, msg, err := c.ws.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(msg)
}

func (c *rawClient) receiveClose() ws.CloseCode {
	c.t.Helper()
	for {
		_, _, err := c.ws.ReadMessage()
		if ce, ok := err.(*websocket.CloseError); ok {
			return ws.CloseCode(ce.Code)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// echo answers with the params.
var echo = HandlerFunc(func(_ context.Context, req *Request) { req.Reply(req.Params) })

func within[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}

func mustCall(t testing.TB, p *Peer, method string, params any) ahp.Value {
	t.Helper()
	v, err := p.Call(t.Context(), method, params)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
