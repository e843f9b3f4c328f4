package actionsbridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
)

// Times of connections.
const (
	pingEvery    = 10 * time.Second // a status is requested
	silentAfter  = 35 * time.Second // of a runtime without an item
	idleAfter    = 30 * time.Second // of a connection that is not let in and has no runtime
	reportEvery  = 5 * time.Second  // dropped events are reported
	lookEvery    = time.Second      // how exact these are
	errorsWindow = time.Minute      // in which malformed items are counted
)

// DefaultTimeout is how long a call may take, unless it says otherwise.
const DefaultTimeout = 25 * time.Second

// Limits bound what runtimes can make a Bridge hold. Zero values mean the defaults, which
// are given in parentheses.
type Limits struct {
	Connections int // connections (32)
	PerConn     int // runtimes of a connection (64)
	Runtimes    int // runtimes in all (256)
	Waiting     int // runtimes that wait for a person (16)
	InFlight    int // calls in flight of a runtime (16)
	Unsent      int // bytes of items that a socket has not taken (4 MiB)
	Events      int // events a second of a runtime (20)
	Burst       int // events at once (50)
}

func (l Limits) withDefaults() Limits {
	return Limits{
		cmp.Or(l.Connections, 32), cmp.Or(l.PerConn, 64), cmp.Or(l.Runtimes, 256), cmp.Or(l.Waiting, 16),
		cmp.Or(l.InFlight, 16), cmp.Or(l.Unsent, 4<<20), cmp.Or(l.Events, 20), cmp.Or(l.Burst, 50),
	}
}

// Options configures a Bridge. The zero value is usable.
type Options struct {
	// Now is the clock (time.Now).
	Now func() time.Time
	// NewID makes the ids of calls (128 random bits).
	NewID func() string
	// Timeout is how long a call may take that has none (DefaultTimeout).
	Timeout time.Duration
	// Origins are let in without a person, as in "https://shop.example".
	Origins []string
	// Scripts allows actions that run scripts in every page.
	Scripts bool
	// Limits bound connections, runtimes and events.
	Limits Limits
	// Logger receives the ends of connections. Nil discards them.
	Logger *slog.Logger
}

// Bridge is the agent's side: it knows the connected runtimes and calls their actions. Make
// it with [New]. Its methods may be called concurrently.
type Bridge struct {
	opts   Options
	limits Limits
	memory *jsonschema.Memory

	mu        sync.Mutex
	conns     map[*Conn]struct{}
	entering  int                 // connections of the door that are being opened
	runtimes  map[string]*runtime // by id
	pending   map[string]*pending // by call id
	verdicts  verdicts
	manifests manifests
	stats     Stats
	seq       uint64 // of the runtime that connected last
	closed    bool

	reporting sync.Mutex // held while events are reported, in order
	events    []Event    // to report; guarded by mu
	watchers  map[int]func(Event)
	watches   int

	kick   chan struct{}
	cancel context.CancelFunc
	done   sync.WaitGroup // the goroutine, and the door's connections
}

// Stats counts what a Bridge ignored.
type Stats struct {
	Answers int // answers that no pending call expects
	Items   int // items of unknown types or runtimes
	Broken  int // malformed items
	Events  int // events that were not declared, or too many
}

// New returns a Bridge that works until Close.
func New(o Options) *Bridge {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	ctx, cancel := context.WithCancel(context.Background())
	b := &Bridge{
		opts: o, limits: o.Limits.withDefaults(), memory: jsonschema.NewMemory(nil),
		conns: map[*Conn]struct{}{}, runtimes: map[string]*runtime{}, pending: map[string]*pending{},
		watchers: map[int]func(Event){}, kick: make(chan struct{}, 1), cancel: cancel,
	}
	b.verdicts.init()
	b.manifests.init()
	b.done.Go(func() { b.run(ctx) })
	return b
}

// Close closes all connections, fails the calls in flight, and waits for the Bridge's
// goroutines and for the connections of its door.
func (b *Bridge) Close() {
	b.mu.Lock()
	b.closed = true
	w := &work{}
	for c := range b.conns {
		b.drop(w, c, ReasonEnding)
	}
	b.mu.Unlock()
	b.perform(w)
	b.cancel()
	b.done.Wait()
}

// Stats returns what was ignored since the start.
func (b *Bridge) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}

// run sends pings and enforces times, while there are connections.
func (b *Bridge) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.kick:
		}
		for b.look() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookEvery):
			}
		}
	}
}

// look does what is due, and reports whether there are connections.
func (b *Bridge) look() bool {
	w := &work{}
	b.mu.Lock()
	now := b.opts.Now()
	for c := range b.conns {
		if now.Sub(c.pinged) >= pingEvery {
			c.pinged = now
			w.send(c, ping)
		}
		if len(c.runtimes) == 0 && !c.letIn && now.Sub(c.empty) >= idleAfter {
			b.drop(w, c, ReasonIdle)
		}
		for _, rt := range c.runtimes {
			b.lookAt(rt, now)
		}
	}
	more := len(b.conns) > 0
	b.mu.Unlock()
	b.perform(w)
	return more
}

// lookAt updates a runtime by the clock. The caller holds b.mu.
func (b *Bridge) lookAt(rt *runtime, now time.Time) {
	if !rt.silent && now.Sub(rt.seen) >= silentAfter {
		rt.silent = true
		b.report(Event{Kind: Changed, Runtime: rt.snapshot()})
	}
	if rt.untold > 0 && now.Sub(rt.told) >= reportEvery {
		b.report(Event{Kind: EventsDropped, Runtime: rt.snapshot(), Count: rt.untold})
		rt.told, rt.untold = now, 0
	}
}

// Runtimes returns the runtimes in the order in which they connected. One that waits or
// was refused has an ID, Host, State and Principal only.
func (b *Bridge) Runtimes() []Runtime {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Runtime, 0, len(b.runtimes))
	for _, rt := range b.sorted() {
		out = append(out, rt.snapshot())
	}
	return out
}

// Runtime returns a runtime by its id.
func (b *Bridge) Runtime(id string) (Runtime, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if rt := b.runtimes[id]; rt != nil {
		return rt.snapshot(), true
	}
	return Runtime{}, false
}

// sorted returns the runtimes, oldest first. The caller holds b.mu.
func (b *Bridge) sorted() []*runtime {
	all := make([]*runtime, 0, len(b.runtimes))
	for _, rt := range b.runtimes {
		all = append(all, rt)
	}
	slices.SortFunc(all, func(x, y *runtime) int { return cmp.Compare(x.seq, y.seq) })
	return all
}
