package channels

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// sequenceBlock is how many sequence numbers are reserved at once. A host starts
// with the number after all reserved ones, so serverSeq never goes back over a
// restart (canvas/PROTOCOL.md section 5).
const sequenceBlock = 1 << 20

// sequenceMargin is how many numbers must be left for a transaction to begin:
// how many it will use is not known in advance.
const sequenceMargin = sequenceBlock / 16

const sequenceKey = "numbers"

// ErrSequenceExhausted is returned by a log that has used the sequence numbers
// that its store reserved, because the store has refused to reserve more. To
// continue would repeat numbers after a restart.
var ErrSequenceExhausted = errors.New("sequence numbers exhausted: the store has refused to reserve more")

// Sequence reserves blocks of sequence numbers in a store. It belongs to one Log
// and is closed after it.
type Sequence struct {
	store  Store
	logger *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	// Guarded by the log's mutex.
	reserved  int64 // the last number that may be used
	reserving bool  // the next block is being reserved
	closed    bool  // exhausted is closed

	exhausted chan struct{}
}

type sequenceRecord struct {
	Reserved int64 `json:"reserved"`
}

// OpenSequence reserves the first block of numbers after those that records
// name, for [Options].Sequence. logger may be nil.
func OpenSequence(ctx context.Context, store Store, records Records, logger *slog.Logger) (*Sequence, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	q := &Sequence{store: store, logger: logger, exhausted: make(chan struct{})}
	var last sequenceRecord
	for _, r := range records.Under(sequenceKey) {
		if err := r.Read(sequenceKey, &last); err != nil {
			return nil, err
		}
	}
	if last.Reserved < 0 || last.Reserved > 1<<53-2*sequenceBlock {
		return nil, damaged("record %s: reserved is %d, want 0 to %d", sequenceKey, last.Reserved, int64(1<<53-2*sequenceBlock))
	}
	q.reserved = last.Reserved
	if err := store.Commit(ctx, reservation(last.Reserved+sequenceBlock)); err != nil {
		return nil, err
	}
	q.reserved += sequenceBlock
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q, nil
}

// first returns the number before the first that this process uses.
func (q *Sequence) first() int64 { return max(q.reserved-sequenceBlock, 1) }

// reservation is the record of the last number that may be used.
func reservation(last int64) Change {
	return Change{Key: sequenceKey, Value: ahp.MustMarshal(sequenceRecord{last})}
}

// refill reports whether enough numbers are left for another transaction. Once
// half of a block is used it begins to reserve the next one, without waiting for
// it. It is called with the log locked.
func (q *Sequence) refill(l *Log) bool {
	left := q.reserved - l.seq
	if left <= sequenceBlock/2 && !q.reserving && q.ctx.Err() == nil {
		q.reserving = true
		last := q.reserved + sequenceBlock
		q.wg.Go(func() { q.reserve(l, last) })
	}
	if left >= sequenceMargin {
		return true
	}
	if !q.closed {
		q.closed = true
		close(q.exhausted)
	}
	return false
}

// Exhausted returns a channel that is closed once an Update has failed with
// ErrSequenceExhausted.
func (q *Sequence) Exhausted() <-chan struct{} { return q.exhausted }

// reserve commits a reservation; it retries until the store accepts it or the
// Sequence is closed.
func (q *Sequence) reserve(l *Log, last int64) {
	for {
		err := q.store.Commit(q.ctx, reservation(last))
		if err == nil {
			break
		}
		q.logger.Error("sequence numbers not reserved", "err", err)
		select {
		case <-time.After(time.Second):
		case <-q.ctx.Done():
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	q.reserved, q.reserving = last, false
}

// Close stops a reservation that is in progress and waits until it has stopped.
func (q *Sequence) Close() {
	q.cancel()
	q.wg.Wait()
}
