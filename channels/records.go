package channels

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// NoStore keeps nothing: what a host has that need not outlive its process.
var NoStore Store = nothing{}

type nothing struct{}

func (nothing) Load(context.Context, func(string, []byte) error) error { return nil }
func (nothing) Commit(context.Context, ...Change) error                { return nil }
func (nothing) Close() error                                           { return nil }

// Record is one record of a store.
type Record struct {
	Key   string
	Value []byte
}

// Records are what a store held when a host started, in the order of their keys.
// The part of a key before its first "/" says whose it is.
type Records []Record

// LoadRecords reads a whole store.
func LoadRecords(ctx context.Context, s Store) (Records, error) {
	var all Records
	err := s.Load(ctx, func(key string, value []byte) error {
		all = append(all, Record{key, value})
		return nil
	})
	return all, err
}

// Under returns the records whose keys begin with prefix, which is cut off.
func (r Records) Under(prefix string) Records {
	first, _ := slices.BinarySearchFunc(r, prefix, func(r Record, p string) int { return cmp.Compare(r.Key, p) })
	var out Records
	for _, rec := range r[first:] {
		rest, ok := strings.CutPrefix(rec.Key, prefix)
		if !ok {
			break
		}
		out = append(out, Record{rest, rec.Value})
	}
	return out
}

// Read decodes a record of a kind, strictly: what it does not understand is a
// damaged store, not a state that is nearly right.
func (r Record) Read(kind string, v any) error {
	if err := ahp.Unmarshal(r.Value, v); err != nil {
		return damaged("record %s%s: %w", kind, r.Key, err)
	}
	return nil
}

// damaged is the refusal of a record that a Store gave as it was written, and that
// cannot be: the Store does not know, so what a person can do is said here.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w; restore a backup of the store, or move it away to begin anew", ErrStoreDamaged, fmt.Errorf(format, args...))
}
