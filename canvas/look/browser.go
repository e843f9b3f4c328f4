package look

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// The limits of a browser.
const (
	// LookTime is how long one look can take once the browser runs.
	LookTime = 10 * time.Second
	// StartTime is how long the browser can take to start.
	StartTime = 20 * time.Second
	// IdleTime is for how long the browser is kept without a look.
	IdleTime = 5 * time.Minute
	// MaxMemory is how much memory the browser's processes can take, in bytes, on Linux; see
	// the package for other systems.
	MaxMemory = 1 << 30
	// atOnce is how many looks run at a time; others wait for LookTime at most.
	atOnce = 2
)

var (
	// ErrClosed is the error of a Browser that was closed.
	ErrClosed = errors.New("look: the browser is closed")
	// ErrBusy is the error of a look that waited too long for others.
	ErrBusy = errors.New("look: other looks did not end in time; try again")
	// ErrMemory is the error of a look whose page took too much memory.
	ErrMemory = fmt.Errorf("look: the page took more than %d MiB of memory, and the browser was ended", MaxMemory>>20)
	// ErrTime is the error of a look whose page did not respond.
	ErrTime = fmt.Errorf("look: the page did not respond within %v, and the browser was ended", LookTime)
)

// Browser renders canvases. Its methods may be called concurrently.
type Browser struct {
	program string
	limit   time.Duration                                               // LookTime, or a test's
	places  chan struct{}                                               // holds one value for each look that runs
	start   func(ctx context.Context, address *url.URL) (engine, error) // launch, or a test's

	mu     sync.Mutex
	run    *run
	closed bool
	idle   *time.Timer
	ending sync.WaitGroup // runs that are being ended
}

// engine is a running browser.
type engine interface {
	shoot(ctx context.Context, args canvas.ShotArgs) (canvas.Shot, error)
	ended() bool // it cannot be used any more
	end()        // kills it with its children, and waits; may be called twice
}

// run is the process in use.
type run struct {
	origin string
	ready  chan struct{} // closed when engine or err is set
	engine engine
	err    error
	users  int // looks in it
}

// New returns a Browser of a program, which [Find] returns. It starts nothing.
func New(program string) *Browser {
	b := &Browser{program: program, limit: LookTime, places: make(chan struct{}, atOnce)}
	b.start = b.launch
	return b
}

// Shoot renders a page and returns what it shows.
func (b *Browser) Shoot(ctx context.Context, args canvas.ShotArgs) (canvas.Shot, error) {
	address, err := url.Parse(args.URL)
	if err != nil || address.Scheme != "http" || address.Port() == "" {
		return canvas.Shot{}, errors.New("look: the host has no address on this machine")
	}
	waiting, cancel := context.WithTimeout(ctx, LookTime)
	defer cancel()
	select {
	case b.places <- struct{}{}:
		defer func() { <-b.places }()
	case <-waiting.Done():
		if ctx.Err() != nil {
			return canvas.Shot{}, ctx.Err()
		}
		return canvas.Shot{}, ErrBusy
	}
	r, err := b.enter(ctx, address, args.Starting)
	if err != nil {
		return canvas.Shot{}, err
	}
	looking, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	shot, err := r.engine.shoot(looking, args)
	late := err != nil && looking.Err() != nil
	b.leave(r, err != nil)
	switch {
	case ctx.Err() != nil:
		return canvas.Shot{}, ctx.Err()
	case late:
		return canvas.Shot{}, ErrTime
	}
	return shot, err
}

// enter returns the running browser, and starts it first if there is none for the origin.
func (b *Browser) enter(ctx context.Context, address *url.URL, starting func()) (*run, error) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, ErrClosed
	}
	r, first := b.run, false
	if r == nil || r.origin != address.Host || r.over() {
		b.drop(r)
		r, first = &run{origin: address.Host, ready: make(chan struct{})}, true
		b.run = r
		b.ending.Go(func() { b.begin(r, address) })
	}
	r.users++
	if b.idle != nil {
		b.idle.Stop()
	}
	b.mu.Unlock()
	if first && starting != nil {
		starting()
	}
	select {
	case <-r.ready:
		if r.err == nil {
			return r, nil
		}
		b.leave(r, true)
		return nil, r.err
	case <-ctx.Done():
		b.leave(r, false)
		return nil, ctx.Err()
	}
}

// over reports whether the process of a run has ended. mu is held.
func (r *run) over() bool {
	select {
	case <-r.ready:
		return r.err != nil || r.engine.ended()
	default:
		return false
	}
}

// begin starts the process of a run. It is not bound to the look that asked for it.
func (b *Browser) begin(r *run, address *url.URL) {
	ctx, cancel := context.WithTimeout(context.Background(), StartTime)
	defer cancel()
	engine, err := b.start(ctx, address)
	b.mu.Lock()
	defer b.mu.Unlock()
	r.engine, r.err = engine, err
	close(r.ready)
	if b.run != r && engine != nil { // dropped meanwhile
		b.ending.Go(engine.end)
	}
}

// leave ends a look. A browser in which a look failed is not used again.
func (b *Browser) leave(r *run, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.users--
	if failed && b.run == r {
		b.drop(r)
	}
	if b.run == r && r.users == 0 {
		b.idle = time.AfterFunc(IdleTime, func() { b.endIdle(r) })
	}
}

func (b *Browser) endIdle(r *run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.run == r && r.users == 0 {
		b.drop(r)
	}
}

// drop ends a run, also under looks that are still in it. mu is held.
func (b *Browser) drop(r *run) {
	if r == nil || b.run != r {
		return
	}
	b.run = nil
	select {
	case <-r.ready:
		if r.engine != nil {
			b.ending.Go(r.engine.end)
		}
	default: // begin ends it
	}
}

// Close ends the browser and waits until its processes have ended.
func (b *Browser) Close() error {
	b.mu.Lock()
	b.closed = true
	if b.idle != nil {
		b.idle.Stop()
	}
	b.drop(b.run)
	b.mu.Unlock()
	b.ending.Wait()
	return nil
}
