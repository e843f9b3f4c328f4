package channels

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Memory is a Store whose records live as long as the process: for a host that
// shall keep nothing, and for tests. Nothing waits and nothing can be full.
type Memory struct {
	mu      sync.Mutex
	records map[string][]byte // values are immutable; those that readers get are copies
	closed  bool
}

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{records: map[string][]byte{}} }

// Reopen returns a store with the records of m, as a host finds them that starts
// again: a restart without a disk. m must be closed (else: ErrStoreBusy), and
// what the new store commits does not reach it.
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
		if c.Gone {
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
