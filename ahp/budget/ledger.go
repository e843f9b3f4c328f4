package budget

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrFull is returned if a holder may not have more bytes now.
var ErrFull = errors.New("the host's memory is full: try again later")

// The budget of a host that does not say another one, and the least that works: a
// connection must be able to hold the largest content and a few messages.
const (
	Default = 512 << 20
	Least   = 64 << 20
)

// Ledger counts the bytes that clients make a host hold. Its methods may be called
// concurrently.
type Ledger struct {
	limit int64
	used  [kinds]counter
	total counter

	closed    atomic.Uint64      // connections that were closed for their memory
	refused   atomic.Uint64      // takes that were refused
	pressed   [kinds]atomic.Bool // a holder of the kind was refused
	relieving atomic.Bool        // a goroutine closes connections
	wg        sync.WaitGroup

	mu       sync.Mutex
	ended    bool
	accounts map[*Account]struct{}
	tokens   map[string]*token
	caches   []func()
}

// counter is alone on its cache line, because all connections change the counters.
type counter struct {
	atomic.Int64
	_ [56]byte
}

// token is what the connections of one token hold together.
type token struct {
	ledger *Ledger
	name   string
	held   atomic.Int64
	conns  int // guarded by the ledger's mutex
}

// New returns a ledger of a number of bytes.
func New(limit int64) *Ledger {
	return &Ledger{limit: limit, accounts: map[*Account]struct{}{}, tokens: map[string]*token{}}
}

// Limit returns the budget in bytes, 0 without one.
func (l *Ledger) Limit() int64 {
	if l == nil {
		return 0
	}
	return l.limit
}

func (l *Ledger) soft() int64 { return l.limit / 2 }
func (l *Ledger) hard() int64 { return l.limit / 4 * 3 }

// perAccount is what one connection may hold: enough for the largest content, messages
// and a full queue.
func (l *Ledger) perAccount() int64 { return max(l.limit/8, min(32<<20, l.hard())) }

// perToken is what the connections of one token may hold together. Many people share
// one token, so it is most of the budget.
func (l *Ledger) perToken() int64 { return l.limit / 8 * 5 }

// Used returns the bytes of a kind.
func (l *Ledger) Used(k Kind) int64 {
	if l == nil {
		return 0
	}
	return l.used[k].Load()
}

// Total returns the bytes of all kinds.
func (l *Ledger) Total() int64 {
	if l == nil {
		return 0
	}
	return l.total.Load()
}

// Share returns how many bytes a kind may have. The holders of that kind compare it with
// [Ledger.Used].
func (l *Ledger) Share(k Kind) int64 {
	if l == nil {
		return 1 << 62
	}
	return l.limit / parts[k]
}

// Fits reports whether a kind may have n bytes more.
func (l *Ledger) Fits(k Kind, n int64) bool {
	return l == nil || l.used[k].Load()+n <= l.Share(k) && l.total.Load()+n <= l.hard()
}

// Stats are counters of a Ledger.
type Stats struct {
	// Closed counts connections that were closed because of what they held.
	Closed uint64
	// Refused counts what was refused or delayed because the budget was used up.
	Refused uint64
}

// Stats returns the counters.
func (l *Ledger) Stats() Stats {
	if l == nil {
		return Stats{}
	}
	return Stats{Closed: l.closed.Load(), Refused: l.refused.Load()}
}

// Add counts n bytes that are held already; n may be negative.
func (l *Ledger) Add(k Kind, n int64) {
	if l == nil || n == 0 {
		return
	}
	l.used[k].Add(n)
	if now := l.total.Add(n); n > 0 && now > l.soft() {
		l.relieve()
	}
}

// OnPressure registers a function that empties a cache. The ledger calls it above the soft
// limit, before it closes connections.
func (l *Ledger) OnPressure(empty func()) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.caches = append(l.caches, empty)
}

// Close waits for the goroutine that closes connections, and starts none any more.
func (l *Ledger) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.wg.Wait()
}

// String describes the ledger for people.
func (l *Ledger) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d of %d bytes:", l.Total(), l.Limit())
	for _, k := range Kinds() {
		fmt.Fprintf(&s, " %s %d", k, l.Used(k))
	}
	return s.String()
}
