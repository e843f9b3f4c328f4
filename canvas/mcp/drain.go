package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// gauge counts what was accepted and is not answered yet. The library cannot be
// asked: its Close waits for handlers, but drops what they answer from then on.
type gauge struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when closed is set and n is 0
}

func newGauge() *gauge { return &gauge{idle: make(chan struct{})} }

// begin counts one more; false when the door is closing.
func (g *gauge) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

// end uncounts n.
func (g *gauge) end(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n -= n
	if g.closed && n > 0 && g.n == 0 {
		close(g.idle)
	}
}

// drain lets nothing more begin; the channel closes when everything has ended.
func (g *gauge) drain() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && g.n == 0 {
		close(g.idle)
	}
	g.closed = true
	return g.idle
}

// counted is a transport whose calls are counted. Over HTTP it is the requests
// that are.
type counted struct {
	sdk.Transport
	calls *gauge
}

func (t counted) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countedConn{Connection: c, calls: t.calls, open: map[jsonrpc.ID]bool{}}, nil
}

// countedConn counts a call when it is read, and uncounts it when its answer is
// written or the connection has ended.
type countedConn struct {
	sdk.Connection
	calls *gauge

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // nil once closed
}

func (c *countedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil && req.IsCall() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open != nil && !c.open[req.ID] && c.calls.begin() {
			c.open[req.ID] = true
		}
	}
	return msg, err
}

func (c *countedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if resp, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[resp.ID] {
			delete(c.open, resp.ID)
			c.calls.end(1)
		}
	}
	return err
}

func (c *countedConn) Close() error {
	c.mu.Lock()
	c.calls.end(len(c.open))
	c.open = nil
	c.mu.Unlock()
	return c.Connection.Close()
}
