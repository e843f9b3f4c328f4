package together

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// Line is the callers who have the turn or wait for it. The zero value works.
type Line[T any] struct {
	mu      sync.Mutex
	busy    bool // somebody has the turn
	waiting []*Place[T]
}

// Place is one caller's place in a line. It is used once.
type Place[T any] struct {
	Of T // what the caller wants

	told chan Word // buffered; nil where it did not wait
	led  bool      // it was told to lead. Guarded by the line's mutex
}

// Word is what a caller is told about its place.
type Word uint8

const (
	// Lead is the turn: the caller takes a group, which begins with itself, does
	// what it wants, passes the turn on, and tells the others.
	Lead Word = iota + 1
	// Left says that the caller waits no longer, for its context or stop ended.
	Left
	// Done and those above it are a leader's words; what they mean is its user's.
	Done
)

// Join waits until p has the turn (Lead), was taken along and told something, or
// ctx or stop ends before either (Left). A nil stop never ends.
func (l *Line[T]) Join(ctx context.Context, stop <-chan struct{}, p *Place[T]) Word {
	if l.enter(p) {
		return Lead
	}
	select {
	case word := <-p.told:
		return word
	case <-ctx.Done():
	case <-stop:
	}
	if l.leave(p) {
		return Left
	}
	return <-p.told
}

// enter puts p at the end of the line, and reports whether it has the turn.
func (l *Line[T]) enter(p *Place[T]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, p)
	if l.busy {
		p.told = make(chan Word, 1)
		return false
	}
	l.busy = true
	return true
}

func (l *Line[T]) leave(p *Place[T]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.waiting, p)
	if at < 0 || p.led {
		return false
	}
	l.waiting = slices.Delete(l.waiting, at, at+1)
	return true
}

// Len is how many wait, with who has the turn until it takes its group.
func (l *Line[T]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// Take takes who has the turn out of the line, and those behind it for as long as
// fits agrees, which is asked in order.
func (l *Line[T]) Take(fits func(T) bool) []*Place[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 1
	for n < len(l.waiting) && fits(l.waiting[n].Of) {
		n++
	}
	group := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return group
}

// Pass gives the turn to the first who waits, and lets it begin before the caller
// goes on: whoever waits for the turn is what everybody waits for, and without that
// it would stand in the caller's queue until the caller itself waits. Whoever was told
// to lead calls it once, after Take.
func (l *Line[T]) Pass() {
	if l.next() {
		runtime.Gosched()
	}
}

func (l *Line[T]) next() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy = len(l.waiting) > 0; l.busy {
		l.waiting[0].led = true
		l.waiting[0].told <- Lead
	}
	return l.busy
}

// Tell ends the waiting of one that was taken along. It does nothing to the leader.
func (p *Place[T]) Tell(w Word) {
	if p.told != nil && !p.led {
		p.told <- w
	}
}
