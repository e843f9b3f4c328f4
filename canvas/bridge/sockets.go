package bridge

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// SocketOptions configures Sockets. Origin, Dial and Send are required.
type SocketOptions struct {
	// Origin is the app's origin, such as "http://127.0.0.1:3000": the target, Host and
	// Origin of each WebSocket.
	Origin string
	// Dial connects to the app. It alone decides which addresses can be reached.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Jar returns the jar with the app's cookies for a View, or nil for none. Without it,
	// WebSockets have no cookies.
	Jar func(from canvas.View) http.CookieJar
	// Send sends a payload to one View. It must not keep the bytes or wait for the
	// View. An error ends the WebSocket.
	Send func(to canvas.View, payload ahp.Value) error

	// Limit is the limit of a View's WebSockets; 0 means 64.
	Limit int
	// AcceptTimeout is how long an app can take to accept a WebSocket; 0 means 30 s.
	AcceptTimeout time.Duration
	// CloseTimeout is how long an app can take to answer a close frame; 0 means 5 s.
	CloseTimeout time.Duration

	// Logger receives debug messages; nil discards them.
	Logger *slog.Logger
}

// Sockets answers the ws/1 messages of an instance's Views (PROTOCOL.md section 9). Make
// it with [NewSockets] and Close it. It is safe for concurrent use, but Message must be
// called with each View's messages in their order.
type Sockets struct {
	opts    SocketOptions
	origin  *url.URL
	logger  *slog.Logger
	running sync.WaitGroup // WebSockets

	mu     sync.Mutex
	closed bool
	conns  map[channels.ConnID]*socketConn
}

// socketConn is the ws/1 traffic of one View; PROTOCOL.md calls it a lane.
type socketConn struct {
	server *Sockets
	view   canvas.View
	out    *window // the connection's window, to the page

	// Guarded by server.mu.
	last     int64 // highest id so far
	sockets  map[int64]*socket
	received int64 // received cost that is not granted
}

// NewSockets returns a Sockets. It fails if opts.Origin is invalid, and panics if Dial or
// Send is nil.
func NewSockets(opts SocketOptions) (*Sockets, error) {
	origin, err := url.Parse(opts.Origin)
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return nil, fmt.Errorf("bridge: SocketOptions.Origin %q is not an http or https URL", opts.Origin)
	}
	if opts.Dial == nil || opts.Send == nil {
		panic("bridge: SocketOptions need Dial and Send")
	}
	if opts.Jar == nil {
		opts.Jar = func(canvas.View) http.CookieJar { return nil }
	}
	opts.Limit = cmp.Or(opts.Limit, 64)
	opts.AcceptTimeout = cmp.Or(opts.AcceptTimeout, 30*time.Second)
	opts.CloseTimeout = cmp.Or(opts.CloseTimeout, 5*time.Second)
	return &Sockets{
		opts: opts, origin: &url.URL{Scheme: origin.Scheme, Host: origin.Host},
		logger: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), conns: map[channels.ConnID]*socketConn{},
	}, nil
}

// Message handles a View's payload. It returns false if the payload is not ws/1. It does
// not wait for the app.
func (s *Sockets) Message(_ context.Context, from canvas.View, payload ahp.Value) bool {
	m, ours, bad := decodeSocket(payload)
	if !ours {
		return false
	}
	s.mu.Lock()
	l := s.conn(from)
	if l == nil {
		s.mu.Unlock()
		return true
	}
	back := l.countReceived(m.cost())
	st, failed := l.route(&m, bad)
	s.mu.Unlock()

	if back > 0 {
		s.send(from, encodeGrant(0, 0, back))
	}
	switch {
	case failed != nil && st != nil:
		st.cancel(failed)
	case failed != nil:
		s.send(from, encodeClosed(m.id, socketEnd{code: closeAbnormal, failed: failed}))
	case st != nil:
		st.receive(&m)
	}
	if m.kind == socketCredit && bad == nil && m.lane > 0 {
		l.out.give(m.lane)
	}
	return true
}

// conn returns a View's socketConn, and creates it if necessary. It is nil once the server
// is closed.
func (s *Sockets) conn(from canvas.View) *socketConn {
	l := s.conns[from.Conn]
	if l == nil && !s.closed {
		l = &socketConn{server: s, view: from, out: newConnWindow(socketsToPage), sockets: map[int64]*socket{}}
		s.conns[from.Conn] = l
	}
	return l
}

// countReceived counts what a message costs, and returns the grant that is due now.
func (l *socketConn) countReceived(n int64) (back int64) {
	if l.received += n; l.received >= ackSockets {
		back, l.received = l.received, 0
	}
	return back
}

// route returns the WebSocket of a message, and begins it if the message is a new open. An
// error ends the WebSocket, or answers the message if there is none.
func (l *socketConn) route(m *socketMessage, bad *Error) (*socket, *Error) {
	st := l.sockets[m.id]
	isNew := m.id > l.last
	switch {
	case m.id == 0 || m.kind == socketUnknown:
		return nil, nil
	case m.kind == socketOpen && isNew:
		l.last = m.id
		if bad != nil {
			return nil, bad
		}
		return l.begin(m)
	case m.kind == socketOpen:
		return st, errSocketReused
	case bad != nil && (st != nil || isNew):
		return st, bad
	case isNew && m.kind != socketClose:
		return nil, errSocketUnknown
	}
	return st, nil
}

var (
	errSocketReused  = protocolError("this WebSocket id was already used")
	errSocketUnknown = protocolError("there is no WebSocket with this id")
	errManySockets   = &Error{http.StatusServiceUnavailable, CodeBusy, "too many WebSockets at the same time"}
)

// begin starts a WebSocket. Without an error it returns none, because open is its only
// message yet.
func (l *socketConn) begin(m *socketMessage) (*socket, *Error) {
	s := l.server
	switch {
	case s.closed:
		return nil, errClosed
	case len(l.sockets) >= s.opts.Limit:
		return nil, errManySockets
	case m.host != "" && !sameHost(m.host, s.origin):
		return nil, errOtherHost
	}
	st := newSocket(l, m)
	l.sockets[m.id] = st
	s.running.Go(st.run)
	return nil, nil
}

// ended removes a WebSocket.
func (l *socketConn) ended(st *socket) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	delete(l.sockets, st.id)
}

// ViewGone closes all WebSockets of a View without sending anything to it.
func (s *Sockets) ViewGone(from canvas.View) {
	s.mu.Lock()
	l := s.conns[from.Conn]
	delete(s.conns, from.Conn)
	sockets := l.all()
	s.mu.Unlock()
	for _, st := range sockets {
		st.cancel(errCanceled)
	}
}

func (l *socketConn) all() (list []*socket) {
	if l == nil {
		return nil
	}
	for _, st := range l.sockets {
		list = append(list, st)
	}
	return list
}

// Close ends all WebSockets with code closed, grants what was received, and waits until
// they have ended.
func (s *Sockets) Close() {
	s.mu.Lock()
	s.closed = true
	conns := s.conns
	s.conns = map[channels.ConnID]*socketConn{}
	s.mu.Unlock()
	for _, l := range conns {
		s.mu.Lock()
		sockets, back := l.all(), l.received
		l.received = 0
		s.mu.Unlock()
		for _, st := range sockets {
			st.cancel(errClosed)
		}
		if back > 0 {
			s.send(l.view, encodeGrant(0, 0, back))
		}
	}
	s.running.Wait()
}

// send sends a message, and reports whether that succeeded.
func (s *Sockets) send(to canvas.View, payload ahp.Value) bool {
	err := s.opts.Send(to, payload)
	if err != nil {
		s.logger.Debug("ws/1 message not sent", "client", to.ClientID, "err", err)
	}
	return err == nil
}
