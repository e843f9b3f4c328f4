package channels

import (
	"fmt"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Options configures a Log. The zero value works.
type Options struct {
	// FirstSeq is the sequence number before the first entry; at least 1, for
	// clients resume only from a number above 0.
	FirstSeq int64
	// Numbers reserves sequence numbers in a store; with it FirstSeq is ignored.
	// Nil reserves none.
	Sequence *Sequence

	// Replay buffers: entries and bytes of state changes (default 4,096 and
	// 16 MiB) and of broadcast messages (1,024 and 4 MiB).
	StateEntries, StateBytes     int
	MessageEntries, MessageBytes int
	// ReplayBytes is the largest replay that is sent; a longer one is answered
	// with snapshots (default 8 MiB).
	ReplayBytes int
}

// Log is all channels of a host. Make it with New.
type Log struct {
	kinds       map[string]*Kind
	replayBytes int
	sequence    *Sequence // nil: any number may be given out
	fanout      fanout

	mu       sync.Mutex
	tx       Tx // the one that there is
	seq      int64
	channels map[string]*channel
	states   ring
	messages ring
	effects  []func() // in the order of the log, run by drain
	draining bool
}

// channel is one incarnation of a URI: created, removed, never reused.
type channel struct {
	uri    string
	parent string
	kind   *Kind
	state  State
	full   *encodedState // of state; replaced with it
	owns   []*channel    // in no order
	at     int           // where it is in its owner's
	subs   listeners
	lost   int64 // highest seq of this channel that fell out of a ring
}

// New makes a Log without kinds; [Log.AddKind] gives it some.
func New(opts Options) *Log {
	l := &Log{
		kinds:       map[string]*Kind{},
		seq:         max(opts.FirstSeq, 1),
		channels:    map[string]*channel{},
		states:      ring{maxEntries: or(opts.StateEntries, 4096), maxBytes: or(opts.StateBytes, 16<<20)},
		messages:    ring{maxEntries: or(opts.MessageEntries, 1024), maxBytes: or(opts.MessageBytes, 4<<20)},
		replayBytes: or(opts.ReplayBytes, 8<<20),
		sequence:    opts.Sequence,
	}
	if l.sequence != nil {
		l.seq = l.sequence.first()
	}
	l.tx.l = l
	return l
}

// AddKind teaches the log a kind of channel. All kinds are added before the
// first channel is made; two of one scheme panic.
func (l *Log) AddKind(k *Kind) {
	if l.kinds[k.Scheme] != nil {
		panic(fmt.Sprintf("channels: two kinds of scheme %q", k.Scheme))
	}
	l.kinds[k.Scheme] = k
}

// Settle hands what was published to many over to their sinks. What a connection
// is told for itself alone comes behind what was published before: whoever tells
// it calls Settle first, inside of a transaction or outside.
func (l *Log) Settle() { l.fanout.settle() }

func or(v, def int) int {
	if v == 0 {
		return def
	}
	return v
}

// View runs fn with the log locked, for reading. It needs no sequence numbers
// and cannot fail. It holds the same exclusive lock as Update, so fn may also
// change fields that its caller guards by the log's mutex. fn must not block or
// call the log.
func (l *Log) View(fn func(*ReadTx)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn(&l.tx.ReadTx)
}

// Update runs fn with the log locked; everything that fn publishes is one
// transaction. There is no rollback, so fn must check before it changes
// anything; it must not block or call the log. Update returns fn's error.
//
// If the store has refused to reserve sequence numbers for so long that they
// might run out during fn, Update returns ErrSequenceExhausted without calling fn.
func (l *Log) Update(fn func(*Tx) error) error {
	effects, err := l.locked(func(tx *Tx) error {
		if l.sequence != nil && !l.sequence.refill(l) {
			return ErrSequenceExhausted
		}
		return fn(tx)
	})
	if effects {
		l.drain()
	}
	return err
}

// locked runs fn under the lock, and reports whether it left effects that no
// other goroutine is running.
func (l *Log) locked(fn func(*Tx) error) (effects bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = fn(&l.tx)
	return len(l.effects) > 0 && !l.draining, err
}

// drain runs the effects that transactions left behind, in order. One caller
// drains at a time; another's effects are run by the one that is at it.
func (l *Log) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining {
		return
	}
	l.draining = true
	for len(l.effects) > 0 {
		batch := l.effects
		l.effects = nil
		l.mu.Unlock()
		for _, effect := range batch {
			effect()
		}
		l.mu.Lock()
	}
	l.draining = false
}

// Kind returns the kind of a URI's scheme, or nil.
func (l *Log) Kind(uri string) *Kind { return l.kinds[ahp.SchemeOf(uri)] }

// State returns a channel's state: a convenience for readers that need one
// channel and no transaction.
func (l *Log) State(uri string) (State, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.channels[uri]
	if c == nil {
		return nil, false
	}
	return c.state, true
}
