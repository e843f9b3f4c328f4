package site

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Store keeps a site's records beyond the process. A channels/sqlitestore is one, with a
// conversion of [Change].
type Store interface {
	// Load calls fn with every record. The site keeps values; they must not change later.
	Load(ctx context.Context, fn func(key string, value []byte) error) error
	// Commit applies changes, all or none, and returns when they are durable.
	Commit(ctx context.Context, changes ...Change) error
}

// Change sets or deletes a record.
type Change struct {
	// Key is the record's key.
	Key string
	// Value is its new value; nil deletes it.
	Value []byte
}

// Memory returns a Store that lasts as long as the process.
func Memory() Store { return &memory{records: map[string][]byte{}} }

type memory struct {
	mu      sync.Mutex
	records map[string][]byte
}

func (m *memory) Load(_ context.Context, fn func(string, []byte) error) error {
	m.mu.Lock()
	records := maps.Clone(m.records)
	m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(records)) {
		if err := fn(key, records[key]); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Commit(_ context.Context, changes ...Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range changes {
		if c.Value == nil {
			delete(m.records, c.Key)
		} else {
			m.records[c.Key] = c.Value
		}
	}
	return nil
}

// journal commits changes in the order in which they were added; callers that wait at the
// same time share a commit.
type journal struct {
	store Store
	lead  sync.Mutex // held by the caller that commits

	mu   sync.Mutex
	next *batch // not committed yet; nil if empty
}

// batch is what one commit has. lead guards done and err.
type batch struct {
	changes []Change
	done    bool
	err     error
}

// add adds changes to the next batch. The caller holds the lock that orders them.
func (j *journal) add(changes ...Change) *batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == nil {
		j.next = &batch{}
	}
	j.next.changes = append(j.next.changes, changes...)
	return j.next
}

// commit returns when a batch is durable. It ignores that a caller leaves: what was taken
// in memory must be taken on disk.
func (j *journal) commit(b *batch) error {
	j.lead.Lock()
	defer j.lead.Unlock()
	if b.done {
		return b.err
	}
	j.mu.Lock() // earlier batches are done, so this is b
	j.next = nil
	j.mu.Unlock()
	if len(b.changes) > 0 {
		b.err = j.store.Commit(context.Background(), b.changes...)
	}
	b.done = true
	return b.err
}
