package channels

import (
	"context"
	"errors"
)

// Store keeps a host's records beyond the life of its process: what is told to
// anybody is committed to it first (canvas.md section 3). It is small on purpose,
// so that a replicated log can be one: records are opaque, all that changes
// together is one batch, and nothing is read but at the start.
//
// # What it asks of an implementation
//
//   - A batch is applied whole or not at all, also over a crash.
//   - Commit returns nil only when the batch is durable: it survives the process,
//     the machine, and for a replicated one the loss of what it tolerates.
//   - A batch whose Commit returned before another's was called is applied before
//     it. Batches that are under way together may be applied in any order, and
//     may share one sync; none waits for a later one.
//   - An error that is not ErrStoreBroken means: nothing of the batch was applied,
//     nor ever will be, and the store goes on. Where an implementation cannot know
//     that (a failed sync, a quorum that was lost after sending), it answers
//     ErrStoreBroken and from then on refuses everything: what is true is known
//     when it is opened again.
//   - ctx bounds the waiting to be taken in. Once a batch is taken in, its outcome
//     is waited for.
//   - One host has a store at a time.
//
// Its methods may be called concurrently, but Load comes first and Close last.
type Store interface {
	// Load calls fn with every record, in the order of their keys, and ends with
	// fn's error. The value is fn's to keep.
	Load(ctx context.Context, fn func(key string, value []byte) error) error
	// Commit applies changes in their order. A key is 1 to MaxKey bytes of valid
	// UTF-8, a value at most MaxValue bytes: a batch with a change that Check
	// refuses is refused, with an error that is none of the Err*.
	Commit(ctx context.Context, changes ...Change) error
	// Close waits for what was taken in; what comes later is refused with
	// ErrStoreClosed.
	Close() error
}

// The bounds of records, in bytes.
const (
	MaxKey   = 16 << 10
	MaxValue = 8 << 20
)

// Change sets a record, or removes it where it is there.
type Change struct {
	Key   string
	Value []byte // not changed after Commit was called
	Gone  bool   // remove; Value is not looked at
}

// What can be wrong with a store. An implementation wraps them with the place
// and with what a person can do.
var (
	ErrStoreFull     = errors.New("the disk is full")
	ErrStoreReadOnly = errors.New("the store cannot be written")
	ErrStoreDamaged  = errors.New("the store is damaged")
	ErrStoreNewer    = errors.New("the store was written by a newer version")
	ErrStoreBusy     = errors.New("another host uses the store")
	ErrStoreBroken   = errors.New("the store cannot tell what it kept")
	ErrStoreClosed   = errors.New("the store is closed")
)
