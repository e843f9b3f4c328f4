package channels

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Options configures a Log. The zero value works.
type Options struct {
	// FirstSeq is the sequence number before that of the first entry. It is at least
	// 1, because clients resume only from numbers above 0.
	FirstSeq int64
	// Sequence reserves sequence numbers in a store, and replaces FirstSeq. If it is
	// nil, the log uses numbers without reserving them.
	Sequence *Sequence

	// StateEntries and StateBytes limit the replay buffer for state changes; the
	// defaults are 4,096 and 16 MiB.
	StateEntries, StateBytes int
	// MessageEntries and MessageBytes limit the replay buffer for messages; the
	// defaults are 1,024 and 4 MiB.
	MessageEntries, MessageBytes int
	// Memory counts what entries and snapshots hold; nil counts nothing.
	Memory *budget.Ledger
	// ReplayBytes is the size of the largest replay; a client that has missed more
	// gets snapshots. The default is 8 MiB.
	ReplayBytes int
}

// Log holds all channels of a host. Its methods may be called concurrently.
type Log struct {
	kinds       map[string]*Kind
	replayBytes int
	sequence    *Sequence // nil if numbers are not reserved
	memory      *budget.Ledger
	fanout      fanout
	conns       atomic.Uint64 // the newest ConnID

	mu       sync.Mutex
	tx       Tx // the only one; it is reused
	seq      int64
	channels map[string]*channel
	states   ring
	messages ring
	effects  []func() // in the order of the log
	running  bool     // a goroutine runs effects
}

// channel is a channel from its creation to its removal. A URI that is created
// again is another channel.
type channel struct {
	uri    string
	parent string
	kind   *Kind
	state  State
	full   *encodedState // of state; replaced with it
	owns   []*channel    // in no order
	at     int           // the position in its owner's owns
	subs   subscribers
	lost   int64 // highest sequence number of this channel that a ring has dropped
}

// New returns a Log that has no kinds yet; see [Log.AddKind].
func New(opts Options) *Log {
	l := &Log{
		kinds:       map[string]*Kind{},
		seq:         max(opts.FirstSeq, 1),
		channels:    map[string]*channel{},
		states:      ring{maxEntries: or(opts.StateEntries, 4096), maxBytes: or(opts.StateBytes, 16<<20)},
		messages:    ring{maxEntries: or(opts.MessageEntries, 1024), maxBytes: or(opts.MessageBytes, 4<<20)},
		replayBytes: or(opts.ReplayBytes, 8<<20),
		sequence:    opts.Sequence,
		memory:      opts.Memory,
		fanout:      fanout{memory: opts.Memory},
	}
	l.states.memory, l.messages.memory = opts.Memory, opts.Memory
	if l.sequence != nil {
		l.seq = l.sequence.first()
	}
	l.tx.l = l
	return l
}

// AddKind adds a kind of channel. All kinds must be added before the first channel
// is created. AddKind panics if the log has a kind of the same scheme.
func (l *Log) AddKind(k *Kind) {
	if l.kinds[k.Scheme] != nil {
		panic(fmt.Sprintf("channels: two kinds of scheme %q", k.Scheme))
	}
	l.kinds[k.Scheme] = k
}

// NextConn returns the id of a new connection. All connections of a log have theirs from
// here: it distinguishes the members of an audience and the Views of a canvas.
func (l *Log) NextConn() ConnID { return ConnID(l.conns.Add(1)) }

// Flush delivers published entries that still wait for the fan-out goroutine. A
// connection calls it before it queues a frame that is not from the log, so that
// the frame comes after the entries that were published before. It may be called
// in a transaction.
func (l *Log) Flush() { l.fanout.flush() }

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
		l.runEffects()
	}
	return err
}

// locked runs fn under the lock, and reports whether it left effects that no
// other goroutine is running.
func (l *Log) locked(fn func(*Tx) error) (effects bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = fn(&l.tx)
	return len(l.effects) > 0 && !l.running, err
}

// runEffects runs the pending effects in order. Only one goroutine runs effects at
// a time; it also runs those that other transactions add meanwhile.
func (l *Log) runEffects() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		return
	}
	l.running = true
	for len(l.effects) > 0 {
		batch := l.effects
		l.effects = nil
		l.mu.Unlock()
		for _, effect := range batch {
			effect()
		}
		l.mu.Lock()
	}
	l.running = false
}

// Kind returns the kind of a URI's scheme, or nil.
func (l *Log) Kind(uri string) *Kind { return l.kinds[ahp.SchemeOf(uri)] }

// State returns a channel's state, and whether the channel exists. It is a View of
// one channel.
func (l *Log) State(uri string) (State, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tx.State(uri)
}
