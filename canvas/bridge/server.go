package bridge

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Options configures a Server. Origin, RoundTripper and Send are required.
type Options struct {
	// Origin is the app's origin, such as "http://127.0.0.1:3000". It is the target and
	// the Host of each request, and the Origin header unless the method is GET or HEAD.
	Origin string
	// RoundTripper sends requests to the app. It must end when its request's context is
	// canceled, also while the response's body is read, and must not follow redirects.
	// It can return an *[Error].
	RoundTripper http.RoundTripper
	// Send sends a payload to one View. It must not keep the bytes or wait for the
	// View; canvas.Handle.PostTo is one. An error ends the request.
	Send func(to canvas.View, payload ahp.Value) error

	// Context returns the context of a View's requests, from which the RoundTripper can
	// tell Views apart. nil means context.Background.
	Context func(from canvas.View) context.Context

	// Requests is the limit of a View's concurrent requests; 0 means 256.
	Requests int
	// Uploads is the limit of those with an incomplete body; 0 means 32.
	Uploads int
	// HeadTimeout is how long an app can take for the head of its response, from the
	// last byte of the body that it read; 0 means 30 s. Event streams have no limit.
	HeadTimeout time.Duration
	// Gather is how long the head of a response is delayed so that a small body can be
	// in the same message; 0 means 2 ms. Event streams are not delayed.
	Gather time.Duration

	// Logger receives debug messages; nil discards them.
	Logger *slog.Logger
}

// Server answers the http/1 messages of an instance's Views. Make it with [NewServer]
// and Close it. It is safe for concurrent use, but Message must be called with each
// View's messages in their order.
type Server struct {
	opts    Options
	origin  *url.URL
	logger  *slog.Logger
	running sync.WaitGroup // streams and their timers

	mu     sync.Mutex
	closed bool
	conns  map[channels.ConnID]*conn
}

// conn is the http/1 traffic of one View; PROTOCOL.md calls it a lane.
type conn struct {
	server *Server
	view   canvas.View
	out    *window // the connection's window, to the page

	// Guarded by server.mu.
	last     int64 // highest id so far
	streams  map[int64]*stream
	uploads  int   // streams whose body is incomplete
	received int64 // bytes received and not granted
}

// NewServer returns a Server. It fails if opts.Origin is invalid, and panics if
// RoundTripper or Send is nil.
func NewServer(opts Options) (*Server, error) {
	origin, err := url.Parse(opts.Origin)
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return nil, fmt.Errorf("bridge: Options.Origin %q is not an http or https URL", opts.Origin)
	}
	if opts.RoundTripper == nil || opts.Send == nil {
		panic("bridge: Options need RoundTripper and Send")
	}
	if opts.Context == nil {
		opts.Context = func(canvas.View) context.Context { return context.Background() }
	}
	opts.Requests = cmp.Or(opts.Requests, 256)
	opts.Uploads = cmp.Or(opts.Uploads, 32)
	opts.HeadTimeout = cmp.Or(opts.HeadTimeout, 30*time.Second)
	opts.Gather = cmp.Or(opts.Gather, 2*time.Millisecond)
	s := &Server{
		opts: opts, origin: &url.URL{Scheme: origin.Scheme, Host: origin.Host},
		logger: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), conns: map[channels.ConnID]*conn{},
	}
	return s, nil
}

// Message handles a View's payload. It returns false if the payload is not http/1.
func (s *Server) Message(_ context.Context, from canvas.View, payload ahp.Value) bool {
	m, ours, bad := decode(payload)
	if !ours {
		return false
	}
	s.mu.Lock()
	l := s.conn(from)
	if l == nil {
		s.mu.Unlock()
		return true
	}
	back := l.countReceived(len(m.data))
	st, failed := l.route(&m, bad)
	s.mu.Unlock()

	if back > 0 {
		s.send(from, encodeAmounts("grant", 0, 0, back))
	}
	switch {
	case failed != nil && st != nil:
		st.cancel(failed)
	case failed != nil:
		s.send(from, encodeError(m.id, failed))
	case st != nil:
		st.receive(&m)
	}
	if m.kind == credit && bad == nil && m.lane > 0 {
		l.out.give(m.lane)
	}
	return true
}

// conn returns a View's conn, and creates it if necessary. It is nil once the server is
// closed.
func (s *Server) conn(from canvas.View) *conn {
	l := s.conns[from.Conn]
	if l == nil && !s.closed {
		l = &conn{server: s, view: from, out: newConnWindow(connToPage), streams: map[int64]*stream{}}
		s.conns[from.Conn] = l
	}
	return l
}

// countReceived counts received bytes, and returns the grant that is due now.
func (l *conn) countReceived(n int) (back int64) {
	if l.received += int64(n); l.received >= ackHost {
		back, l.received = l.received, 0
	}
	return back
}

// route returns the stream of a message, and begins it if the message is a new request.
// An error ends the stream, or answers the message if there is no stream. Without a
// stream and an error, nothing more is to do.
func (l *conn) route(m *message, bad *Error) (*stream, *Error) {
	st := l.streams[m.id]
	isNew := m.id > l.last
	switch {
	case m.id == 0:
		return nil, nil
	case m.kind == request && isNew:
		l.last = m.id
		if bad != nil {
			return nil, bad
		}
		return l.begin(m)
	case m.kind == request:
		return st, errReused
	case m.kind != body && m.kind != credit && m.kind != cancel:
		return nil, nil
	case bad != nil && (st != nil || isNew):
		return st, bad
	case isNew && m.kind != cancel:
		return nil, errUnknown
	}
	return st, nil
}

var (
	errReused  = protocolError("this request id was already used")
	errUnknown = protocolError("there is no request with this id")
)

// begin starts a request. Without an error it returns no stream, because the stream
// handles its first message itself.
func (l *conn) begin(m *message) (*stream, *Error) {
	s := l.server
	uploads := 0
	if !m.end {
		uploads = 1
	}
	switch {
	case s.closed:
		return nil, errClosed
	case m.method == http.MethodConnect || m.method == http.MethodTrace || m.method == "TRACK":
		return nil, errMethod
	case len(l.streams) >= s.opts.Requests:
		return nil, errBusy
	case l.uploads+uploads > s.opts.Uploads:
		return nil, errUploads
	}
	st, err := newStream(l, m)
	if err != nil {
		return nil, err
	}
	l.streams[m.id] = st
	l.uploads += uploads
	s.running.Go(st.run)
	return nil, nil
}

// ended removes a stream and its upload. It can be called more than once.
func (l *conn) ended(st *stream) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	delete(l.streams, st.id)
	l.uploaded(st)
}

// uploaded records that a stream's request body is complete or no longer needed.
func (l *conn) uploaded(st *stream) {
	if st.uploading {
		st.uploading = false
		l.uploads--
	}
}

// ViewGone cancels all requests of a View without sending anything to it.
func (s *Server) ViewGone(from canvas.View) {
	s.mu.Lock()
	l := s.conns[from.Conn]
	delete(s.conns, from.Conn)
	streams := l.all()
	s.mu.Unlock()
	for _, st := range streams {
		st.cancel(errCanceled)
	}
}

func (l *conn) all() (list []*stream) {
	if l == nil {
		return nil
	}
	for _, st := range l.streams {
		list = append(list, st)
	}
	return list
}

// Close fails all requests with code closed, grants the received bytes, and waits until
// the requests have ended. Views keep their ids and windows, because another Server can
// take over the canvas.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	conns := s.conns
	s.conns = map[channels.ConnID]*conn{}
	s.mu.Unlock()
	for _, l := range conns {
		s.mu.Lock()
		streams, back := l.all(), l.received
		l.received = 0
		s.mu.Unlock()
		for _, st := range streams {
			st.cancel(errClosed)
		}
		if back > 0 {
			s.send(l.view, encodeAmounts("grant", 0, 0, back))
		}
	}
	s.running.Wait()
}

// send sends a message, and reports whether that succeeded.
func (s *Server) send(to canvas.View, payload ahp.Value) bool {
	err := s.opts.Send(to, payload)
	if err != nil {
		s.logger.Debug("http/1 message not sent", "client", to.ClientID, "err", err)
	}
	return err == nil
}
