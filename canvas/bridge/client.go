package bridge

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// ClientOptions configures a Client. Send is required.
type ClientOptions struct {
	// Send sends a payload as a canvas/message of the View. It may keep the bytes. An
	// error fails the request.
	Send func(payload ahp.Value) error
	// Requests is the limit of concurrent requests; others wait. The default, 256, is
	// the limit of a host.
	Requests int
	// Uploads is the limit of concurrent requests whose body does not fit their first
	// message. The default, 32, is the limit of a host.
	Uploads int
}

// Client is the page's side of http/1: an http.RoundTripper that sends requests as
// messages. The scheme and host of a request are ignored: the server is the app behind
// the canvas. Make a Client with [NewClient] for each connection, and Close it when the
// connection is lost. It is safe for concurrent use, but Message must be called with
// the host's messages in their order.
type Client struct {
	opts    ClientOptions
	out     *window // the connection's window, to the host
	slots   chan struct{}
	uploads chan struct{}
	sending sync.WaitGroup // goroutines that send bodies

	sendMu sync.Mutex // held from assigning an id to sending it, because ids must increase

	mu       sync.Mutex
	last     int64
	calls    map[int64]*call
	received int64
	closed   error
}

// ErrLost is the error of requests that were active when the Client was closed.
var ErrLost = errors.New("bridge: the connection to the canvas was lost")

// NewClient returns a Client. It panics if opts.Send is nil.
func NewClient(opts ClientOptions) *Client {
	if opts.Send == nil {
		panic("bridge: ClientOptions need Send")
	}
	return &Client{
		opts: opts, out: newConnWindow(connToHost), calls: map[int64]*call{},
		slots: make(chan struct{}, cmp.Or(opts.Requests, 256)), uploads: make(chan struct{}, cmp.Or(opts.Uploads, 32)),
	}
}

// RoundTrip sends a request and waits for the head of its response. An error that the
// host reports is an *[Error], here and while the body is read.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case c.slots <- struct{}{}:
	case <-req.Context().Done():
		closeBody(req)
		return nil, req.Context().Err()
	}
	cl := newCall(c, req)
	if err := c.begin(cl); err != nil {
		cl.end(err, "")
		closeBody(req)
		return nil, err
	}
	select {
	case <-cl.headDone:
	case <-req.Context().Done():
		cl.abort(req.Context().Err())
	}
	<-cl.headDone
	return cl.resp, cl.err
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // the body was not sent
	}
}

// Message handles a payload from the host. It returns false if the payload is not
// http/1.
func (c *Client) Message(payload ahp.Value) bool {
	m, ours, bad := decode(payload)
	if !ours {
		return false
	}
	c.mu.Lock()
	cl := c.calls[m.id]
	back := int64(0)
	if m.kind == response || m.kind == data {
		if c.received += int64(len(m.data)); c.received >= ackPage {
			back, c.received = c.received, 0
		}
	}
	c.mu.Unlock()
	if back > 0 {
		_ = c.opts.Send(encodeAmounts("credit", 0, 0, back)) // after a lost connection, Close reports the failure
	}
	if m.kind == grant && bad == nil && m.lane > 0 {
		c.out.give(m.lane)
	}
	if cl != nil {
		cl.receive(&m, bad)
	}
	return true
}

// Refused handles one of the client's messages that the host rejected (its echo has a
// rejectionReason): the request fails with code busy.
func (c *Client) Refused(payload ahp.Value) {
	m, ours, _ := decode(payload)
	if !ours || m.kind != request && m.kind != body && m.kind != credit {
		return
	}
	if len(m.data) > 0 {
		c.out.give(int64(len(m.data)))
	}
	c.mu.Lock()
	cl := c.calls[m.id]
	c.mu.Unlock()
	if cl != nil {
		cl.end(&Error{http.StatusServiceUnavailable, CodeBusy, "the host rejected the request"}, "abort")
	}
}

// Close fails all requests with ErrLost, and waits until no goroutine sends a body. A
// request's body must not block in Read after its Close.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = ErrLost
	var calls []*call
	for _, cl := range c.calls {
		calls = append(calls, cl)
	}
	c.mu.Unlock()
	for _, cl := range calls {
		cl.end(ErrLost, "")
	}
	c.sending.Wait()
}

// begin sends the first message of a request.
func (c *Client) begin(cl *call) error {
	req := cl.req
	m := message{kind: request, method: cmp.Or(req.Method, http.MethodGet), path: req.URL.RequestURI(), headers: fromHeader(req.Header), chunk: maxLargeChunk}
	first, rest, err := firstBytes(req)
	if err != nil {
		return err
	}
	m.length = knownLength(req, len(first), rest == nil)
	if rest != nil {
		if err := cl.acquireUpload(); err != nil {
			return err
		}
	}
	if err := cl.take(int64(len(first))); err != nil {
		return err
	}
	if err := c.announce(cl, &m, first, rest == nil); err != nil {
		return err
	}
	defer c.sending.Done()
	if rest != nil {
		c.sending.Go(func() { cl.send(rest) })
	}
	return nil
}

// announce assigns the request's id and sends the request. On success, the caller must
// call sending.Done, for which Close waits.
func (c *Client) announce(cl *call, m *message, first []byte, end bool) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	c.mu.Lock()
	if c.closed != nil {
		c.mu.Unlock()
		return c.closed
	}
	c.last++
	m.id, cl.id = c.last, c.last
	c.calls[cl.id] = cl
	c.sending.Add(1)
	c.mu.Unlock()
	head := appendRequest(m)
	inline := first
	if !fits(head, len(first)) {
		inline = nil
	}
	err := c.opts.Send(finish(head, inline, end && len(inline) == len(first), nil))
	if err == nil && len(inline) < len(first) {
		err = c.opts.Send(finish(cl.chunk(len(first)), first, end, nil))
	}
	if err != nil {
		c.sending.Done()
	}
	return err
}

// forget removes a call, and reports whether it was registered.
func (c *Client) forget(cl *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[cl.id] != cl {
		return false
	}
	delete(c.calls, cl.id)
	return true
}

// firstBytes reads the part of the body that is sent with the request; rest is nil if
// that is all of it.
func firstBytes(req *http.Request) (first []byte, rest io.ReadCloser, err error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil, nil
	}
	if req.ContentLength <= 0 || req.ContentLength > maxChunk {
		return nil, req.Body, nil // reading it here could block
	}
	first = make([]byte, req.ContentLength)
	if _, err := io.ReadFull(req.Body, first); err != nil {
		return nil, nil, err
	}
	return first, nil, req.Body.Close()
}

func knownLength(req *http.Request, first int, whole bool) int64 {
	switch {
	case whole && first == 0:
		return -1
	case whole:
		return int64(first)
	case req.ContentLength > 0:
		return req.ContentLength
	}
	return -1
}
