package engine

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// recordKey precedes a provider's own records in the store: the escaped extension id, a
// slash and the record's key follow.
const recordKey = "provider/"

// recordOverhead is what a record counts in addition to its key and value, in bytes.
const recordOverhead = 256

// records holds the providers' own records in memory, as the store has them.
type records struct {
	engine *Engine

	mu         sync.Mutex
	extensions map[string]*extensionRecords // by extension id
}

// extensionRecords are the records of one extension: a [canvas.RecordStore].
type extensionRecords struct {
	engine *Engine
	prefix string // of the store's keys

	writing sync.Mutex // held during a commit, so that store and memory agree

	mu     sync.Mutex
	values map[string][]byte
	bytes  int
}

// Records returns the records of an extension (see [canvas.Records]). They exist whether
// or not the extension is registered.
func (e *Engine) Records(extensionID string) canvas.Records {
	return canvas.MakeRecords(e.records.of(extensionID))
}

func (r *records) of(extensionID string) *extensionRecords {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.extensions[extensionID]
	if of == nil {
		of = &extensionRecords{engine: r.engine, prefix: recordKey + url.PathEscape(extensionID) + "/", values: map[string][]byte{}}
		r.extensions[extensionID] = of
	}
	return of
}

// load reads the records of an earlier run.
func (r *records) load(all channels.Records) {
	for _, rec := range all.Under(recordKey) {
		escaped, key, _ := strings.Cut(rec.Key, "/")
		extensionID, err := url.PathUnescape(escaped)
		if err != nil {
			continue // not a key of ours
		}
		r.of(extensionID).set(key, append([]byte{}, rec.Value...)) // never nil, which deletes
	}
}

// Record implements [canvas.RecordStore].
func (r *extensionRecords) Record(key string) (value []byte, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok = r.values[key]
	return value, ok
}

// RecordKeys implements [canvas.RecordStore].
func (r *extensionRecords) RecordKeys(prefix string) (keys []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.values {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// SetRecord implements [canvas.RecordStore].
func (r *extensionRecords) SetRecord(ctx context.Context, key string, value []byte) error {
	if key == "" || len(key) > canvas.MaxRecordKey || !utf8.ValidString(key) {
		return canvas.Errorf(canvas.CodeInputInvalid, "record key %.60q: want 1 to %d bytes of UTF-8", key, canvas.MaxRecordKey)
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	if err := r.check(key, value); err != nil {
		return err
	}
	if old, ok := r.Record(key); ok == (value != nil) && bytes.Equal(old, value) {
		return nil
	}
	change := channels.Change{Key: r.prefix + key, Value: value, Delete: value == nil}
	if err := r.engine.commits.write(ctx, nothingChanged, []channels.Change{change}); err != nil {
		return err
	}
	r.set(key, value)
	return nil
}

// check holds a new value against the limits.
func (r *extensionRecords) check(key string, value []byte) error {
	limits := &r.engine.limits
	if len(value) > limits.RecordBytes {
		return canvas.Errorf(canvas.CodeLimitExceeded, "record %.60q has %d bytes, at most %d are allowed", key, len(value), limits.RecordBytes)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	after := r.bytes + cost(key, value)
	if old, ok := r.values[key]; ok {
		after -= cost(key, old)
	}
	if value != nil && after > limits.RecordsBytes {
		return canvas.Errorf(canvas.CodeLimitExceeded, "record %.60q: the extension's records would have %d bytes, at most %d are allowed; delete some first", key, after, limits.RecordsBytes)
	}
	return nil
}

func (r *extensionRecords) set(key string, value []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.values[key]; ok {
		r.bytes -= cost(key, old)
		delete(r.values, key)
	}
	if value != nil {
		r.bytes += cost(key, value)
		r.values[key] = value
	}
}

func cost(key string, value []byte) int { return len(key) + len(value) + recordOverhead }
