package channels

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Memory is a Store that keeps its records in memory, for tests and for hosts that
// keep nothing. It never blocks and is never full.
type Memory struct {
	mu      sync.Mutex
	records map[string][]byte // values are immutable; readers get copies
	closed  bool
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{records: map[string][]byte{}} }

// Reopen returns a new store with a copy of the records of m, as a host finds them
// after a restart. If m is not closed, it returns ErrStoreBusy.
func (m *Memory) Reopen() (*Memory, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		return nil, fmt.Errorf("memory: %w", ErrStoreBusy)
	}
	return &Memory{records: maps.Clone(m.records)}, nil
}

// Load implements Store. fn may call the store.
func (m *Memory) Load(ctx context.Context, fn func(key string, value []byte) error) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrStoreClosed
	}
	records := maps.Clone(m.records)
	m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(records)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(key, slices.Clone(records[key])); err != nil {
			return err
		}
	}
	return nil
}

// Commit implements Store.
func (m *Memory) Commit(ctx context.Context, changes ...Change) error {
	for _, c := range changes {
		if err := c.Check(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrStoreClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, c := range changes {
		if c.Delete {
			delete(m.records, c.Key)
		} else {
			m.records[c.Key] = slices.Clone(c.Value)
		}
	}
	return nil
}

// Close implements Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
