package channels

import (
	"context"
	"errors"
)

// Store keeps a host's records beyond the lifetime of its process. A change is
// committed before any client can see it (canvas/PROTOCOL.md section 3). The
// interface is small so that a replicated log can implement it: records are opaque,
// changes that belong together are one batch, and records are read only when a host
// starts.
//
// # Requirements
//
//   - A batch is applied as a whole or not at all, even if the machine crashes.
//   - Commit returns nil only if the batch is durable: it survives the process and
//     the machine, and in a replicated store the loss of as many machines as it
//     tolerates.
//   - If the Commit of one batch has returned before the Commit of another is called,
//     they are applied in that order. Concurrent batches may be applied in any order
//     and may share a sync. No batch waits for a later one.
//   - An error other than ErrStoreBroken means that nothing of the batch was applied
//     or will be, and that the store still works. If an implementation cannot know
//     that (a failed sync, a quorum lost after sending), it returns ErrStoreBroken,
//     then and for every later call. The outcome is known once the store is opened
//     again.
//   - ctx limits how long Commit waits to be accepted. Once a batch is accepted, Commit
//     waits for its outcome.
//   - Only one host can use a store at a time.
//
// Its methods may be called concurrently, but Load is called first and Close last.
type Store interface {
	// Load calls fn with every record, in the order of their keys. It stops at the
	// first error of fn and returns it. fn may keep the value.
	Load(ctx context.Context, fn func(key string, value []byte) error) error
	// Commit applies changes in order. A key is 1 to MaxKey bytes of valid UTF-8, a
	// value at most MaxValue bytes. If Check fails for any change, Commit returns an
	// error that is none of the Err* values and applies nothing.
	Commit(ctx context.Context, changes ...Change) error
	// Close waits for accepted batches. Later calls return ErrStoreClosed.
	Close() error
}

const (
	// MaxKey is the largest size of a record's key, in bytes.
	MaxKey = 16 << 10
	// MaxValue is the largest size of a record's value, in bytes.
	MaxValue = 8 << 20
)

// Change sets or deletes a record.
type Change struct {
	// Key is the record's key.
	Key string
	// Value is the record's new value. The caller must not change it after Commit was
	// called.
	Value []byte
	// Delete deletes the record, if it exists. Value is ignored then.
	Delete bool
}

// The errors of a store. An implementation wraps them with the store's location and
// with advice.
var (
	// ErrStoreFull means that there is no space for a batch. A smaller one might fit.
	ErrStoreFull = errors.New("the disk is full")
	// ErrStoreReadOnly means that the process may not write the store.
	ErrStoreReadOnly = errors.New("the store cannot be written")
	// ErrStoreDamaged means that the store's contents are not what was committed.
	ErrStoreDamaged = errors.New("the store is damaged")
	// ErrStoreNewer means that the store has a format that this version cannot read.
	ErrStoreNewer = errors.New("the store was written by a newer version")
	// ErrStoreBusy means that another process uses the store.
	ErrStoreBusy = errors.New("another host uses the store")
	// ErrStoreBroken means that the outcome of a batch is unknown until the store is
	// opened again.
	ErrStoreBroken = errors.New("the store cannot tell what it kept")
	// ErrStoreClosed means that Close was called.
	ErrStoreClosed = errors.New("the store is closed")
)
