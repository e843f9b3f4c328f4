package channels

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// StoreHealth says whether a store accepts changes.
type StoreHealth struct {
	// Err is why the store refuses changes, or nil if it works.
	Err error
	// Since is when the first of the failing attempts was made; zero if Err is nil.
	Since time.Time
	// Errors counts the commits that have failed.
	Errors uint64
}

// A failing store is tried again after storeRetry, then at intervals that grow up to
// maxStoreRetry.
const (
	storeRetry    = time.Second
	maxStoreRetry = 15 * time.Second
)

// storeProbe is the key of the record that is set and deleted to learn whether a store
// works; probeSize is its size. Load does not show it.
const (
	storeProbe = "probe"
	probeSize  = 16 << 10
)

// WatchedStore is a Store that knows whether it works. Once a commit has failed because of
// the disk, the store counts as failing until a record of 16 KiB could be set and deleted:
// on a full disk a small change can succeed beside larger ones that fail. It opens a store again that returned ErrStoreBroken. What a batch with
// that error changed stays unknown: records that it might have set are replaced by the next
// commit of their keys.
type WatchedStore struct {
	reopen func(context.Context) (Store, error)
	logger *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	use   sync.RWMutex // held for reading while the store is used
	store Store

	mu      sync.Mutex
	health  StoreHealth
	retries bool // a goroutine tries the store
}

var _ Store = (*WatchedStore)(nil)

// WatchStore watches a store, which belongs to the WatchedStore from then on. reopen opens
// it again after it was closed; if it is nil, a broken store stays broken. logger may be
// nil.
func WatchStore(store Store, reopen func(context.Context) (Store, error), logger *slog.Logger) *WatchedStore {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	w := &WatchedStore{store: store, reopen: reopen, logger: logger}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Health returns whether the store works.
func (w *WatchedStore) Health() StoreHealth {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.health
}

// Load implements Store.
func (w *WatchedStore) Load(ctx context.Context, fn func(key string, value []byte) error) error {
	w.use.RLock()
	defer w.use.RUnlock()
	return w.store.Load(ctx, func(key string, value []byte) error {
		if key == storeProbe {
			return nil // the process ended before it was deleted
		}
		return fn(key, value)
	})
}

// Commit implements Store.
func (w *WatchedStore) Commit(ctx context.Context, changes ...Change) error {
	w.use.RLock()
	defer w.use.RUnlock()
	err := w.store.Commit(ctx, changes...)
	if err != nil {
		w.note(err)
	}
	return err
}

// Close implements Store. It ends the attempts to recover.
func (w *WatchedStore) Close() error {
	w.cancel()
	w.wg.Wait()
	w.use.RLock()
	defer w.use.RUnlock()
	return w.store.Close()
}

// note records that a commit failed. Errors of the caller, and of a closed store, say
// nothing about the disk.
func (w *WatchedStore) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !errors.Is(err, ErrStoreFull) && !errors.Is(err, ErrStoreReadOnly) && !errors.Is(err, ErrStoreBroken) {
		return
	}
	w.health.Errors++
	if w.health.Err == nil {
		w.health.Since = time.Now()
		w.logger.Error("the store refuses changes", "err", err)
	}
	w.health.Err = err
	if !w.retries && w.ctx.Err() == nil {
		w.retries = true
		w.wg.Go(w.recover)
	}
}

// recover tries the store until it works or Close is called.
func (w *WatchedStore) recover() {
	for delay := storeRetry; ; delay = min(2*delay, maxStoreRetry) {
		select {
		case <-time.After(delay):
		case <-w.ctx.Done():
			return
		}
		if err := w.try(); err == nil {
			w.logger.Warn("the store accepts changes again", "after", time.Since(w.works()))
			return
		}
	}
}

// works records that the store works, and returns when it began to fail.
func (w *WatchedStore) works() (since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since = w.health.Since
	w.health.Err, w.health.Since, w.retries = nil, time.Time{}, false
	return since
}

func (w *WatchedStore) try() error {
	if err := w.Health().Err; errors.Is(err, ErrStoreBroken) && w.reopen != nil && !w.replace() {
		return err
	}
	w.use.RLock()
	defer w.use.RUnlock()
	if err := w.store.Commit(w.ctx, Change{Key: storeProbe, Value: make([]byte, probeSize)}); err != nil {
		w.note(err)
		return err
	}
	return w.store.Commit(w.ctx, Change{Key: storeProbe, Delete: true})
}

// replace closes a broken store and opens it again. Until it succeeds, the closed store
// refuses everything as broken.
func (w *WatchedStore) replace() bool {
	w.use.Lock()
	defer w.use.Unlock()
	if _, closed := w.store.(brokenStore); !closed {
		_ = w.store.Close() // a broken store cannot be closed cleanly
		w.store = brokenStore{w.Health().Err}
	}
	store, err := w.reopen(w.ctx)
	if err != nil {
		w.logger.Error("the broken store cannot be opened again", "err", err)
		return false
	}
	w.store = store
	return true
}

// brokenStore stands for a store that was closed because it was broken.
type brokenStore struct{ err error }

func (b brokenStore) Load(context.Context, func(string, []byte) error) error { return b.err }
func (b brokenStore) Commit(context.Context, ...Change) error                { return b.err }
func (b brokenStore) Close() error                                           { return b.err }
