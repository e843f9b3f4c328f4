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
	ctx    context.Context // canceled when the request ends
	cancel context.CancelFunc
	out    *window
	in     *bodyBuffer

	releaseSlot func() // lets another request begin; can be called more than once
	uploadSlot  func() // the same for uploads; nil if it is none

	headDone chan struct{} // closed when resp or err is set
	resp     *http.Response
	err      error

	mu       sync.Mutex
	answered bool
	over     bool
	seq      int64 // next number of a body message
	stop     func() bool
}

func newCall(c *Client, req *http.Request) *call {
	cl := &call{client: c, req: req, out: newWindow(streamWindow), headDone: make(chan struct{})}
	cl.ctx, cl.cancel = context.WithCancel(req.Context())
	cl.releaseSlot = sync.OnceFunc(func() { <-c.slots })
	cl.in = newBodyBuffer(-1, func(n int64) { _ = c.opts.Send(encodeAmounts("credit", cl.id, n, 0)) }) // after a lost connection, Close reports the failure
	cl.in.onClose = func() { cl.end(context.Canceled, "abort") }
	return cl
}

// acquireUpload waits until the number of uploads is below its limit.
func (cl *call) acquireUpload() error {
	select {
	case cl.client.uploads <- struct{}{}:
	case <-cl.ctx.Done():
		return context.Cause(cl.ctx)
	}
	free := sync.OnceFunc(func() { <-cl.client.uploads })
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.uploadSlot = free
	return nil
}

// releaseUpload ends the call's upload, if it is one.
func (cl *call) releaseUpload() {
	cl.mu.Lock()
	free := cl.uploadSlot
	cl.mu.Unlock()
	if free != nil {
		free()
	}
}

// abort ends the call because its caller stopped waiting.
func (cl *call) abort(err error) { cl.end(err, "abort") }

// end ends the call once. If reason is not empty, the host gets a cancel with it.
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
		close(cl.headDone)
	}
	if err != nil {
		_, fromHost := err.(*Error)
		cl.in.fail(err, !fromHost)
	}
	if told && reason != "" {
		_ = cl.client.opts.Send(encodeCancel(cl.id, reason)) // a lost connection needs no cancel
	}
	cl.cancel()
	cl.releaseUpload()
	cl.releaseSlot()
}

// receive handles a message of the host.
func (cl *call) receive(m *message, bad *Error) {
	switch {
	case m.kind == request || m.kind == body || m.kind == credit || m.kind == cancel || m.kind == unknown:
	case bad != nil:
		cl.violation(bad)
	case m.kind == failure:
		cl.end(&Error{m.status, m.code, m.text}, "")
	case m.kind == grant:
		if m.bytes > 0 && !cl.out.give(m.bytes) {
			cl.violation(protocolError("the credit exceeds the limit of a window"))
		}
	case m.kind == response:
		cl.head(m)
	case m.kind == data:
		cl.more(m)
	}
}

// violation ends the call because the host violated the protocol.
func (cl *call) violation(why *Error) {
	cl.end(&Error{http.StatusBadGateway, CodeProtocol, why.Message}, "protocol")
}

// head handles the response's head and the data in the same message.
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
		cl.violation(bad)
		return
	}
	cl.mu.Lock()
	if cl.answered {
		cl.mu.Unlock()
		cl.violation(protocolError("the response has two heads"))
		return
	}
	cl.answered, cl.resp = true, resp
	if !m.end {
		cl.stop = context.AfterFunc(cl.req.Context(), func() { cl.abort(context.Cause(cl.req.Context())) })
	}
	cl.mu.Unlock()
	cl.finished(m)
	close(cl.headDone)
}

// contentLength returns the size of the response's body, -1 if it is unknown.
func contentLength(h http.Header, m *message) int64 {
	if m.end {
		return int64(len(m.data))
	}
	if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		return n
	}
	return -1
}

// more handles a data message.
func (cl *call) more(m *message) {
	cl.mu.Lock()
	answered := cl.answered && cl.resp != nil
	cl.mu.Unlock()
	if !answered {
		cl.violation(protocolError("body data arrived before the response head"))
		return
	}
	if m.end {
		cl.trailers(m)
	}
	if bad := cl.in.chunk(m.seq, m.data, m.end); bad != nil {
		cl.violation(bad)
		return
	}
	cl.finished(m)
}

// trailers stores the trailers. This happens before the end of the body, after which a
// reader looks at them.
func (cl *call) trailers(m *message) {
	for _, e := range m.trailers {
		cl.resp.Trailer.Add(e.name, e.value)
	}
}

// finished ends the call if the response is complete.
func (cl *call) finished(m *message) {
	if m.end {
		if m.kind == response {
			cl.trailers(m)
		}
		cl.end(nil, "")
	}
}

// take waits until n bytes can be sent.
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

// send sends the rest of the body. It returns when the request ends.
func (cl *call) send(rest io.ReadCloser) {
	defer cl.releaseUpload()
	stop := context.AfterFunc(cl.ctx, func() { _ = rest.Close() }) // unblocks Read
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

// fromHeader converts headers for a message. The host drops those that a page may not
// set.
func fromHeader(h http.Header) (list []header) {
	for name, values := range h {
		for _, v := range values {
			list = append(list, header{strings.ToLower(name), v})
		}
	}
	slices.SortStableFunc(list, func(a, b header) int { return strings.Compare(a.name, b.name) })
	return list
}
