package canvas

import "context"

// MaxRecordKey bounds the key of a provider's record, in bytes.
const MaxRecordKey = 1024

// Records are data that a provider keeps in its host's store, apart from any instance:
// they exist until they are deleted, also while no canvas is open and after a restart.
// They belong to the extension id. A record has at most Limits.RecordBytes (1 MiB), all
// records of an extension at most Limits.RecordsBytes (64 MiB).
//
// In a client, which has no store, the zero Records is empty and refuses changes with
// [ErrUnsupported]. Methods may be called concurrently.
type Records struct{ store RecordStore }

// RecordStore is a host's side of [Records]. The host validates keys and sizes.
type RecordStore interface {
	// Record returns a record's value, and whether it exists. The value must not be
	// changed.
	Record(key string) (value []byte, ok bool)
	// RecordKeys returns the keys that begin with a prefix, sorted.
	RecordKeys(prefix string) []string
	// SetRecord stores a record durably; a nil value deletes it.
	SetRecord(ctx context.Context, key string, value []byte) error
}

// MakeRecords returns the records of a host's store. Hosts call it; providers get
// Records from a [Handle], programs from a host.
func MakeRecords(s RecordStore) Records { return Records{s} }

// Get returns a record's value, and whether it exists. The value must not be changed.
func (r Records) Get(key string) (value []byte, ok bool) {
	if r.store == nil {
		return nil, false
	}
	return r.store.Record(key)
}

// Keys returns the keys that begin with a prefix, sorted; "" returns all.
func (r Records) Keys(prefix string) []string {
	if r.store == nil {
		return nil
	}
	return r.store.RecordKeys(prefix)
}

// Put stores a record and returns when it is durable. On an error nothing has changed.
// A key has 1 to [MaxRecordKey] bytes of UTF-8.
func (r Records) Put(ctx context.Context, key string, value []byte) error {
	if r.store == nil {
		return ErrUnsupported
	}
	return r.store.SetRecord(ctx, key, append([]byte{}, value...))
}

// Delete deletes a record and returns when that is durable. Deleting a record that does
// not exist is not an error.
func (r Records) Delete(ctx context.Context, key string) error {
	if r.store == nil {
		return ErrUnsupported
	}
	return r.store.SetRecord(ctx, key, nil)
}
