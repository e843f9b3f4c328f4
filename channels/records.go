package channels

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// NoStore is a Store that accepts every change and keeps nothing.
var NoStore Store = nothing{}

type nothing struct{}

func (nothing) Load(context.Context, func(string, []byte) error) error { return nil }
func (nothing) Commit(context.Context, ...Change) error                { return nil }
func (nothing) Close() error                                           { return nil }

// Record is one record of a store.
type Record struct {
	// Key is the record's key, or what remains of it after [Records.Under].
	Key string
	// Value is the record's value.
	Value []byte
}

// Records are the contents of a store when a host starts, in the order of their
// keys. By convention, the part of a key before the first "/" names the kind of
// record.
type Records []Record

// LoadRecords reads all records of a store.
func LoadRecords(ctx context.Context, s Store) (Records, error) {
	var all Records
	err := s.Load(ctx, func(key string, value []byte) error {
		all = append(all, Record{key, value})
		return nil
	})
	return all, err
}

// Under returns the records whose keys begin with prefix, without the prefix.
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

// Read decodes a record into v. It is strict: a value that v cannot represent is an
// ErrStoreDamaged, which names the record by prefix and key.
func (r Record) Read(prefix string, v any) error {
	if err := ahp.Unmarshal(r.Value, v); err != nil {
		return damaged("record %s%s: %w", prefix, r.Key, err)
	}
	return nil
}

// damaged returns an ErrStoreDamaged for a record that the Store itself cannot
// validate, with advice.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w; restore a backup of the store, or move it away to start with an empty one", ErrStoreDamaged, fmt.Errorf(format, args...))
}
