package bridge

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// answer sends an app's response to the page.
type answer struct {
	*stream
	resp *http.Response

	// mu is held while sending, which can wait for a window. It is shared by the
	// stream's goroutine and the timer of delayHead.
	mu       sync.Mutex
	head     []byte // encoded; nil once it is sent
	seq      int64
	scratch  *scratch // nil without a body
	from, to int      // the bytes of scratch.chunk that are read and not sent
	over     bool
}

// scratch holds the buffers of one response: the bytes read from its body, and the
// message around them.
type scratch struct {
	chunk   [maxLargeChunk]byte
	message [maxMessage]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// forward sends a response to the page. On error the request failed.
func (a *answer) forward(resp *http.Response) error {
	a.resp = resp
	body, err := a.prepare()
	if err != nil {
		return err
	}
	if body == nil {
		return a.flush(true, nil)
	}
	a.scratch = scratches.Get().(*scratch)
	defer scratches.Put(a.scratch)
	stop := a.delayHead()
	defer stop()
	return a.copyBody(body)
}

// prepare encodes the head, and returns the body to send; nil is none.
func (a *answer) prepare() (io.Reader, error) {
	resp := a.resp
	if resp.StatusCode < 200 || resp.StatusCode > 599 {
		return nil, badResponse("the app's response has an invalid status")
	}
	if err := relocate(resp.StatusCode, resp.Header, a.req.URL); err != nil {
		return nil, err
	}
	null := a.req.Method == http.MethodHead || nullBody(resp.StatusCode)
	body, decodes, err := decoded(resp)
	if err != nil && !null {
		return nil, err
	}
	// Content-Length must be that of the sent body; for HEAD, of the body that GET has.
	headers, ok := toPage(resp.Header, decodes || null && a.req.Method != http.MethodHead)
	if !ok {
		return nil, errBigHead
	}
	a.head = appendHead(a.id, resp.StatusCode, statusText(resp), headers)
	if null {
		return nil, nil
	}
	return body, nil
}

// nullBody reports whether responses with this status have no body in a browser, or one
// that is never read.
func nullBody(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent || status/100 == 3
}

// statusText returns the reason phrase of the status line.
func statusText(resp *http.Response) string {
	_, s, _ := strings.Cut(resp.Status, " ")
	if len(s) > 64 || !printable(s) {
		return ""
	}
	return s
}

// delayHead delays the head for Options.Gather, so that a small body can be in the same
// message. Afterwards the head and all bytes that were read are sent at once: a page
// must not wait for the next bytes of a slow app. stop stops the timer and waits for
// it.
func (a *answer) delayHead() (stop func()) {
	if strings.HasPrefix(strings.ToLower(a.resp.Header.Get("Content-Type")), "text/event-stream") {
		_ = a.locked(func() error { return a.flush(false, nil) }) // copyBody gets the same error
		return func() {}
	}
	running := &a.conn.server.running
	running.Add(1)
	timer := time.AfterFunc(a.conn.server.opts.Gather, func() {
		defer running.Done()
		_ = a.locked(func() error {
			if a.head == nil || a.over {
				return nil
			}
			return a.flush(false, nil)
		})
	})
	return func() {
		_ = a.locked(func() error { a.over = true; return nil })
		if timer.Stop() {
			running.Done()
		}
	}
}

func (a *answer) locked(fn func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fn()
}

// copyBody sends the body until its end.
func (a *answer) copyBody(body io.Reader) error {
	for {
		n, err := body.Read(a.scratch.chunk[a.to:a.chunkLimit]) // the timer only changes from
		if failed := a.locked(func() error { return a.consume(n, err) }); failed != nil {
			return failed
		}
		if err == io.EOF {
			return nil
		}
	}
}

// consume sends bytes that were read, unless the head is still delayed and the buffer
// has space.
func (a *answer) consume(n int, err error) error {
	a.to += n
	switch {
	case err == io.EOF:
		trailers, ok := toPage(a.resp.Trailer, false)
		if !ok {
			trailers = nil // the body is complete, so it is not failed for them
		}
		return a.flush(true, trailers)
	case err == nil && a.head != nil && a.to < a.chunkLimit:
		return nil
	}
	if failed := a.flush(false, nil); failed != nil {
		return failed
	}
	a.from, a.to = 0, 0
	if err != nil {
		return brokenBody(err)
	}
	return nil
}

// brokenBody returns the error of a body that ended early.
func brokenBody(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return errEndedEarly
}

// flush sends the head, if it is not sent yet, and the bytes that were read. Trailers
// are sent in a separate message if they do not fit.
func (a *answer) flush(end bool, trailers []header) error {
	var data []byte
	if a.scratch != nil {
		data = a.scratch.chunk[a.from:a.to]
	}
	a.from = a.to
	if err := a.reserve(len(data)); err != nil {
		return err
	}
	if end {
		a.conn.ended(a.stream) // before the page learns of it and sends another request
	}
	head := a.head
	a.head = nil
	if head != nil && (len(data) > 0 || len(trailers) > 0) && !fits(head, len(data)+2*headersSize(trailers)) {
		if err := a.post(finish(head, nil, false, nil)); err != nil {
			return err
		}
		head = nil
	} else if head == nil && len(data) == 0 && !end {
		return nil
	}
	if head == nil && len(data) > 0 && len(trailers) > 0 {
		if err := a.post(finish(a.chunk(), data, false, nil)); err != nil {
			return err
		}
		data = nil
	}
	if head == nil {
		head = a.chunk()
	}
	return a.post(finish(head, data, end, trailers))
}

// chunk begins the next data message, and reuses the buffer of the last one.
func (a *answer) chunk() []byte {
	seq := a.seq
	a.seq++
	return appendChunk(a.scratch.message[:0], "data", a.id, seq)
}

// reserve waits until n bytes can be sent. It takes from the connection's window last,
// because bytes taken from it must not wait for a reader.
func (a *answer) reserve(n int) error {
	if err := a.out.take(a.ctx, int64(n)); err != nil {
		return err
	}
	return a.conn.out.take(a.ctx, int64(n))
}

// post sends a message, even if the request was canceled meanwhile: bytes taken from
// the connection's window return only if the page receives them.
func (a *answer) post(payload []byte) error {
	if !a.conn.server.send(a.conn.view, payload) {
		a.cancel(errCanceled)
		return errCanceled
	}
	return nil
}
