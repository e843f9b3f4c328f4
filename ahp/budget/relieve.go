package budget

import (
	"cmp"
	"slices"
	"time"
)

// Reason is why a connection was closed that holds too much.
const Reason = "the host's memory is full, and this connection holds much of it; read faster, and reconnect to resume"

// relieve starts a goroutine that closes connections, unless one runs.
func (l *Ledger) relieve() {
	if l.excess() <= 0 || l.relieving.Swap(true) {
		return
	}
	// Another goroutine, because the caller might hold locks that closing needs.
	go l.run()
}

func (l *Ledger) run() {
	defer l.relieving.Store(false)
	if !l.begin() {
		return
	}
	defer l.wg.Done()
	l.mu.Lock()
	caches := l.caches
	l.mu.Unlock()
	for _, empty := range caches {
		empty()
	}
	excess := l.excess()
	for k := range l.pressed {
		l.pressed[k].Store(false)
	}
	for _, a := range l.victims(excess) {
		l.closed.Add(1)
		a.holder.CloseHolder(Reason)
	}
	// Closing takes a moment to free the bytes: until then nothing else is closed for them.
	time.Sleep(relieveEvery)
}

// excess returns how many bytes must become free: those above the soft limit and, of a
// kind that was refused to a holder, those above half of its share.
func (l *Ledger) excess() int64 {
	n := l.total.Load() - l.soft()
	for k := range kinds {
		if l.pressed[k].Load() && l.used[k].Load() > l.Share(k)*3/4 {
			n = max(n, l.used[k].Load()-l.Share(k)/2)
		}
	}
	return n
}

// relieveEvery is the shortest time between two rounds of closing.
const relieveEvery = 100 * time.Millisecond

func (l *Ledger) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.wg.Add(1)
	return true
}

// patience is how long a connection may hold much without giving anything back before it
// is closed in favor of others.
const patience = 500 * time.Millisecond

// victims returns the connections to close, so that about excess bytes become free: those
// that hold most for the longest time first. A connection that made progress a moment ago
// is spared while the hard limit is not reached.
func (l *Ledger) victims(excess int64) (chosen []*Account) {
	type candidate struct {
		*Account
		held   int64
		weight float64
	}
	now, urgent := time.Now().UnixNano(), l.total.Load() > l.hard()-l.limit/16
	var all []candidate
	l.mu.Lock()
	for a := range l.accounts {
		held, since := a.held.Load(), a.stuck.Load()
		stuck := time.Duration(now - since)
		if held <= little || since == 0 || !urgent && stuck < patience {
			continue
		}
		all = append(all, candidate{a, held, float64(held) * (patience + stuck).Seconds()})
	}
	l.mu.Unlock()
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(b.weight, a.weight) })
	for _, c := range all {
		if excess <= 0 {
			break
		}
		excess -= c.held
		chosen = append(chosen, c.Account)
	}
	return chosen
}
