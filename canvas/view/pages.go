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
	Post(ctx context.Context, payload ahp.Value) error
	PostTo(ctx context.Context, to canvas.View, payload ahp.Value) error
}

// Options says what a Pages works with. Only To is required.
type Options struct {
	To Poster
	// OnMessage hears what a page sends that is not view/1, one message at a time
	// and in order; nil hears nothing. It must not wait for a View.
	OnMessage func(ctx context.Context, from canvas.View, payload ahp.Value)
	// NewID makes the ids of calls: unique, and not to be guessed; several
	// goroutines call it. The default is 128 random bits.
	NewID func() string
}

// maxCalls is how many actions are in flight or wait, at a time.
const maxCalls = 64

// Pages is the Views of one instance as those who run its actions. Make it with
// New. Its methods may be called concurrently.
type Pages struct {
	opts Options

	mu      sync.Mutex
	views   []canvas.View    // that said hello and live, in that order
	calls   map[string]*call // sent and not answered, by id
	busy    int              // calls that were begun and did not end, sent or not
	arrived chan struct{}    // closed when there is a View, or when all is closed
	closed  bool
}

// call is an action that a View was asked to run.
type call struct {
	to      canvas.View
	answers chan answer // of one
}

// The ways in which a call ends without an answer.
var (
	errNoPage  = canvas.Errorf(canvas.CodeTimeout, "no page has this canvas open")
	errSilent  = canvas.Errorf(canvas.CodeTimeout, "the page that has this canvas open did not answer in time")
	errLeft    = canvas.Errorf(canvas.CodeProviderUnavailable, "the page went away before it answered: whether the action happened is not known")
	errClosed  = canvas.Errorf(canvas.CodeProviderUnavailable, "the canvas is closed")
	errTooMany = canvas.Errorf(canvas.CodeLimitExceeded, "%d actions of this canvas are under way, no more are allowed at a time", maxCalls)
)

// New makes a Pages without Views.
func New(opts Options) *Pages {
	if opts.NewID == nil {
		opts.NewID = rand.Text
	}
	return &Pages{opts: opts, calls: map[string]*call{}, arrived: make(chan struct{})}
}

// Invoke has one page run an action, and returns its value: nil where it has
// none. Without a page it waits for one. Its errors are *canvas.Error: the
// page's own; canvas_timeout; canvas_provider_unavailable where the page went
// away; canvas_limit_exceeded where too much is under way or the input does not
// fit a message (64 KiB). A caller who is gone gets his context's cause.
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
		return nil, orTimeout(ctx, err, errNoPage)
	}
	if err := p.ask(ctx, c, toPage{Tag: tag, Type: "invoke", ID: id, Action: action, Input: input}); err != nil {
		return nil, err
	}
	select {
	case a := <-c.answers:
		return a.value, a.err
	case <-early.Done():
		return nil, orTimeout(ctx, early.Err(), errSilent)
	}
}

// ask sends a call to its View.
func (p *Pages) ask(ctx context.Context, c *call, m toPage) error {
	payload, err := ahp.Marshal(m)
	if err != nil {
		return canvas.Errorf(canvas.CodeInputInvalid, "the action cannot be written as JSON: %v", err)
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

// enter counts a call in.
func (p *Pages) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy >= maxCalls {
		return errTooMany
	}
	p.busy++
	return nil
}

// leave forgets a call: an answer that comes later is nobody's.
func (p *Pages) leave(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	delete(p.calls, id)
}

// assign gives a call to the earliest View, and waits for one where there is none.
func (p *Pages) assign(ctx context.Context, id string) (*call, error) {
	for {
		c, arrived, err := p.tryAssign(id)
		if c != nil || err != nil {
			return c, err
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
		return nil, p.arrived, nil
	}
	c := &call{to: p.views[0], answers: make(chan answer, 1)}
	p.calls[id] = c
	return c, nil, nil
}

// Message hears a View.
func (p *Pages) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	if !tagged(payload) {
		if p.opts.OnMessage != nil {
			p.opts.OnMessage(ctx, from, payload)
		}
		return
	}
	var m fromPage
	if ahp.Unmarshal(payload, &m) != nil {
		return // a page's mistake, and nobody who could be told of it
	}
	switch m.Type {
	case "hello":
		p.hello(from)
	case "bye":
		p.ViewGone(from)
	case "result", "error":
		p.answered(from, m.ID, m.answer())
	}
}

func (p *Pages) hello(from canvas.View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || slices.ContainsFunc(p.views, same(from)) {
		return // said twice: its place stays
	}
	p.views = append(p.views, from)
	if len(p.views) == 1 {
		close(p.arrived)
	}
}

// ViewGone forgets a View. What it was asked and did not answer has failed.
func (p *Pages) ViewGone(from canvas.View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.views)
	p.views = slices.DeleteFunc(p.views, same(from))
	if before > 0 && len(p.views) == 0 && !p.closed {
		p.arrived = make(chan struct{})
	}
	p.fail(errLeft, func(c *call) bool { return c.to.Conn == from.Conn })
}

// answered ends a call, where the View that speaks is the one that was asked.
func (p *Pages) answered(from canvas.View, id string, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.calls[id]
	if c == nil || c.to.Conn != from.Conn {
		return
	}
	delete(p.calls, id)
	c.answers <- a
}

// fail ends calls that were sent. The caller holds the lock.
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

// Close fails what is under way; there are no Views any more.
func (p *Pages) Close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	if len(p.views) == 0 {
		close(p.arrived)
	}
	p.views = nil
	p.fail(errClosed, func(*call) bool { return true })
	return nil
}

func same(v canvas.View) func(canvas.View) bool {
	return func(o canvas.View) bool { return o.Conn == v.Conn }
}
