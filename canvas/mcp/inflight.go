package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// inFlight counts calls that are accepted and not answered yet. The MCP library cannot
// do this: its Close waits for handlers, but drops their answers.
type inFlight struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when closed is set and n is 0
}

func newInFlight() *inFlight { return &inFlight{idle: make(chan struct{})} }

// begin counts a call; it returns false if the server is closing.
func (g *inFlight) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.n++
	return true
}

// end records that n calls were answered.
func (g *inFlight) end(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n -= n
	if g.closed && n > 0 && g.n == 0 {
		close(g.idle)
	}
}

// drain lets no further call begin. The channel is closed when all have ended.
func (g *inFlight) drain() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && g.n == 0 {
		close(g.idle)
	}
	g.closed = true
	return g.idle
}

// countingTransport is a transport whose calls are counted. Over HTTP, requests are
// counted instead ([Handler]).
type countingTransport struct {
	sdk.Transport
	calls *inFlight
}

func (t countingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countingConn{Connection: c, calls: t.calls, open: map[jsonrpc.ID]bool{}}, nil
}

// countingConn counts a call from its request until its answer is written or the
// connection is closed.
type countingConn struct {
	sdk.Connection
	calls *inFlight

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // nil once closed
}

func (c *countingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
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

func (c *countingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
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

func (c *countingConn) Close() error {
	c.mu.Lock()
	c.calls.end(len(c.open))
	c.open = nil
	c.mu.Unlock()
	return c.Connection.Close()
}
