package host_test

import (
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// frame has the members of a message that the tests read.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *ahp.Error      `json:"error"`
}

// wireConn is a connection of a client of the model. It reads raw frames, so it sees
// errors that a client library tolerates.
type wireConn struct {
	client *provider
	socket *ws.Conn
	raw    net.Conn

	subscribed bool // to the session, according to the model

	mu      sync.Mutex
	live    bool
	lastSeq int64
	nextID  int
	answers map[string]frame
	asked   map[string]bool // ids of requests from the host
	broken  error           // the first error of the host on this connection
}

func (c *wireConn) read() {
	for {
		msg, err := c.socket.ReadMessage()
		if err != nil {
			c.mu.Lock()
			c.live = false
			c.mu.Unlock()
			return
		}
		var f frame
		if err := json.Unmarshal(msg, &f); err != nil {
			c.fail(err)
			continue
		}
		c.take(f)
	}
}

func (c *wireConn) take(f frame) {
	switch {
	case f.Method == "action":
		var e struct {
			ServerSeq int64 `json:"serverSeq"`
		}
		_ = json.Unmarshal(f.Params, &e)
		c.seq(e.ServerSeq)
	case f.Method != "" && f.ID != nil:
		c.mu.Lock()
		twice := c.asked[string(f.ID)]
		c.asked[string(f.ID)] = true
		c.mu.Unlock()
		if twice {
			c.fail(fmt.Errorf("request %s was received twice", f.ID))
		}
		c.client.asked(c, f)
	case f.ID != nil:
		c.mu.Lock()
		c.answers[string(f.ID)] = f
		c.mu.Unlock()
	}
}

// seq checks that sequence numbers increase on a connection.
func (c *wireConn) seq(n int64) {
	c.mu.Lock()
	last := c.lastSeq
	c.lastSeq = max(last, n)
	c.mu.Unlock()
	if n <= last {
		c.fail(fmt.Errorf("serverSeq %d came after %d", n, last))
	}
}

func (c *wireConn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = err
	}
}

func (c *wireConn) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live
}

func (c *wireConn) send(v any) {
	_ = c.socket.WriteBatch([][]byte{ahp.MustMarshal(v)}) // the reader reports a cut connection
}

// call sends a request and returns the answer once the host is idle.
func (c *wireConn) call(method string, params any) frame {
	c.nextID++
	id := fmt.Sprint(c.nextID)
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.nextID, "method": method, "params": params})
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[id]
}

func (c *wireConn) dispatch(channel string, seq int, action any) {
	c.send(map[string]any{"jsonrpc": "2.0", "method": "dispatchAction",
		"params": map[string]any{"channel": channel, "clientSeq": seq, "action": action}})
}

func (c *wireConn) cut() {
	_ = c.raw.Close()
	c.socket.Close(ws.CodeNormal, "")
	c.socket.Wait()
}

// mode is how a provider answers.
type mode int

const (
	promptly mode = iota
	late
	refusing
	never
	modes
)

const lateness = 3 * time.Second // shorter than every timeout of the host
