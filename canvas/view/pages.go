package view

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Poster sends payloads to Views; *canvas.Handle is one.
type Poster interface {
	// Post sends a payload to all Views.
	Post(ctx context.Context, payload ahp.Value) error
	// PostTo sends a payload to one View.
	PostTo(ctx context.Context, to canvas.View, payload ahp.Value) error
}

// Options configures a Pages. To is required.
type Options struct {
	// To sends to the instance's Views.
	To Poster
	// OnMessage, if not nil, receives payloads of pages that are not view/1, one at a
	// time and in order. It must not wait for a View.
	OnMessage func(ctx context.Context, from canvas.View, payload ahp.Value)
	// NewID returns ids for calls, which must be unique and hard to guess. It is called
	// concurrently. The default is 128 random bits.
	NewID func() string
}

// maxCalls is the limit of actions that are in flight or wait for a View.
const maxCalls = 64

// Pages runs the actions of one instance in the pages of its Views. Make it with New.
// It is safe for concurrent use.
type Pages struct {
	opts Options

	mu        sync.Mutex
	views     []canvas.View    // Views that said hello, in that order
	calls     map[string]*call // sent calls without an answer, by id
	pending   int              // calls in progress, sent or waiting
	available chan struct{}    // closed when there is a View, or on Close
	closed    bool
}

// call is an action that was sent to a View.
type call struct {
	to      canvas.View
	answers chan answer // capacity 1
}

// The errors of calls without an answer. Providers that speak another protocol to agents
// compare them by identity (==), because errors.Is compares only their codes.
var (
	// ErrNoView means that no View has the canvas open, so the action was not sent.
	ErrNoView = canvas.Errorf(canvas.CodeTimeout, "no page has this canvas open; ask the person to open it")
	// ErrSilent means that the View that was asked did not answer in time.
	ErrSilent = canvas.Errorf(canvas.CodeTimeout, "the page that has this canvas open did not answer in time")
	// ErrLeft means that the View that was asked left before it answered.
	ErrLeft = canvas.Errorf(canvas.CodeProviderUnavailable, "the page was closed before it answered; the action may have been done anyway")

	errClosed  = canvas.Errorf(canvas.CodeProviderUnavailable, "the canvas is closed")
	errTooMany = canvas.Errorf(canvas.CodeLimitExceeded, "this canvas already runs %d actions, which is the limit; wait for one to end", maxCalls)
)

// New returns a Pages without Views.
func New(opts Options) *Pages {
	if opts.NewID == nil {
		opts.NewID = rand.Text
	}
	return &Pages{opts: opts, calls: map[string]*call{}, available: make(chan struct{})}
}

// Invoke runs an action in one page and returns its value, nil if it has none. Without
// a View it waits for one. Its errors are *canvas.Error: the page's own;
// canvas_timeout; canvas_provider_unavailable if the View left; canvas_limit_exceeded
// if too many actions are in flight or the input does not fit a message (64 KiB). If
// the caller cancels ctx, the error is the context's cause.
func (p *Pages) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	early, stop := beforeDeadline(ctx)
	defer stop()
	if err := p.enter(); err != nil {
		return nil, err
	}
	id := p.opts.NewID()
	defer p.leave(id)
	c, err := p.assign(early, id)
	if err != nil {
		return nil, waitError(ctx, err, ErrNoView)
	}
	if err := p.send(ctx, c, toPage{Tag: tag, Type: "invoke", ID: id, Action: action, Input: input}); err != nil {
		return nil, err
	}
	select {
	case a := <-c.answers:
		return a.value, a.err
	case <-early.Done():
		return nil, waitError(ctx, early.Err(), ErrSilent)
	}
}

// send sends a call to its View.
func (p *Pages) send(ctx context.Context, c *call, m toPage) error {
	payload, err := ahp.Marshal(m)
	if err != nil {
		return canvas.Errorf(canvas.CodeInputInvalid, "the action's input is not JSON: %v", err)
	}
	err = p.opts.To.PostTo(ctx, c.to, payload)
	switch {
	case errors.Is(err, canvas.ErrHandleClosed):
		return errClosed
	case err != nil:
		return canvas.Errorf(canvas.CodeLimitExceeded, "the action cannot be sent to the page: %v", err)
	}
	return nil
}

// enter counts a new call.
func (p *Pages) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending >= maxCalls {
		return errTooMany
	}
	p.pending++
	return nil
}

// leave removes a call; a later answer is ignored.
func (p *Pages) leave(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending--
	delete(p.calls, id)
}

// assign assigns a call to the earliest View. If there is none, it tells the renderers that
// an action waits, because they might have unloaded the page, and waits for a View.
func (p *Pages) assign(ctx context.Context, id string) (*call, error) {
	for wanted := false; ; wanted = true {
		c, arrived, err := p.tryAssign(id)
		if c != nil || err != nil {
			return c, err
		}
		if !wanted {
			// An error means that the renderers do not learn of it; the deadline still holds.
			_ = p.opts.To.Post(ctx, ahp.MustMarshal(toPage{Tag: tag, Type: "wanted"}))
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (p *Pages) tryAssign(id string) (*call, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, errClosed
	}
	if len(p.views) == 0 {
		return nil, p.available, nil
	}
	c := &call{to: p.views[0], answers: make(chan answer, 1)}
	p.calls[id] = c
	return c, nil, nil
}

// Message handles a payload of a View: view/1 messages are for Pages, others for
// Options.OnMessage.
func (p *Pages) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	if !tagged(payload) {
		if p.opts.OnMessage != nil {
			p.opts.OnMessage(ctx, from, payload)
		}
		return
	}
	var m fromPage
	if ahp.Unmarshal(payload, &m) != nil {
		return // invalid, and view/1 has no error for it
	}
	switch m.Type {
	case "hello":
		p.hello(from)
	case "bye":
		p.ViewGone(from)
	case "result", "error":
		p.deliver(from, m.ID, m.answer())
	}
}

func (p *Pages) hello(from canvas.View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || from.ReadOnly() || slices.ContainsFunc(p.views, same(from)) {
		return // it cannot answer, or said hello before
	}
	p.views = append(p.views, from)
	if len(p.views) == 1 {
		close(p.available)
	}
}

// ViewGone removes a View. Its unanswered calls fail.
func (p *Pages) ViewGone(from canvas.View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.views)
	p.views = slices.DeleteFunc(p.views, same(from))
	if before > 0 && len(p.views) == 0 && !p.closed {
		p.available = make(chan struct{})
	}
	p.fail(ErrLeft, func(c *call) bool { return c.to.Conn == from.Conn })
}

// deliver completes a call if the answer comes from the View that was asked.
func (p *Pages) deliver(from canvas.View, id string, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.calls[id]
	if c == nil || c.to.Conn != from.Conn {
		return
	}
	delete(p.calls, id)
	c.answers <- a
}

// fail completes sent calls with an error. The caller holds the lock.
func (p *Pages) fail(why error, which func(*call) bool) {
	for id, c := range p.calls {
		if which(c) {
			delete(p.calls, id)
			c.answers <- answer{err: why}
		}
	}
}

// Reload asks the named Views to load their page again, keeping its scroll
// position. Without arguments it asks every View, including those that never said
// hello and those that reconnect later. The error joins what could not be sent:
// a named View that has disconnected is not an error, the zero View is.
func (p *Pages) Reload(to ...canvas.View) error {
	payload := ahp.MustMarshal(toPage{Tag: tag, Type: "reload"})
	if len(to) == 0 {
		return p.opts.To.Post(context.Background(), payload)
	}
	var errs []error
	for _, v := range to {
		errs = append(errs, p.opts.To.PostTo(context.Background(), v, payload))
	}
	return errors.Join(errs...)
}

// Close fails all calls and removes the Views.
func (p *Pages) Close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	if len(p.views) == 0 {
		close(p.available)
	}
	p.views = nil
	p.fail(errClosed, func(*call) bool { return true })
	return nil
}

func same(v canvas.View) func(canvas.View) bool {
	return func(o canvas.View) bool { return o.Conn == v.Conn }
}
