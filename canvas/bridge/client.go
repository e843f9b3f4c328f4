package bridge

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// ClientOptions says what a Client works with. Send is required.
type ClientOptions struct {
	// Send sends a payload as a canvas/message of the View, of which it may keep
	// the bytes. An error fails the request.
	Send func(payload ahp.Value) error
	// Requests is how many are under way at a time; 256, which is what a host
	// allows. More wait for their turn.
	Requests int
	// Uploads is how many of them send a body that does not fit their first
	// message; 32 likewise.
	Uploads int
}

// Client is a page's side of http/1: an http.RoundTripper whose requests are
// messages. Scheme and host of a request do not count: the app is the one behind
// the canvas. Make it with [NewClient], and a new one for each connection; end it
// with Close. Its methods may be called concurrently; Message gets what the host
// says in its order.
type Client struct {
	opts    ClientOptions
	out     *window // the lane's, to the host
	slots   chan struct{}
	uploads chan struct{}
	sending sync.WaitGroup // of bodies

	sendMu sync.Mutex // held from making an id to sending it: ids go up

	mu       sync.Mutex
	last     int64
	calls    map[int64]*call
	received int64
	closed   error
}

// ErrLost is what requests fail with when their lane ended.
var ErrLost = errors.New("bridge: the connection to the canvas was lost")

// NewClient makes a client.
func NewClient(opts ClientOptions) *Client {
	if opts.Send == nil {
		panic("bridge: ClientOptions need Send")
	}
	return &Client{
		opts: opts, out: newLane(laneToHost), calls: map[int64]*call{},
		slots: make(chan struct{}, cmp.Or(opts.Requests, 256)), uploads: make(chan struct{}, cmp.Or(opts.Uploads, 32)),
	}
}

// RoundTrip sends a request and waits for the head of its answer. An error that
// the host tells of is an *[Error], before the head and while the body is read.
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
	case <-cl.headed:
	case <-req.Context().Done():
		cl.abort(req.Context().Err())
	}
	<-cl.headed
	return cl.resp, cl.err
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // it was not sent
	}
}

// Message hears the host. It reports whether the payload is of http/1.
func (c *Client) Message(payload ahp.Value) bool {
	m, ours, bad := decode(payload)
	if !ours {
		return false
	}
	c.mu.Lock()
	cl := c.calls[m.id]
	back := int64(0)
	if m.kind == response || m.kind == data {
		if c.received += int64(len(m.data)); c.received >= giveBackPage {
			back, c.received = c.received, 0
		}
	}
	c.mu.Unlock()
	if back > 0 {
		_ = c.opts.Send(encodeGive("credit", 0, 0, back)) // a lost lane is told by Close
	}
	if m.kind == grant && bad == nil && m.lane > 0 {
		c.out.give(m.lane)
	}
	if cl != nil {
		cl.hear(&m, bad)
	}
	return true
}

// Refused hears of a message of the client's that the host did not take (an echo
// with a rejectionReason): its request fails with code busy.
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
		cl.end(&Error{http.StatusServiceUnavailable, CodeBusy, "the host did not take the request"}, "abort")
	}
}

// Close fails what is under way with ErrLost, and waits until nothing is sent any
// more. Bodies of requests must not block in Read after their Close.
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
	m := message{kind: request, method: cmp.Or(req.Method, http.MethodGet), path: req.URL.RequestURI(), headers: fromHeader(req.Header), chunk: maxAsked}
	first, rest, err := firstBytes(req)
	if err != nil {
		return err
	}
	m.length = knownLength(req, len(first), rest == nil)
	if rest != nil {
		if err := cl.enterUploads(); err != nil {
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

// announce gives the request its id and sends it. Where it does, Close waits
// until sending is Done.
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
	if !room(head, len(first)) {
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

// forget takes a call out, and reports whether it was there.
func (c *Client) forget(cl *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[cl.id] != cl {
		return false
	}
	delete(c.calls, cl.id)
	return true
}

// firstBytes reads what goes with the request; rest is nil where that is all.
func firstBytes(req *http.Request) (first []byte, rest io.ReadCloser, err error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil, nil
	}
	if req.ContentLength <= 0 || req.ContentLength > maxChunk {
		return nil, req.Body, nil // reading could wait for ever
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
