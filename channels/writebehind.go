package channels

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// A marked record is committed after writeDelay, together with the others that
// were marked meanwhile, so what is on disk is at most 50 ms old
// (canvas/PROTOCOL.md section 3). If the store fails, the delay grows to
// maxWriteDelay.
const (
	writeDelay    = 25 * time.Millisecond
	maxWriteDelay = 5 * time.Second
)

// WriteBehind commits records that change too often to wait for each commit:
// titles, statuses, the state of a session. Mark records that a key's record is
// out of date. A short time later, WriteBehind collects the newest records of all
// marked keys and commits them in one batch. It commits one batch at a time. If
// the store fails, it retries with newer records until Flush; it skips a record
// that no store accepts ([Change.Check]).
//
// A record must not be committed both by a WriteBehind and elsewhere: an older
// version could overwrite a newer one.
type WriteBehind struct {
	store   Store
	collect func(keys []string) []Change
	logger  *slog.Logger

	commit sync.Mutex // held while a batch is collected and committed

	mu     sync.Mutex
	dirty  map[string]struct{}
	timer  *time.Timer // of the next batch; nil if none is due
	delay  time.Duration
	closed bool
}

// NewWriteBehind returns a WriteBehind for store. collect returns the changes that
// bring the records of the keys up to date. It is called without any lock that
// Mark takes, so it may take locks under which Mark is called. logger may be nil.
func NewWriteBehind(store Store, collect func(keys []string) []Change, logger *slog.Logger) *WriteBehind {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &WriteBehind{store: store, collect: collect, logger: logger, dirty: map[string]struct{}{}, delay: writeDelay}
}

// Mark records that the record of key is out of date. It does not wait for the
// store.
func (w *WriteBehind) Mark(key string) {
	if w.store == NoStore {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirty[key] = struct{}{}
	w.schedule()
}

func (w *WriteBehind) schedule() {
	if w.timer == nil && !w.closed {
		w.timer = time.AfterFunc(w.delay, func() { _ = w.write(context.Background()) })
	}
}

// write commits the records that are marked now.
func (w *WriteBehind) write(ctx context.Context) error {
	w.commit.Lock()
	defer w.commit.Unlock()
	w.mu.Lock()
	keys := slices.Sorted(maps.Keys(w.dirty))
	clear(w.dirty)
	w.timer = nil
	w.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	err := w.store.Commit(ctx, w.acceptable(w.collect(keys))...)
	w.wrote(keys, err)
	return err
}

// acceptable removes the changes that no store accepts. They would fail their
// whole batch at every retry.
func (w *WriteBehind) acceptable(changes []Change) []Change {
	return slices.DeleteFunc(changes, func(c Change) bool {
		err := c.Check()
		if err != nil {
			w.logger.Error("record not kept", "err", err)
		}
		return err != nil
	})
}

// wrote marks the keys of a failed batch again. It logs the first failure and the
// first success after it.
func (w *WriteBehind) wrote(keys []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	failing := w.delay != writeDelay
	if err == nil {
		w.delay = writeDelay
		if failing {
			w.logger.Info("the store works again")
		}
		return
	}
	if !failing {
		w.logger.Error("state is not kept until the store works again", "err", err)
	}
	w.delay = min(max(2*w.delay, time.Second), maxWriteDelay)
	for _, key := range keys {
		w.dirty[key] = struct{}{}
	}
	w.schedule()
}

// Flush commits the marked records and schedules no more batches. It returns the
// store's error.
func (w *WriteBehind) Flush(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	w.mu.Unlock()
	return w.write(ctx)
}
