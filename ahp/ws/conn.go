package ws

import (
	"cmp"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// The read limits of a host, in bytes (ahp/PROTOCOL.md section 13.1).
const (
	HandshakeReadLimit = 256 << 10 // a message before the AHP handshake
	MessageReadLimit   = 4 << 20   // a message after it
)

// Options are the times and limits of a connection. Zero values mean the defaults,
// which are given in parentheses.
type Options struct {
	// ReadLimit is the most bytes that a message may have (HandshakeReadLimit). See
	// also [Conn.SetReadLimit].
	ReadLimit int64
	// PingAfter is the silence after which a ping is sent (30 s). Every received byte
	// ends the silence.
	PingAfter time.Duration
	// DeadAfter is the silence after which the connection is closed (60 s).
	DeadAfter time.Duration
	// WriteStall is how long a write may make no progress (10 s).
	WriteStall time.Duration
	// CloseGrace limits each half of the closing handshake (1 s).
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

// Conn is a WebSocket connection of text messages, or of sealed ones (see Seal).
//
// One goroutine at a time may read, and one may write. Close, SetReadLimit and Err may
// be called at any time. The owner of a Conn must call Close and then Wait.
type Conn struct {
	ws  *websocket.Conn
	out writer

	readLimit atomic.Int64
	message   Message // the message being read; guarded by out.reading
	ahead     []byte  // what ReadAhead read; guarded by out.reading
	peeked    *peeked // what IsBinary found; guarded by out.reading
	sealed    *sealed // nil on a clear connection

	onPing atomic.Pointer[func(payload string)]
}

func newConn(wsc *websocket.Conn, nc *transport, client bool, opts Options) *Conn {
	c := &Conn{
		ws: wsc,
		out: writer{
			nc: nc, client: client, opts: opts.withDefaults(),
			writing: make(chan struct{}, 1), reading: make(chan struct{}, 1),
		},
	}
	nc.sealed.Store(true)
	c.out.wg.Add(1)
	c.readLimit.Store(c.out.opts.ReadLimit)
	wsc.SetPingHandler(func(payload string) error { c.pinged(payload); return nil })
	wsc.SetPongHandler(nil)
	wsc.SetCloseHandler(func(int, string) error { return nil })
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.out.alive = time.AfterFunc(c.out.opts.PingAfter, c.out.checkAlive)
	return c
}

// SetReadLimit changes the most bytes that a message may have. It applies to the
// message that is being read, too.
func (c *Conn) SetReadLimit(n int64) { c.readLimit.Store(n) }

// Masks reports whether each frame of this side is encoded for this connection alone, because it
// dialed or the connection is sealed. Then results of [Framed] cannot be written.
func (c *Conn) Masks() bool { return c.out.client || c.sealed != nil }

// Subprotocol returns the subprotocol that the handshake selected, or "".
func (c *Conn) Subprotocol() string { return c.ws.Subprotocol() }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.out.nc.RemoteAddr() }

// ReadMessage returns the next text message, which the caller owns. After an error the
// connection is closing, and every call returns the same *[CloseError]. A message
// above the read limit closes the connection with CodeTooBig, a binary one with
// CodeUnsupported. UTF-8 is not checked.
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

// readFailed closes the connection after a read has failed, and returns the cause: the
// peer's close frame, a lost socket, or a violation of the protocol.
func (c *Conn) readFailed(err error) error {
	if ce, ok := errors.AsType[*websocket.CloseError](err); ok && ce.Code != websocket.CloseAbnormalClosure {
		return c.out.shut(&CloseError{Code: CloseCode(ce.Code), Reason: ce.Text, Remote: true}, true)
	}
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		return c.out.shut(&CloseError{Code: CodeTooBig, Reason: "message above the limit"}, true)
	case c.out.nc.readErr != nil:
		return c.out.shut(&CloseError{Code: CodeLost, Reason: "connection lost", Err: c.out.nc.readErr}, false)
	}
	return c.out.shut(&CloseError{Code: CodeProtocol, Reason: "not a valid WebSocket frame (RFC 6455)", Err: err}, true)
}
