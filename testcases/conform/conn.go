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

// conn is a connection of a case. It implements testcases.Conn,
// testcases.Quieter and testcases.Repeater.
type conn struct {
	env    *env
	name   string // in the transcript
	socket *ws.Conn
	raw    net.Conn

	mu       sync.Mutex
	queue    [][]byte
	held     int // bytes in queue
	ended    bool
	overflow bool          // the runner ended the connection because the queue was full
	more     chan struct{} // receives after queue or ended changed
	pings    map[string]chan struct{}
	next     int
}

// Limits on the frames of a host that a case has not read yet.
const (
	bufferedFrames = 1 << 16
	bufferedBytes  = 128 << 20 // more than two messages of the maximum length
)

var errOverflow = fmt.Errorf("the host sent more than %d messages or %d MiB that the case does not expect", bufferedFrames, bufferedBytes>>20)

func (e *env) dial(ctx context.Context, name, token string) (*conn, error) {
	c := &conn{env: e, name: name, more: make(chan struct{}, 1), pings: map[string]chan struct{}{}}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
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
		c.overflow = err == nil && (len(c.queue) >= bufferedFrames || c.held+len(frame) > bufferedBytes)
		switch {
		case err != nil || c.overflow:
			c.ended = true
			for _, answered := range c.pings {
				close(answered)
			}
			c.pings = nil
		case !c.isPong(frame):
			if frame, ours := c.env.ns.in(frame); ours {
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

// isPong reports whether a frame is the response to one of the runner's pings, and
// wakes the flush that waits for it.
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

// pingID begins the ids of the runner's pings. The namespace follows, so that they
// differ from those in a recording of another run.
const pingID = "conform-ping-"

// flush sends a ping and returns when the host has answered it, and so everything
// that was sent before. A ping may be sent in any state of a connection
// (ahp/PROTOCOL.md section 2b). Once the host has not answered a ping, flush waits
// only for Options.Quiet.
func (c *conn) flush() {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.next++
	id := fmt.Sprintf(`"%s%s%d"`, pingID, c.env.ns.prefix, c.next)
	answered := make(chan struct{})
	c.pings[id] = answered
	c.mu.Unlock()
	frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping","params":{"channel":"ahp-root://"}}`, id)
	if c.socket.WriteBatch([][]byte{[]byte(frame)}) != nil {
		return
	}
	wait := c.env.opts.Timeout
	if c.env.ignoresPings {
		wait = c.env.opts.Quiet
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
		c.env.ignoresPings = true
	}
}

// Send sends one frame.
func (c *conn) Send(frame []byte) error { return c.SendTimes(frame, 1) }

// batch is the largest number of frames in one write.
const batch = 1024

// SendTimes sends a frame several times.
func (c *conn) SendTimes(frame []byte, times int) error {
	c.env.trace(c, ">", frame)
	frames := slices.Repeat([][]byte{c.env.ns.out(frame)}, min(times, batch))
	for ; times > 0; times -= len(frames) {
		err := c.socket.WriteBatch(frames[:min(times, len(frames))])
		if ws.CodeOf(err) != 0 {
			return nil // the next expectation checks whether the close is right
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Next waits for a frame and returns it.
func (c *conn) Next() ([]byte, error) {
	timer := time.NewTimer(c.env.opts.Timeout)
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

// Quiet returns a frame that has arrived or is on its way, or ErrSilent.
func (c *conn) Quiet() ([]byte, error) {
	frame, err := c.take()
	if err == testcases.ErrSilent {
		c.env.Flush()
		frame, err = c.take()
	}
	return frame, err
}

// take returns the next received frame, or ErrSilent.
func (c *conn) take() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.queue) > 0:
		frame := c.queue[0]
		c.queue, c.held = c.queue[1:], c.held-len(frame)
		return frame, nil
	case c.overflow:
		return nil, errOverflow
	case c.ended:
		return nil, ending(c.socket.Err())
	}
	return nil, testcases.ErrSilent
}

// ending converts the end of a connection for the case. A connection that this side
// ended, because the host did not read or violated the WebSocket protocol, is an
// error instead of a testcases.Closed.
func ending(err error) error {
	if e, ok := errors.AsType[*ws.CloseError](err); ok && (e.Remote || e.Code == ws.CodeLost) {
		return &testcases.Closed{Code: int(e.Code)}
	}
	return fmt.Errorf("the runner ended the connection: %w", err)
}

// Close closes the connection, or cuts it without a close frame.
func (c *conn) Close(cut bool) error {
	if cut {
		_ = c.raw.Close()
	}
	c.socket.Close(ws.CodeNormal, "")
	c.socket.Wait()
	if cut {
		time.Sleep(c.env.opts.Quiet / 2) // the host gives no sign when it has noticed
	}
	return nil
}
