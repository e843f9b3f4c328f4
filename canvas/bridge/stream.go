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

// stream is one request of a View. Only its run sends the response, data and error.
type stream struct {
	id         int64
	conn       *conn
	req        *http.Request
	upload     *bodyBuffer // nil for a request without a body
	out        *window     // of the response
	chunkLimit int         // bytes of the response in one message
	events     bool        // the page wants an event stream

	ctx    context.Context
	cancel context.CancelCauseFunc // the cause is the *Error for the page
	head   *time.Timer             // cancels if the app does not answer; nil for event streams

	answered  atomic.Bool // RoundTrip has returned
	uploading bool        // guarded by server.mu: the body is incomplete
}

// errCanceled ends a request that needs no further message to the page.
var errCanceled = errors.New("bridge: the page canceled the request")

func newStream(l *conn, m *message) (*stream, *Error) {
	st := &stream{id: m.id, conn: l, out: newWindow(streamWindow), chunkLimit: int(min(max(m.chunk, maxChunk), maxLargeChunk)), uploading: !m.end}
	for _, h := range m.headers {
		st.events = st.events || h.name == "accept" && strings.Contains(strings.ToLower(h.value), "text/event-stream")
	}
	if !m.end || len(m.data) > 0 || m.length > 0 {
		st.upload = newBodyBuffer(m.length, st.grant)
		if err := st.upload.first(m.data, m.end); err != nil {
			return nil, err
		}
	}
	st.ctx, st.cancel = context.WithCancelCause(l.server.opts.Context(l.view))
	if err := st.makeRequest(m); err != nil {
		st.cancel(err)
		return nil, err
	}
	return st, nil
}

// makeRequest builds the app's request. The path is passed on unchanged.
func (st *stream) makeRequest(m *message) *Error {
	s := st.conn.server
	raw, query, asks := strings.Cut(m.path, "?")
	path, err := url.PathUnescape(raw)
	if err != nil {
		return protocolError("the path has a percent sign without two hex digits")
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
		st.req.Body, st.req.ContentLength = st.timedBody(), int64(len(m.data))
	default:
		st.req.Body, st.req.ContentLength = st.timedBody(), m.length
	}
	return nil
}

// grant credits body bytes that the app read.
func (st *stream) grant(n int64) {
	st.conn.server.send(st.conn.view, encodeAmounts("grant", st.id, n, 0))
}

// timedBody returns the request's body for the app. Each read restarts the timeout of
// the response's head.
func (st *stream) timedBody() io.ReadCloser { return &timedBody{st} }

type timedBody struct{ st *stream }

func (t *timedBody) Read(p []byte) (int, error) {
	n, err := t.st.upload.Read(p)
	t.st.resetHeadTimer()
	return n, err
}

func (t *timedBody) Close() error { return t.st.upload.Close() }

// resetHeadTimer restarts the timeout of the response's head.
func (st *stream) resetHeadTimer() {
	if st.head != nil && !st.answered.Load() {
		st.head.Reset(st.conn.server.opts.HeadTimeout)
	}
}

// receive handles a message for this stream. It does not block.
func (st *stream) receive(m *message) {
	switch m.kind {
	case cancel:
		st.cancel(errCanceled)
	case credit:
		if m.bytes > 0 && !st.out.give(m.bytes) {
			st.cancel(protocolError("the credit exceeds the limit of a window"))
		}
	case body:
		st.more(m)
	}
}

// more adds a part of the request's body.
func (st *stream) more(m *message) {
	err := errAfter
	if st.upload != nil {
		err = st.upload.chunk(m.seq, m.data, m.end)
	}
	switch {
	case err != nil:
		st.cancel(err)
	case m.end:
		st.conn.server.mu.Lock()
		st.conn.uploaded(st)
		st.conn.server.mu.Unlock()
	}
}

// run performs the request and sends the response.
func (st *stream) run() {
	var stop func() bool
	if st.upload != nil {
		// The app's transport can be blocked in Read when the request ends.
		stop = context.AfterFunc(st.ctx, func() { st.upload.fail(context.Cause(st.ctx), true) })
	}
	st.startHeadTimer()
	resp, err := st.conn.server.opts.RoundTripper.RoundTrip(st.req)
	st.answered.Store(true)
	if err == nil {
		a := &answer{stream: st}
		err = a.forward(resp)
		_ = resp.Body.Close() // the body was read or given up
	}
	st.fail(err)
	st.conn.ended(st)
	if st.head != nil {
		st.head.Stop()
	}
	if stop != nil && stop() {
		st.upload.fail(errCanceled, true)
	}
	st.cancel(errCanceled)
}

// startHeadTimer starts the timeout of the response's head, which event streams do not
// have.
func (st *stream) startHeadTimer() {
	if st.events {
		return
	}
	limit := st.conn.server.opts.HeadTimeout
	st.head = time.AfterFunc(limit, func() {
		if !st.answered.Load() {
			st.cancel(&Error{http.StatusGatewayTimeout, CodeTimeout, "the app did not answer within " + limit.String()})
		}
	})
}

// fail sends the request's error, unless the page canceled the request.
func (st *stream) fail(err error) {
	if cause := context.Cause(st.ctx); cause != nil && err != nil {
		err = cause
	}
	if err == nil || errors.Is(err, errCanceled) {
		return
	}
	e := describe(err)
	st.conn.ended(st)
	st.conn.server.logger.Debug("request failed", "client", st.conn.view.ClientID, "code", e.Code)
	st.conn.server.send(st.conn.view, encodeError(st.id, e))
}

// describe converts a RoundTripper's error for the page. The error's text is not used,
// because it can contain the URL.
func describe(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if op, ok := errors.AsType[*net.OpError](err); errors.Is(err, syscall.ECONNREFUSED) || ok && op.Op == "dial" {
		return errUnavailable
	}
	switch {
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return errBigHead // net/http has no error value for this
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errEndedEarly
	}
	return errNotHTTP
}
