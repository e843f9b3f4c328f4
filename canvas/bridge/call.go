package bridge

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// call is one request of a Client.
type call struct {
	client *Client
	id     int64
	req    *http.Request
	ctx    context.Context // done when the request is over
	cancel context.CancelFunc
	out    *window
	in     *inbox

	free       func() // gives its place among the requests to another, once
	freeUpload func() // likewise among the uploads; nil where it is none

	headed chan struct{} // closed when resp or err is there
	resp   *http.Response
	err    error

	mu       sync.Mutex
	answered bool
	over     bool
	seq      int64 // of the next body message
	stop     func() bool
}

func newCall(c *Client, req *http.Request) *call {
	cl := &call{client: c, req: req, out: newWindow(streamWindow), headed: make(chan struct{})}
	cl.ctx, cl.cancel = context.WithCancel(req.Context())
	cl.free = sync.OnceFunc(func() { <-c.slots })
	cl.in = newInbox(-1, func(n int64) { _ = c.opts.Send(encodeGive("credit", cl.id, n, 0)) }) // a lost lane is told by Close
	cl.in.left = func() { cl.end(context.Canceled, "abort") }
	return cl
}

// enterUploads waits for a place among the uploads.
func (cl *call) enterUploads() error {
	select {
	case cl.client.uploads <- struct{}{}:
	case <-cl.ctx.Done():
		return context.Cause(cl.ctx)
	}
	free := sync.OnceFunc(func() { <-cl.client.uploads })
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.freeUpload = free
	return nil
}

// leaveUploads gives the place back.
func (cl *call) leaveUploads() {
	cl.mu.Lock()
	free := cl.freeUpload
	cl.mu.Unlock()
	if free != nil {
		free()
	}
}

// abort ends the call because its caller went away.
func (cl *call) abort(err error) { cl.end(err, "abort") }

// end ends the call once. A reason is told to the host.
func (cl *call) end(err error, reason string) {
	cl.mu.Lock()
	if cl.over {
		cl.mu.Unlock()
		return
	}
	cl.over = true
	answered := cl.answered
	cl.answered = true
	stop := cl.stop
	cl.mu.Unlock()

	told := cl.client.forget(cl)
	if stop != nil {
		stop()
	}
	if !answered {
		cl.err = err
		close(cl.headed)
	}
	if err != nil {
		_, fromHost := err.(*Error)
		cl.in.fail(err, !fromHost)
	}
	if told && reason != "" {
		_ = cl.client.opts.Send(encodeCancel(cl.id, reason)) // a lost lane needs no word
	}
	cl.cancel()
	cl.leaveUploads()
	cl.free()
}

// hear takes a message of the host.
func (cl *call) hear(m *message, bad *Error) {
	switch {
	case m.kind == request || m.kind == body || m.kind == credit || m.kind == cancel || m.kind == unknown:
	case bad != nil:
		cl.broke(bad)
	case m.kind == failure:
		cl.end(&Error{m.status, m.code, m.text}, "")
	case m.kind == grant:
		if m.bytes > 0 && !cl.out.give(m.bytes) {
			cl.broke(protocolError("the window is too large"))
		}
	case m.kind == response:
		cl.head(m)
	case m.kind == data:
		cl.more(m)
	}
}

// broke ends the call because the host broke a rule.
func (cl *call) broke(why *Error) {
	cl.end(&Error{http.StatusBadGateway, CodeProtocol, why.Message}, "protocol")
}

// head takes the answer's head, and what came with it.
func (cl *call) head(m *message) {
	h := make(http.Header, len(m.headers))
	for _, e := range m.headers {
		h.Add(e.name, e.value)
	}
	resp := &http.Response{
		Status: strings.TrimSpace(strconv.Itoa(m.status) + " " + m.statusText), StatusCode: m.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: cl.in, ContentLength: contentLength(h, m), Request: cl.req, Trailer: http.Header{},
	}
	if bad := cl.in.first(m.data, m.end); bad != nil {
		cl.broke(bad)
		return
	}
	cl.mu.Lock()
	if cl.answered {
		cl.mu.Unlock()
		cl.broke(protocolError("the answer's head came twice"))
		return
	}
	cl.answered, cl.resp = true, resp
	if !m.end {
		cl.stop = context.AfterFunc(cl.req.Context(), func() { cl.abort(context.Cause(cl.req.Context())) })
	}
	cl.mu.Unlock()
	cl.finished(m)
	close(cl.headed)
}

// contentLength is the size of the answer's body where it is known.
func contentLength(h http.Header, m *message) int64 {
	if m.end {
		return int64(len(m.data))
	}
	if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		return n
	}
	return -1
}

// more takes a part of the answer's body.
func (cl *call) more(m *message) {
	cl.mu.Lock()
	answered := cl.answered && cl.resp != nil
	cl.mu.Unlock()
	if !answered {
		cl.broke(protocolError("a body came before its head"))
		return
	}
	if m.end {
		cl.trailers(m)
	}
	if bad := cl.in.chunk(m.seq, m.data, m.end); bad != nil {
		cl.broke(bad)
		return
	}
	cl.finished(m)
}

// trailers come before the body's end is seen, for a reader looks at them then.
func (cl *call) trailers(m *message) {
	for _, e := range m.trailers {
		cl.resp.Trailer.Add(e.name, e.value)
	}
}

// finished ends the call where the answer is whole.
func (cl *call) finished(m *message) {
	if m.end {
		if m.kind == response {
			cl.trailers(m)
		}
		cl.end(nil, "")
	}
}

// take waits until n bytes may be sent.
func (cl *call) take(n int64) error {
	if err := cl.out.take(cl.ctx, n); err != nil {
		return err
	}
	return cl.client.out.take(cl.ctx, n)
}

func (cl *call) chunk(size int) []byte {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	seq := cl.seq
	cl.seq++
	return appendChunk(make([]byte, 0, encoded(size)+128), "body", cl.id, seq)
}

// send sends the rest of the body. It ends with the request.
func (cl *call) send(rest io.ReadCloser) {
	defer cl.leaveUploads()
	stop := context.AfterFunc(cl.ctx, func() { _ = rest.Close() }) // so that Read returns
	defer func() {
		if stop() {
			_ = rest.Close()
		}
	}()
	buf := make([]byte, maxChunk)
	for {
		n, err := rest.Read(buf)
		if cl.ctx.Err() != nil {
			return
		}
		if err != nil && err != io.EOF {
			cl.end(err, "abort")
			return
		}
		if err == nil && n == 0 {
			continue
		}
		if cl.take(int64(n)) != nil {
			return
		}
		if failed := cl.client.opts.Send(finish(cl.chunk(n), buf[:n], err == io.EOF, nil)); failed != nil {
			cl.end(failed, "abort")
			return
		}
		if err == io.EOF {
			return
		}
	}
}

// fromHeader makes a message's headers. The host drops what is not a page's.
func fromHeader(h http.Header) (list []header) {
	for name, values := range h {
		for _, v := range values {
			list = append(list, header{strings.ToLower(name), v})
		}
	}
	slices.SortStableFunc(list, func(a, b header) int { return strings.Compare(a.name, b.name) })
	return list
}
