package bridge

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// answer is an app's response on its way to the page.
type answer struct {
	*stream
	resp *http.Response

	// mu is held while something is sent, which may wait for a window. Beside the
	// stream's goroutine there is the timer that ends the gathering.
	mu       sync.Mutex
	head     []byte // encoded, until it is sent; nil after
	seq      int64
	space    *scratch // nil where there is no body
	from, to int      // of the space's chunk: read and not sent
	over     bool
}

// scratch is what an answer's body passes through: what was read of it, and the
// message around that.
type scratch struct {
	chunk   [maxAsked]byte
	message [maxMessage]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// pass sends a response on. Its error is why the request failed.
func (a *answer) pass(resp *http.Response) error {
	a.resp = resp
	body, err := a.prepare()
	if err != nil {
		return err
	}
	if body == nil {
		return a.flush(true, nil)
	}
	a.space = scratches.Get().(*scratch)
	defer scratches.Put(a.space)
	stop := a.gather()
	defer stop()
	return a.pump(body)
}

// prepare makes the head, and says what to read; nil is no body.
func (a *answer) prepare() (io.Reader, error) {
	resp := a.resp
	if resp.StatusCode < 200 || resp.StatusCode > 599 {
		return nil, broken("the app's answer has a status that cannot be passed on")
	}
	if err := relocate(resp.StatusCode, resp.Header, a.req.URL); err != nil {
		return nil, err
	}
	null := a.req.Method == http.MethodHead || nullBody(resp.StatusCode)
	body, decodes, err := decoded(resp)
	if err != nil && !null {
		return nil, err
	}
	// A length is of the body that is sent, and HEAD's of the one that would be.
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

// nullBody are statuses whose answer has no body in a browser, or none that
// anybody would read.
func nullBody(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent || status/100 == 3
}

// statusText is what follows the status in the status line.
func statusText(resp *http.Response) string {
	_, s, _ := strings.Cut(resp.Status, " ")
	if len(s) > 64 || !printable(s) {
		return ""
	}
	return s
}

// gather has the head wait a moment for the body, so that both are one message
// where it is small. What was read when the moment is over is sent then: nobody
// may wait for the next bytes of a slow app. stop ends the timer and waits for it.
func (a *answer) gather() (stop func()) {
	if strings.HasPrefix(strings.ToLower(a.resp.Header.Get("Content-Type")), "text/event-stream") {
		_ = a.locked(func() error { return a.flush(false, nil) }) // pump meets the same error
		return func() {}
	}
	running := &a.lane.server.running
	running.Add(1)
	timer := time.AfterFunc(a.lane.server.opts.Gather, func() {
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

// pump reads until the end.
func (a *answer) pump(body io.Reader) error {
	for {
		n, err := body.Read(a.space.chunk[a.to:a.most]) // the timer moves from alone
		if failed := a.locked(func() error { return a.took(n, err) }); failed != nil {
			return failed
		}
		if err == io.EOF {
			return nil
		}
	}
}

// took sends what was read on, unless the head still waits and there is room.
func (a *answer) took(n int, err error) error {
	a.to += n
	switch {
	case err == io.EOF:
		trailers, ok := toPage(a.resp.Trailer, false)
		if !ok {
			trailers = nil // the body is whole
		}
		return a.flush(true, trailers)
	case err == nil && a.head != nil && a.to < a.most:
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

// brokenBody says why a body ended before its end.
func brokenBody(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return errEndedEarly
}

// flush sends the head, if it was not sent, with what was read. The trailers go
// alone where they would not fit.
func (a *answer) flush(end bool, trailers []header) error {
	var data []byte
	if a.space != nil {
		data = a.space.chunk[a.from:a.to]
	}
	a.from = a.to
	if err := a.reserve(len(data)); err != nil {
		return err
	}
	if end {
		a.lane.ended(a.stream) // before the page hears of it and sends the next
	}
	head := a.head
	a.head = nil
	if head != nil && (len(data) > 0 || len(trailers) > 0) && !room(head, len(data)+2*headerRoom(trailers)) {
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

// chunk begins the next data message, where the last one stood.
func (a *answer) chunk() []byte {
	seq := a.seq
	a.seq++
	return appendChunk(a.space.message[:0], "data", a.id, seq)
}

// reserve waits until n bytes may be sent. The lane comes last: what is taken
// from it must not wait for a reader.
func (a *answer) reserve(n int) error {
	if err := a.out.take(a.ctx, int64(n)); err != nil {
		return err
	}
	return a.lane.out.take(a.ctx, int64(n))
}

// post sends, whatever became of the request meanwhile: the page gives back what
// of the lane it gets, and what was taken of it for this message would be lost.
func (a *answer) post(payload []byte) error {
	if !a.lane.server.send(a.lane.view, payload) {
		a.cancel(errCancelled)
		return errCancelled
	}
	return nil
}
