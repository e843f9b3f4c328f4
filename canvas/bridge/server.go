package bridge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Options says what a Server works with. Origin, RoundTripper and Send are
// required; a zero limit has the default that its comment names.
type Options struct {
	// Origin is the app's: "http://127.0.0.1:3000". Every request goes there, with
	// it as Host and, where it is not GET or HEAD, as Origin.
	Origin string
	// RoundTripper reaches the app. It must heed its request's context, follow no
	// redirects, and may return an *[Error]; its response's body ends with the
	// context too.
	RoundTripper http.RoundTripper
	// Send sends a payload to one View. It must not keep the bytes, and not wait for
	// the View; canvas.Handle.PostTo is one. A failure ends the request.
	Send func(to canvas.View, payload ahp.Value) error

	Requests int // of a View at a time; 256
	Uploads  int // of them, with a body that is not sent completely; 32
	// HeadTimeout is how long an app may take for its answer's head, from the last
	// byte of the body that it took; 30 s. Event streams may take for ever.
	HeadTimeout time.Duration
	// Gather is how long the head of an answer may wait for a small body, to go
	// with it; 2 ms. An event stream's does not wait.
	Gather time.Duration

	Logger *slog.Logger // nil discards
}

// Server answers the http/1 messages of an instance's Views. Make it with
// [NewServer], end it with Close. Its methods may be called concurrently; the
// messages of one View come in their order.
type Server struct {
	opts    Options
	origin  *url.URL
	logger  *slog.Logger
	running sync.WaitGroup // streams, and what they started

	mu     sync.Mutex
	closed bool
	lanes  map[channels.ConnID]*lane
}

// lane is one View.
type lane struct {
	server *Server
	view   canvas.View
	out    *window // to the page

	// Guarded by the server's mutex.
	last     int64 // the greatest id that was used
	streams  map[int64]*stream
	uploads  int   // of them, that are not whole
	received int64 // bytes that arrived and were not given back
}

// NewServer makes a server; the error says what is wrong with Origin.
func NewServer(opts Options) (*Server, error) {
	origin, err := url.Parse(opts.Origin)
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return nil, errors.New("bridge: the app's origin is no http address")
	}
	if opts.RoundTripper == nil || opts.Send == nil {
		panic("bridge: Options need RoundTripper and Send")
	}
	opts.Requests = cmp.Or(opts.Requests, 256)
	opts.Uploads = cmp.Or(opts.Uploads, 32)
	opts.HeadTimeout = cmp.Or(opts.HeadTimeout, 30*time.Second)
	opts.Gather = cmp.Or(opts.Gather, 2*time.Millisecond)
	s := &Server{
		opts: opts, origin: &url.URL{Scheme: origin.Scheme, Host: origin.Host},
		logger: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), lanes: map[channels.ConnID]*lane{},
	}
	return s, nil
}

// Message hears a View. It reports whether the payload is of http/1: any other
// is not the server's.
func (s *Server) Message(_ context.Context, from canvas.View, payload ahp.Value) bool {
	m, ours, bad := decode(payload)
	if !ours {
		return false
	}
	s.mu.Lock()
	l := s.lane(from)
	if l == nil {
		s.mu.Unlock()
		return true
	}
	back := l.countIn(len(m.data))
	st, failed := l.route(&m, bad)
	s.mu.Unlock()

	if back > 0 {
		s.send(from, encodeGive("grant", 0, 0, back))
	}
	switch {
	case failed != nil && st != nil:
		st.cancel(failed)
	case failed != nil:
		s.send(from, encodeError(m.id, failed))
	case st != nil:
		st.hear(&m)
	}
	if m.kind == credit && bad == nil && m.lane > 0 {
		l.out.give(m.lane)
	}
	return true
}

// lane finds a View's lane, or makes it. It is nil once the server is closed.
func (s *Server) lane(from canvas.View) *lane {
	l := s.lanes[from.Conn]
	if l == nil && !s.closed {
		l = &lane{server: s, view: from, out: newLane(laneToPage), streams: map[int64]*stream{}}
		s.lanes[from.Conn] = l
	}
	return l
}

// countIn counts data that arrived, and returns what is to be given back.
func (l *lane) countIn(n int) (back int64) {
	if l.received += int64(n); l.received >= giveBackHost {
		back, l.received = l.received, 0
	}
	return back
}

// route finds the stream that a message is for, or begins it. An error ends the
// stream, or answers the message where there is none; with neither the message
// is over.
func (l *lane) route(m *message, bad *Error) (*stream, *Error) {
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
	errReused  = protocolError("this request's id was used before")
	errUnknown = protocolError("there is no request of this id")
)

// begin starts a request. What it answers with beside an error is nil: the
// stream hears of its first message by itself.
func (l *lane) begin(m *message) (*stream, *Error) {
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

// ended forgets a stream, once; the upload that is over is one less.
func (l *lane) ended(st *stream) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	delete(l.streams, st.id)
	l.uploaded(st)
}

// uploaded says that nothing more of a stream's body will come.
func (l *lane) uploaded(st *stream) {
	if st.uploading {
		st.uploading = false
		l.uploads--
	}
}

// ViewGone ends all requests of a View, without a word to it.
func (s *Server) ViewGone(from canvas.View) {
	s.mu.Lock()
	l := s.lanes[from.Conn]
	delete(s.lanes, from.Conn)
	streams := l.all()
	s.mu.Unlock()
	for _, st := range streams {
		st.cancel(errCancelled)
	}
}

func (l *lane) all() (list []*stream) {
	if l == nil {
		return nil
	}
	for _, st := range l.streams {
		list = append(list, st)
	}
	return list
}

// Close fails all requests with code closed, gives back what arrived, and waits
// until they have ended: a lane goes on where another Server takes the canvas over.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	lanes := s.lanes
	s.lanes = map[channels.ConnID]*lane{}
	s.mu.Unlock()
	for _, l := range lanes {
		s.mu.Lock()
		streams, back := l.all(), l.received
		l.received = 0
		s.mu.Unlock()
		for _, st := range streams {
			st.cancel(errClosed)
		}
		if back > 0 {
			s.send(l.view, encodeGive("grant", 0, 0, back))
		}
	}
	s.running.Wait()
}

// send sends a message, and reports whether it was taken.
func (s *Server) send(to canvas.View, payload ahp.Value) bool {
	err := s.opts.Send(to, payload)
	if err != nil {
		s.logger.Debug("http/1 message not sent", "client", to.ClientID, "err", err)
	}
	return err == nil
}
