package conform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// conn is one connection of a case, as testcases.Conn and testcases.Quieter.
type conn struct {
	env    *env
	name   string // in the transcript
	socket *ws.Conn
	raw    net.Conn

	mu    sync.Mutex
	queue [][]byte
	held  int // bytes in queue
	ended bool
	flood bool          // the end is the runner's: the queue was full
	more  chan struct{} // signalled when queue or ended changed
	pings map[string]chan struct{}
	next  int
}

// The bounds of what a host can make a case hold.
const (
	bufferedFrames = 1 << 16
	bufferedBytes  = 128 << 20 // above two messages of any length
)

var errFlood = fmt.Errorf("the host sent more than %d messages or %d MiB that nobody had asked for", bufferedFrames, bufferedBytes>>20)

func (e *env) dial(ctx context.Context, name, token string) (*conn, error) {
	c := &conn{env: e, name: name, more: make(chan struct{}, 1), pings: map[string]chan struct{}{}}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Patience)
	defer cancel()
	socket, err := ws.Dial(ctx, e.opts.URL, ws.DialOptions{
		Token: token,
		NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			raw, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			c.raw = raw
			return raw, err
		},
	})
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(64 << 20)
	c.socket = socket
	e.readers.Go(c.read)
	e.conns = append(e.conns, c)
	return c, nil
}

func (c *conn) read() {
	for {
		frame, err := c.socket.ReadMessage()
		c.mu.Lock()
		c.flood = err == nil && (len(c.queue) >= bufferedFrames || c.held+len(frame) > bufferedBytes)
		switch {
		case err != nil || c.flood:
			c.ended = true
			for _, answered := range c.pings {
				close(answered)
			}
			c.pings = nil
		case !c.isPong(frame):
			if frame, ours := c.env.names.in(frame); ours {
				c.env.trace(c, "<", frame)
				c.queue, c.held = append(c.queue, frame), c.held+len(frame)
			}
		}
		ended := c.ended
		c.mu.Unlock()
		select {
		case c.more <- struct{}{}:
		default:
		}
		if ended {
			return
		}
	}
}

// isPong takes the answers to the runner's own pings away.
func (c *conn) isPong(frame []byte) bool {
	if !strings.Contains(string(frame[:min(len(frame), 4096)]), pingID) {
		return false
	}
	var answer struct {
		ID     ahp.Value `json:"id"`
		Method ahp.Value `json:"method,omitzero"`
	}
	if ahp.Unmarshal(frame, &answer) != nil || answer.Method != nil {
		return false
	}
	answered, ok := c.pings[string(answer.ID)]
	if ok {
		close(answered)
		delete(c.pings, string(answer.ID))
	}
	return ok
}

// pingID begins the ids of the runner's own pings. The namespace follows, so that
// they are no others than those in a recording of a run.
const pingID = "conform-ping-"

// settle returns when the host has answered what was sent before, as far as a
// ping tells: it may be sent in any state of a connection (ahp-host.md 2b). A
// host that does not answer it is given the time of Options.Quiet.
func (c *conn) settle() {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.next++
	id := fmt.Sprintf(`"%s%s%d"`, pingID, c.env.names.prefix, c.next)
	answered := make(chan struct{})
	c.pings[id] = answered
	c.mu.Unlock()
	frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping","params":{"channel":"ahp-root://"}}`, id)
	if c.socket.WriteBatch([][]byte{[]byte(frame)}) != nil {
		return
	}
	wait := c.env.opts.Patience
	if c.env.deaf {
		wait = c.env.opts.Quiet
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
		c.env.deaf = true
	}
}

// Send implements testcases.Conn.
func (c *conn) Send(frame []byte) error { return c.SendTimes(frame, 1) }

// batch is how many frames leave in one write.
const batch = 1024

// SendTimes implements testcases.Repeater.
func (c *conn) SendTimes(frame []byte, times int) error {
	c.env.trace(c, ">", frame)
	frames := slices.Repeat([][]byte{c.env.names.out(frame)}, min(times, batch))
	for ; times > 0; times -= len(frames) {
		err := c.socket.WriteBatch(frames[:min(times, len(frames))])
		if ws.CodeOf(err) != 0 {
			return nil // the next expectation says what it wants of a closed connection
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Next implements testcases.Conn: it waits for a frame.
func (c *conn) Next() ([]byte, error) {
	timer := time.NewTimer(c.env.opts.Patience)
	defer timer.Stop()
	for {
		frame, err := c.take()
		if err != testcases.ErrSilent {
			return frame, err
		}
		select {
		case <-c.more:
		case <-timer.C:
			return c.take()
		}
	}
}

// Quiet implements testcases.Quieter.
func (c *conn) Quiet() ([]byte, error) {
	frame, err := c.take()
	if err == testcases.ErrSilent {
		c.env.Settle()
		frame, err = c.take()
	}
	return frame, err
}

// take returns a frame that is there.
func (c *conn) take() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.queue) > 0:
		frame := c.queue[0]
		c.queue, c.held = c.queue[1:], c.held-len(frame)
		return frame, nil
	case c.flood:
		return nil, errFlood
	case c.ended:
		return nil, ending(c.socket.Err())
	}
	return nil, testcases.ErrSilent
}

// ending is the end of a connection as the case sees it. One that this side gave up,
// because the host does not read or speaks no WebSocket, was not closed by the host.
func ending(err error) error {
	if e, ok := errors.AsType[*ws.CloseError](err); ok && (e.Remote || e.Code == ws.CodeLost) {
		return &testcases.Closed{Code: int(e.Code)}
	}
	return fmt.Errorf("the connection had to be given up: %w", err)
}

// Close implements testcases.Conn.
func (c *conn) Close(cut bool) error {
	if cut {
		_ = c.raw.Close()
	}
	c.socket.Close(ws.CodeNormal, "")
	c.socket.Wait()
	if cut {
		time.Sleep(c.env.opts.Quiet / 2) // nobody says when the host has noticed
	}
	return nil
}
