package bridge

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// stream is one request of a View. Its run alone sends the response, data and
// error.
type stream struct {
	id     int64
	lane   *lane
	req    *http.Request
	upload *inbox  // nil where the request came with its end and without data
	out    *window // to the page
	most   int     // bytes of the answer in one message
	events bool    // the page wants an event stream

	ctx    context.Context
	cancel context.CancelCauseFunc // the cause is what the page is told: an *Error
	head   *time.Timer             // cancels where the app does not answer; nil for event streams

	answered  atomic.Bool // the head is there, or never will be
	uploading bool        // guarded by the server's mutex: more of the body may come
}

// errCancelled ends a request of which the page wants to hear no more.
var errCancelled = errors.New("bridge: the page cancelled the request")

func newStream(l *lane, m *message) (*stream, *Error) {
	st := &stream{id: m.id, lane: l, out: newWindow(streamWindow), most: int(min(max(m.chunk, maxChunk), maxAsked)), uploading: !m.end}
	for _, h := range m.headers {
		st.events = st.events || h.name == "accept" && strings.Contains(strings.ToLower(h.value), "text/event-stream")
	}
	if !m.end || len(m.data) > 0 || m.length > 0 {
		st.upload = newInbox(m.length, st.grant)
		if err := st.upload.first(m.data, m.end); err != nil {
			return nil, err
		}
	}
	st.ctx, st.cancel = context.WithCancelCause(context.Background())
	if err := st.makeRequest(m); err != nil {
		st.cancel(err)
		return nil, err
	}
	return st, nil
}

// makeRequest makes the app's request. The path is given on as it was written.
func (st *stream) makeRequest(m *message) *Error {
	s := st.lane.server
	raw, query, asks := strings.Cut(m.path, "?")
	path, err := url.PathUnescape(raw)
	if err != nil {
		return protocolError("the path holds a percent sign without two hex digits")
	}
	u := &url.URL{Scheme: s.origin.Scheme, Host: s.origin.Host, Path: path, RawPath: raw, RawQuery: query, ForceQuery: asks && query == ""}
	st.req = (&http.Request{
		Method: m.method, URL: u, Host: s.origin.Host, Header: toApp(m.method, s.origin, m.headers),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(st.ctx)
	switch {
	case st.upload == nil:
		st.req.Body = http.NoBody
	case m.end:
		st.req.Body, st.req.ContentLength = st.takes(), int64(len(m.data))
	default:
		st.req.Body, st.req.ContentLength = st.takes(), m.length
	}
	return nil
}

// grant gives the page back what the app took of the body.
func (st *stream) grant(n int64) {
	st.lane.server.send(st.lane.view, encodeGive("grant", st.id, n, 0))
}

// takes is the body as the app takes it: what it takes puts off the time-out.
func (st *stream) takes() io.ReadCloser { return &taken{st} }

type taken struct{ st *stream }

func (t *taken) Read(p []byte) (int, error) {
	n, err := t.st.upload.Read(p)
	t.st.wait()
	return n, err
}

func (t *taken) Close() error { return t.st.upload.Close() }

// wait begins the time for the head again.
func (st *stream) wait() {
	if st.head != nil && !st.answered.Load() {
		st.head.Reset(st.lane.server.opts.HeadTimeout)
	}
}

// hear takes a message that was routed here, and waits for nothing.
func (st *stream) hear(m *message) {
	switch m.kind {
	case cancel:
		st.cancel(errCancelled)
	case credit:
		if m.bytes > 0 && !st.out.give(m.bytes) {
			st.cancel(protocolError("the window is too large"))
		}
	case body:
		st.more(m)
	}
}

// more takes a part of the body.
func (st *stream) more(m *message) {
	err := errAfter
	if st.upload != nil {
		err = st.upload.chunk(m.seq, m.data, m.end)
	}
	switch {
	case err != nil:
		st.cancel(err)
	case m.end:
		st.lane.server.mu.Lock()
		st.lane.uploaded(st)
		st.lane.server.mu.Unlock()
	}
}

// run is the request's life.
func (st *stream) run() {
	var stop func() bool
	if st.upload != nil {
		// The app's transport may sit in Read when the request ends.
		stop = context.AfterFunc(st.ctx, func() { st.upload.fail(context.Cause(st.ctx), true) })
	}
	st.limit()
	resp, err := st.lane.server.opts.RoundTripper.RoundTrip(st.req)
	st.answered.Store(true)
	if err == nil {
		a := &answer{stream: st}
		err = a.pass(resp)
		_ = resp.Body.Close() // what it says matters to nobody
	}
	st.tell(err)
	st.lane.ended(st)
	if st.head != nil {
		st.head.Stop()
	}
	if stop != nil && stop() {
		st.upload.fail(errCancelled, true)
	}
	st.cancel(errCancelled)
}

// limit begins the time that the app has for its head.
func (st *stream) limit() {
	if st.events {
		return
	}
	limit := st.lane.server.opts.HeadTimeout
	st.head = time.AfterFunc(limit, func() {
		if !st.answered.Load() {
			st.cancel(&Error{http.StatusGatewayTimeout, CodeTimeout, "the app did not answer within " + limit.String()})
		}
	})
}

// tell says why the request failed, unless the page wants to hear no more.
func (st *stream) tell(err error) {
	if cause := context.Cause(st.ctx); cause != nil && err != nil {
		err = cause
	}
	if err == nil || errors.Is(err, errCancelled) {
		return
	}
	e := describe(err)
	st.lane.ended(st)
	st.lane.server.logger.Debug("request failed", "client", st.lane.view.ClientID, "code", e.Code)
	st.lane.server.send(st.lane.view, encodeError(st.id, e))
}

// describe makes words of a RoundTripper's error. Its own text stays here: it
// may hold the url.
func describe(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if op, ok := errors.AsType[*net.OpError](err); errors.Is(err, syscall.ECONNREFUSED) || ok && op.Op == "dial" {
		return errUnavailable
	}
	switch {
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return errBigHead // net/http has no value for it
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errEndedEarly
	}
	return errNotHTTP
}
