package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// conn is a connection that sends what it wants. It has no limits and checks nothing.
type conn struct {
	socket *ws.Conn
	id     string
	next   atomic.Int64
	seq    atomic.Int64
	wg     sync.WaitGroup // of drain and trickle in the background
}

// message is what an attack looks at in a message of the host.
type message struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	Params struct {
		Channel         string
		RejectionReason string
		Origin          *struct {
			ClientID  string
			ClientSeq int64
		}
	}
}

// dial connects. With slow, the kernel buffers little for the connection.
func (t *target) dial(ctx context.Context, id string, slow bool) (*conn, error) {
	o := ws.DialOptions{Token: t.token, Conn: ws.Options{ReadLimit: 1 << 30}}
	if slow {
		o.NetDial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			if tcp, ok := nc.(*net.TCPConn); ok {
				_ = tcp.SetReadBuffer(4 << 10)
			}
			return nc, err
		}
	}
	socket, err := ws.Dial(ctx, t.url, o)
	if err != nil {
		return nil, err
	}
	return &conn{socket: socket, id: id}, nil
}

// join connects and initializes.
func (t *target) join(ctx context.Context, id string, slow bool, subscribe ...string) (*conn, error) {
	c, err := t.dial(ctx, id, slow)
	if err != nil {
		return nil, err
	}
	if subscribe == nil {
		subscribe = []string{}
	}
	_, err = c.call("initialize", map[string]any{
		"channel": "ahp-root://", "protocolVersions": []string{"0.6.0"}, "clientId": id,
		"initialSubscriptions": subscribe, "capabilities": map[string]any{"canvas": map[string]any{}},
	})
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close ends the connection.
func (c *conn) close() {
	c.socket.Close(ws.CodeNormal, "")
	c.socket.Wait()
	c.wg.Wait()
}

func (c *conn) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.socket.WriteBatch([][]byte{b})
}

// request sends a request and does not wait for its answer.
func (c *conn) request(method string, params any) (id int64, err error) {
	id = c.next.Add(1)
	return id, c.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

// call sends a request and reads until its answer.
func (c *conn) call(method string, params any) (json.RawMessage, error) {
	id, err := c.request(method, params)
	if err != nil {
		return nil, err
	}
	for {
		m, err := c.read()
		switch {
		case err != nil:
			return nil, err
		case string(m.ID) != fmt.Sprint(id):
		case m.Error != nil:
			return nil, fmt.Errorf("%s: %d %s", method, m.Error.Code, m.Error.Message)
		default:
			return m.Result, nil
		}
	}
}

// dispatch sends an action and does not wait for its echo.
func (c *conn) dispatch(channel string, action any) (seq int64, err error) {
	seq = c.seq.Add(1)
	return seq, c.write(map[string]any{"jsonrpc": "2.0", "method": "dispatchAction", "params": map[string]any{
		"channel": channel, "clientSeq": seq, "action": action,
	}})
}

var errRefused = errors.New("refused")

// publish sends an action and reads until its echo. It returns errRefused if the host
// did not apply the action.
func (c *conn) publish(channel string, action any) error {
	seq, err := c.dispatch(channel, action)
	if err != nil {
		return err
	}
	for {
		m, err := c.read()
		if err != nil {
			return err
		}
		if o := m.Params.Origin; o == nil || o.ClientID != c.id || o.ClientSeq != seq {
			continue
		}
		if m.Params.RejectionReason != "" {
			return fmt.Errorf("%w: %s", errRefused, m.Params.RejectionReason)
		}
		return nil
	}
}

func (c *conn) read() (m message, err error) {
	b, err := c.socket.ReadMessage()
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}

// drain reads and ignores until the connection ends.
func (c *conn) drain() {
	for {
		if _, err := c.socket.ReadMessage(); err != nil {
			return
		}
	}
}

// repeat runs n clients at a time until ctx is canceled. A client whose function
// returns begins again: an attacker reconnects.
func repeat(ctx context.Context, n int, client func(ctx context.Context, n int) error) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := client(ctx, i); err != nil {
					pause(ctx)
				}
			}
		})
	}
	wg.Wait()
}

// closeWith closes a connection when ctx ends, so that it does not wait for the host.
func (c *conn) closeWith(ctx context.Context) (stop func()) {
	cancel := context.AfterFunc(ctx, func() { c.socket.Close(ws.CodeNormal, "") })
	return func() {
		cancel()
		c.close()
	}
}
