package channels

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// numbersBlock is how many sequence numbers are reserved at once, so that
// serverSeq never goes back (canvas.md section 5): a restart begins behind all
// that could have been given out.
const numbersBlock = 1 << 20

const numbersKey = "numbers"

// ErrNoNumbers is what a log answers that has used up what the store reserved
// for it, because the store has refused for long: going on would repeat numbers
// after a restart.
var ErrNoNumbers = errors.New("no sequence numbers are left: the store has refused to reserve more")

// Numbers reserves blocks of sequence numbers in a store. It belongs to one Log
// and is closed after it.
type Numbers struct {
	store  Store
	logger *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	// Guarded by the log's mutex.
	reserved int64 // the last number that may be given out
	asking   bool
	used     bool // all of them

	exhausted chan struct{} // closed when they are
}

type numbersRecord struct {
	Reserved int64 `json:"reserved"`
}

// OpenNumbers reserves the first block of this life; Options.Numbers takes it.
func OpenNumbers(ctx context.Context, store Store, records Records, logger *slog.Logger) (*Numbers, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	n := &Numbers{store: store, logger: logger, exhausted: make(chan struct{})}
	var last numbersRecord
	for _, r := range records.Under(numbersKey) {
		if err := r.Read(numbersKey, &last); err != nil {
			return nil, err
		}
	}
	if last.Reserved < 0 || last.Reserved > 1<<53-2*numbersBlock {
		return nil, damaged("record %s: %d sequence numbers are none that a host reserves", numbersKey, last.Reserved)
	}
	n.reserved = last.Reserved
	if err := store.Commit(ctx, reservation(last.Reserved+numbersBlock)); err != nil {
		return nil, err
	}
	n.reserved += numbersBlock
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n, nil
}

// first is the number before the first of this life.
func (n *Numbers) first() int64 { return max(n.reserved-numbersBlock, 1) }

// reservation is the record that says how far numbers may be given out.
func reservation(upTo int64) Change {
	return Change{Key: numbersKey, Value: ahp.MustMarshal(numbersRecord{upTo})}
}

// refill begins to reserve the next block when half of this one is gone, and
// reports whether there are numbers for another transaction, which may take some
// more than it knows: hence the margin. It is called with the log locked and does
// not wait.
func (n *Numbers) refill(l *Log) bool {
	left := n.reserved - l.seq
	if left <= numbersBlock/2 && !n.asking && n.ctx.Err() == nil {
		n.asking = true
		upTo := n.reserved + numbersBlock
		n.wg.Go(func() { n.ask(l, upTo) })
	}
	if left >= numbersBlock/16 {
		return true
	}
	if !n.used {
		n.used = true
		close(n.exhausted)
	}
	return false
}

// Exhausted is closed when the log has ended with ErrNoNumbers.
func (n *Numbers) Exhausted() <-chan struct{} { return n.exhausted }

// ask reserves a block, however often the store refuses.
func (n *Numbers) ask(l *Log, upTo int64) {
	for {
		err := n.store.Commit(n.ctx, reservation(upTo))
		if err == nil {
			break
		}
		n.logger.Error("sequence numbers not reserved", "err", err)
		select {
		case <-time.After(time.Second):
		case <-n.ctx.Done():
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n.reserved, n.asking = upTo, false
}

// Close ends what is under way and waits for it.
func (n *Numbers) Close() {
	n.cancel()
	n.wg.Wait()
}
