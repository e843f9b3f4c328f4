package channels

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// behindDelay is how long a mark waits for others, and so how old what is on
// disk may be (canvas.md section 3: within 50 ms). A store that refuses is asked
// again at growing distances up to behindRetry.
const (
	behindDelay = 25 * time.Millisecond
	behindRetry = 5 * time.Second
)

// Behind commits what changes too often to be waited for: titles, statuses, what
// a session shows. A key is marked when its record is out of date; soon after,
// the newest values of all marked keys are collected and committed in one batch,
// one batch at a time. What a store refuses is tried again, with its newest
// value, until Flush; what none may take ([Change.Check]) is left out.
//
// A record that Behind writes is never one that a flow commits itself: the two
// would overtake each other.
type WriteBehind struct {
	store   Store
	collect func(keys []string) []Change
	logger  *slog.Logger

	commit sync.Mutex // held over a batch: one at a time, in the order of collecting

	mu     sync.Mutex
	dirty  map[string]struct{}
	timer  *time.Timer // of the next batch; nil where none is due
	delay  time.Duration
	closed bool
}

// NewWriteBehind makes a Behind. collect returns the changes that bring the records
// of the keys up to date; it is called without a lock of Behind's that Mark
// takes, so it may lock what Mark is called under. logger may be nil.
func NewWriteBehind(store Store, collect func(keys []string) []Change, logger *slog.Logger) *WriteBehind {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &WriteBehind{store: store, collect: collect, logger: logger, dirty: map[string]struct{}{}, delay: behindDelay}
}

// Mark says that a key's record is out of date. It never waits.
func (b *WriteBehind) Mark(key string) {
	if b.store == NoStore {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dirty[key] = struct{}{}
	b.schedule()
}

func (b *WriteBehind) schedule() {
	if b.timer == nil && !b.closed {
		b.timer = time.AfterFunc(b.delay, func() { _ = b.write(context.Background()) })
	}
}

// write commits what is marked now.
func (b *WriteBehind) write(ctx context.Context) error {
	b.commit.Lock()
	defer b.commit.Unlock()
	b.mu.Lock()
	keys := slices.Sorted(maps.Keys(b.dirty))
	clear(b.dirty)
	b.timer = nil
	b.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	err := b.store.Commit(ctx, b.fitting(b.collect(keys))...)
	b.settle(keys, err)
	return err
}

// fitting leaves out what no store takes: tried again for ever, it would keep the
// others of its batch from being kept.
func (b *WriteBehind) fitting(changes []Change) []Change {
	return slices.DeleteFunc(changes, func(c Change) bool {
		err := c.Check()
		if err != nil {
			b.logger.Error("record not kept", "err", err)
		}
		return err != nil
	})
}

// settle marks again what was refused. The first refusal is logged, and that it
// works again.
func (b *WriteBehind) settle(keys []string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	failing := b.delay != behindDelay
	if err == nil {
		b.delay = behindDelay
		if failing {
			b.logger.Info("the store works again")
		}
		return
	}
	if !failing {
		b.logger.Error("state is not kept for now", "err", err)
	}
	b.delay = min(max(2*b.delay, time.Second), behindRetry)
	for _, key := range keys {
		b.dirty[key] = struct{}{}
	}
	b.schedule()
}

// Flush commits what is marked and takes no more marks after it. Its error is
// the store's.
func (b *WriteBehind) Flush(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.mu.Unlock()
	return b.write(ctx)
}
