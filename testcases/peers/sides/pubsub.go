package sides

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/centrifugal/centrifuge"
	"github.com/gorilla/websocket"
	nats "github.com/nats-io/nats-server/v2/server"
	"github.com/sourcegraph/jsonrpc2"
	stock "github.com/sourcegraph/jsonrpc2/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// envelope returns what our host sends for one action. The other sides send the
// same.
func envelope() ahp.ActionEnvelope {
	return ahp.ActionEnvelope{
		Channel:   "ahp-session:/default",
		Action:    ahp.Value(`{"type":"session/titleChanged","title":"` + Title + `"}`),
		ServerSeq: 1_000_000,
	}
}

// notification returns the envelope as a whole frame.
func notification() []byte {
	return append(append([]byte(`{"jsonrpc":"2.0","method":"action","params":`), ahp.MustMarshal(envelope())...), '}')
}

// centrifugeSide is a centrifuge node over WebSocket with the JSON protocol and
// its defaults. The server subscribes the connections.
func centrifugeSide() (*proc.Side, error) {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		return nil, err
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{
			Credentials:   &centrifuge.Credentials{UserID: "u"},
			Subscriptions: map[string]centrifuge.SubscribeOptions{"news": {}},
			// The receivers only count, so they do not answer pings.
			PingPongConfig: &centrifuge.PingPongConfig{PingInterval: -1},
		}, nil
	})
	if err := node.Run(); err != nil {
		return nil, err
	}
	addr, srv, err := listen(centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{CheckOrigin: func(*http.Request) bool { return true }}))
	if err != nil {
		return nil, err
	}
	data := []byte(ahp.MustMarshal(envelope()))
	return &proc.Side{
		Hello: proc.Response{Addr: "ws://" + addr},
		Do: map[string]func(proc.Request) (proc.Response, error){
			"publish": publisher(func(int) error { _, err := node.Publish("news", data); return err }),
			"connections": func(proc.Request) (proc.Response, error) {
				return proc.Response{N: int64(node.Hub().NumSubscribers("news"))}, nil
			},
		},
		Close: func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = errors.Join(srv.Close(), node.Shutdown(ctx))
		},
	}, nil
}

// natsSide is a nats-server core over TCP, without WebSocket. The publisher is
// connected in-process.
func natsSide() (*proc.Side, error) {
	s, err := nats.NewServer(&nats.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, PingInterval: time.Hour})
	if err != nil {
		return nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(5 * time.Second) {
		return nil, errors.New("nats-server is not ready")
	}
	conn, err := s.InProcessConn()
	if err != nil {
		return nil, err
	}
	p := &natsPublisher{conn: conn, in: bufio.NewReader(conn)}
	if err := p.begin(); err != nil {
		return nil, err
	}
	body := notification()
	p.message = fmt.Appendf(nil, "PUB news %d\r\n%s\r\n", len(body), body)
	return &proc.Side{
		Hello: proc.Response{Addr: s.Addr().String()},
		Do: map[string]func(proc.Request) (proc.Response, error){
			"publish": p.publish,
			"connections": func(proc.Request) (proc.Response, error) {
				return proc.Response{N: int64(s.NumSubscriptions())}, nil
			},
		},
		Close: func() { _ = conn.Close(); s.Shutdown() },
	}, nil
}

type natsPublisher struct {
	conn    net.Conn
	in      *bufio.Reader
	message []byte
}

func (p *natsPublisher) begin() error {
	if _, err := p.in.ReadString('\n'); err != nil { // INFO
		return err
	}
	_, err := p.conn.Write([]byte("CONNECT {\"verbose\":false,\"pedantic\":false}\r\n"))
	return errors.Join(err, p.flush())
}

// flush waits until the server has processed everything.
func (p *natsPublisher) flush() error {
	if _, err := p.conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.HasPrefix(line, "PONG") {
			return nil
		}
	}
}

func (p *natsPublisher) publish(req proc.Request) (proc.Response, error) {
	var all []byte
	for range req.N {
		all = append(all, p.message...)
	}
	_, err := p.conn.Write(all)
	return proc.Response{}, errors.Join(err, p.flush())
}

// notifySide is jsonrpc2's Notify on each connection, over its own WebSocket
// stream.
func notifySide() (*proc.Side, error) {
	var mu sync.Mutex
	var conns []*jsonrpc2.Conn
	addr, srv, err := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, jsonrpc2.NewConn(context.Background(), stock.NewObjectStream(c), nil))
	}))
	if err != nil {
		return nil, err
	}
	e := envelope()
	return &proc.Side{
		Hello: proc.Response{Addr: "ws://" + addr},
		Do: map[string]func(proc.Request) (proc.Response, error){
			"publish": publisher(func(int) error {
				for _, c := range conns {
					if err := c.Notify(context.Background(), "action", e); err != nil {
						return err
					}
				}
				return nil
			}),
			"connections": func(proc.Request) (proc.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				return proc.Response{N: int64(len(conns))}, nil
			},
		},
		Close: func() { _ = srv.Close() },
	}, nil
}
