package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// socket is one WebSocket of a View. Only its run sends opened, message and closed.
type socket struct {
	id   int64
	conn *socketConn
	open *socketMessage
	out  *window // to the page

	ctx    context.Context
	cancel context.CancelCauseFunc // the cause is the *Error for the page

	app *websocket.Conn // set before opened is true

	mu     sync.Mutex
	opened bool
	queue  partQueue
}

// errPageClosed ends an attempt that the page closed before the app accepted.
var errPageClosed = errors.New("bridge: the page closed the WebSocket before it was open")

// Failures of a WebSocket.
var (
	errOtherHost   = &Error{http.StatusForbidden, codeRefused, "a canvas can only open WebSockets to its own app"}
	errNotAccepted = &Error{http.StatusGatewayTimeout, CodeTimeout, "the app did not accept the WebSocket in time"}
	errNotClosed   = &Error{http.StatusGatewayTimeout, CodeTimeout, "the app did not answer the close frame in time"}
	errSocketLost  = badResponse("the connection to the app was lost")
	errEarlySend   = protocolError("a message was sent before the WebSocket was open")
	errLateSend    = protocolError("a message was sent after the WebSocket was closed")
	errSendOrder   = protocolError("a part of a message is missing or repeated")
	errSendOverrun = protocolError("the messages exceed the window")
)

// codeRefused is the code of a WebSocket that the app or the host does not accept.
const codeRefused = "refused"

func newSocket(l *socketConn, m *socketMessage) *socket {
	st := &socket{id: m.id, conn: l, open: m, out: newWindow(socketWindow)}
	st.queue = partQueue{window: socketWindow, wake: make(chan struct{}, 1)}
	st.ctx, st.cancel = context.WithCancelCause(context.Background())
	return st
}

// receive handles a message for this WebSocket. It does not block.
func (st *socket) receive(m *socketMessage) {
	if m.kind == socketCredit {
		if m.bytes > 0 && !st.out.give(m.bytes) {
			st.cancel(protocolError("the credit exceeds the limit of a window"))
		}
		return
	}
	st.mu.Lock()
	opened := st.opened
	st.mu.Unlock()
	switch {
	case !opened && m.kind == socketClose:
		st.cancel(errPageClosed)
	case !opened:
		st.cancel(errEarlySend)
	default:
		if err := st.queue.add(m); err != nil {
			st.cancel(err)
		}
	}
}

// run connects to the app, passes the messages on, and reports the end.
func (st *socket) run() {
	end := st.serve()
	st.conn.ended(st) // before the page learns of it and opens another one
	cause := context.Cause(st.ctx)
	st.cancel(errCanceled)
	if errors.Is(cause, errCanceled) {
		return
	}
	if e, ok := errors.AsType[*Error](cause); ok {
		end = socketEnd{code: closeAbnormal, failed: e}
	}
	if end.failed != nil {
		st.conn.server.logger.Debug("WebSocket failed", "client", st.conn.view.ClientID, "code", end.failed.Code)
	}
	st.conn.server.send(st.conn.view, encodeClosed(st.id, end))
}

// serve passes messages on until the WebSocket ends.
func (st *socket) serve() socketEnd {
	var raw dialed
	app, failed := st.dial(&raw)
	if app == nil {
		return socketEnd{code: closeAbnormal, failed: failed}
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(st.ctx, func() {
		defer close(ended)
		leave(app)
	})
	st.app = app
	st.conn.server.send(st.conn.view, encodeOpened(st.id, app.Subprotocol())) // if it fails, so does the next message
	st.mu.Lock()
	st.opened = true
	st.mu.Unlock()
	var writing sync.WaitGroup
	var timedOut atomic.Bool
	writing.Go(func() { st.write(&timedOut) })
	end := st.read()
	if end.failed != nil && timedOut.Load() {
		end.failed = errNotClosed
	}
	if stop() {
		close(ended)
	}
	<-ended
	_ = app.Close() // the end was read
	st.queue.end()
	writing.Wait()
	return end
}

// leave closes a connection that the host ends.
func leave(app *websocket.Conn) {
	// The write fails if the app does not read, and the connection ends without it.
	_ = app.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(closeGoingAway, ""), time.Now().Add(time.Second))
	_ = app.Close()
}

// dialed is the network connection of a handshake, of which at most maxHandshake bytes are
// read.
type dialed struct {
	net.Conn
	left atomic.Int64 // bytes that the handshake can still read; negative is no limit
}

const maxHandshake = 64 << 10

func (d *dialed) Read(p []byte) (int, error) {
	left := d.left.Load()
	if left == 0 {
		return 0, errors.New("bridge: the response to the handshake is too large")
	}
	if left > 0 && int64(len(p)) > left {
		p = p[:left]
	}
	n, err := d.Conn.Read(p)
	if left > 0 {
		d.left.Store(left - int64(n))
	}
	return n, err
}

// dial performs the handshake. Without a connection it returns why, or nil if the page
// gave up.
func (st *socket) dial(raw *dialed) (*websocket.Conn, *Error) {
	s := st.conn.server
	ctx, cancel := context.WithTimeoutCause(st.ctx, s.opts.AcceptTimeout, errNotAccepted)
	defer cancel()
	raw.left.Store(maxHandshake)
	var closes func() bool
	d := websocket.Dialer{
		Subprotocols: st.open.protocols, Jar: s.opts.Jar(st.conn.view),
		NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := s.opts.Dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			raw.Conn = conn
			closes = context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends the handshake
			return raw, nil
		},
	}
	origin := s.origin.Scheme + "://" + s.origin.Host
	app, resp, err := d.DialContext(ctx, "ws"+origin[len("http"):]+st.open.path, http.Header{"Origin": {origin}})
	late := closes != nil && !closes()
	raw.left.Store(-1)
	switch {
	case err == nil && !late:
		return app, nil
	case err == nil:
		_ = app.Close()
		err = context.Cause(ctx)
	}
	return nil, handshakeError(ctx, resp, err)
}

// handshakeError describes why there is no connection, for the page. nil is a page that
// gave up.
func handshakeError(ctx context.Context, resp *http.Response, err error) *Error {
	if cause := context.Cause(ctx); cause != nil {
		e, _ := errors.AsType[*Error](cause)
		return e
	}
	if isTimeout(err) {
		return errNotAccepted
	}
	if errors.Is(err, websocket.ErrBadHandshake) && resp != nil {
		return &Error{http.StatusBadGateway, codeRefused, fmt.Sprintf("the app did not accept the WebSocket: it answered with status %d", resp.StatusCode)}
	}
	if e := describe(err); e == errUnavailable {
		return e
	}
	return errSocketLost
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// read sends the app's messages to the page until the connection ends.
func (st *socket) read() socketEnd {
	buf := scratches.Get().(*scratch)
	defer scratches.Put(buf)
	seq := int64(0)
	for {
		kind, r, err := st.app.NextReader()
		for more := true; err == nil && more; seq++ {
			var n int
			n, err = io.ReadFull(r, buf.chunk[:])
			if more = err == nil; err == io.EOF || err == io.ErrUnexpectedEOF {
				err = nil
			}
			if err == nil {
				err = st.post(seq, kind == websocket.BinaryMessage, more, buf.chunk[:n])
			}
		}
		if err != nil {
			return endOf(err)
		}
	}
}

// post sends a part of a message to the page.
func (st *socket) post(seq int64, binary, more bool, data []byte) error {
	cost := partCost + int64(len(data))
	if err := st.out.take(st.ctx, cost); err != nil {
		return err
	}
	if err := st.conn.out.take(st.ctx, cost); err != nil {
		return err
	}
	if !st.conn.server.send(st.conn.view, encodePart(st.id, seq, binary, more, data)) {
		st.cancel(errCanceled)
		return errCanceled
	}
	return nil
}

// endOf describes the end of the app's connection.
func endOf(err error) socketEnd {
	if e, ok := errors.AsType[*websocket.CloseError](err); ok && e.Code != closeAbnormal {
		return socketEnd{code: e.Code, reason: e.Text, clean: true}
	}
	return socketEnd{code: closeAbnormal, failed: errSocketLost}
}

// write sends the page's messages to the app until the queue ends.
func (st *socket) write(timedOut *atomic.Bool) {
	var w io.WriteCloser
	var err error
	written := int64(0)
	for err == nil {
		m := st.queue.next()
		if m == nil {
			return
		}
		if m.kind == socketClose {
			st.close(m, timedOut)
			return
		}
		if w == nil {
			w, err = st.app.NextWriter(messageType(m.binary))
		}
		if err == nil && len(m.data) > 0 {
			_, err = w.Write(m.data)
		}
		if err == nil && !m.more {
			err = w.Close()
			w = nil
		}
		if written += m.cost(); err == nil && written >= ackSocket {
			st.queue.give(written)
			st.conn.server.send(st.conn.view, encodeGrant(st.id, written, 0))
			written = 0
		}
	}
	_ = st.app.Close() // ends read, which reports it
}

func messageType(binary bool) int {
	if binary {
		return websocket.BinaryMessage
	}
	return websocket.TextMessage
}

// close sends a close frame and waits for the app's, which read receives.
func (st *socket) close(m *socketMessage, timedOut *atomic.Bool) {
	limit := st.conn.server.opts.CloseTimeout
	err := st.app.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(m.code, m.reason), time.Now().Add(limit))
	if isTimeout(err) || err == nil && !st.queue.ends(limit) {
		timedOut.Store(true)
	}
	_ = st.app.Close() // ends read
}

// sameHost reports whether the host of a WebSocket's url is that of the app.
func sameHost(host string, origin *url.URL) bool {
	u, err := url.Parse(origin.Scheme + "://" + host)
	if err != nil || u.Host != host || u.User != nil {
		return false
	}
	return port(u) == port(origin) && (u.Hostname() == origin.Hostname() || isLoopback(u.Hostname()) && isLoopback(origin.Hostname()))
}

func isLoopback(name string) bool { return name == "localhost" || name == "127.0.0.1" || name == "::1" }
