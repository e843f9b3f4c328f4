package ws

import (
	"cmp"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// The read limits of canvas.md section 8, in bytes.
const (
	HandshakeReadLimit = 256 << 10
	MessageReadLimit   = 4 << 20
)

// Options are the times and limits of a connection; the zero value has the
// defaults that stand beside the fields.
type Options struct {
	// ReadLimit bounds one message in bytes (HandshakeReadLimit); see
	// [Conn.SetReadLimit].
	ReadLimit int64
	// PingAfter is the silence after which a ping is sent (30 s), DeadAfter the
	// silence after which the connection is given up (60 s). Any byte counts.
	PingAfter, DeadAfter time.Duration
	// WriteStall is how long a write may make no progress (10 s).
	WriteStall time.Duration
	// CloseGrace bounds each half of the close handshake (1 s).
	CloseGrace time.Duration
}

func (o Options) withDefaults() Options {
	o.ReadLimit = cmp.Or(o.ReadLimit, HandshakeReadLimit)
	o.PingAfter = cmp.Or(o.PingAfter, 30*time.Second)
	o.DeadAfter = cmp.Or(o.DeadAfter, 60*time.Second)
	o.WriteStall = cmp.Or(o.WriteStall, 10*time.Second)
	o.CloseGrace = cmp.Or(o.CloseGrace, time.Second)
	return o
}

// Conn is one WebSocket connection of text messages.
//
// One goroutine reads, one writes; Close, SetReadLimit and Err may be called by
// anybody at any time. Whoever made the Conn calls Close in the end and then
// Wait.
type Conn struct {
	ws   *websocket.Conn
	nc   *transport
	opts Options

	readLimit atomic.Int64

	// reading and writing are locks. They are channels and not mutexes because
	// they are held across socket operations, which a test's fake clock must be
	// able to see as waiting.
	reading chan struct{}
	writing chan struct{} // held for whole frames
	broken  bool          // a write failed inside a frame; guarded by writing
	client  bool
	message Message // that is being read; guarded by reading

	mu       sync.Mutex // guards what follows; nothing is called under it but SetDeadline
	cause    *CloseError
	pong     []byte // the payload of the newest ping, where a pong is owed
	owesPong bool
	owesPing bool
	flushing bool // a goroutine is under way to write what is owed
	alive    *time.Timer

	wg sync.WaitGroup // one until the end, one for control frames under way
}

func newConn(wsc *websocket.Conn, nc *transport, client bool, opts Options) *Conn {
	c := &Conn{
		ws: wsc, nc: nc, client: client, opts: opts.withDefaults(),
		reading: make(chan struct{}, 1), writing: make(chan struct{}, 1),
	}
	nc.sealed.Store(true)
	c.wg.Add(1)
	c.readLimit.Store(c.opts.ReadLimit)
	wsc.SetPingHandler(func(payload string) error { c.owe(payload, true); return nil })
	wsc.SetPongHandler(nil)
	wsc.SetCloseHandler(func(int, string) error { return nil })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alive = time.AfterFunc(c.opts.PingAfter, c.checkAlive)
	return c
}

// SetReadLimit changes the limit of a message in bytes; it holds for the
// message that is being read, too.
func (c *Conn) SetReadLimit(n int64) { c.readLimit.Store(n) }

// Masks reports whether the frames of this side are masked: it dialled.
func (c *Conn) Masks() bool { return c.client }

// Subprotocol returns what the handshake selected, or "".
func (c *Conn) Subprotocol() string { return c.ws.Subprotocol() }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.nc.RemoteAddr() }

// ReadMessage returns the next text message. The bytes are the caller's. The
// error is a *[CloseError], always the same one, and the connection is closing
// when it is returned. A message above the read limit closes with CodeTooBig, a
// binary one with CodeUnsupported. UTF-8 is not checked here.
func (c *Conn) ReadMessage() ([]byte, error) {
	m, err := c.NextMessage()
	if err != nil {
		return nil, err
	}
	head := heads.Get().(*[4096]byte)
	defer heads.Put(head)
	n, over, err := m.Fill(head[:])
	switch {
	case err != nil:
		return nil, err
	case over:
		return append(make([]byte, 0, n), head[:n]...), nil
	}
	return m.Rest(head[:])
}

// readFailed turns what a read returned into the cause of the end: the peer's
// close frame, a lost socket, or a peer that breaks the protocol.
func (c *Conn) readFailed(err error) error {
	if ce, ok := errors.AsType[*websocket.CloseError](err); ok && ce.Code != websocket.CloseAbnormalClosure {
		return c.shut(&CloseError{Code: CloseCode(ce.Code), Reason: ce.Text, Remote: true}, true)
	}
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		return c.shut(&CloseError{Code: CodeTooBig, Reason: "message above the limit"}, true)
	case c.nc.readErr != nil:
		return c.shut(&CloseError{Code: CodeLost, Reason: "connection lost", Err: c.nc.readErr}, false)
	}
	return c.shut(&CloseError{Code: CodeProtocol, Reason: "not a WebSocket frame as RFC 6455 has it", Err: err}, true)
}
