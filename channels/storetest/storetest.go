package storetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Open opens a store. Each call, after the previous store was closed, opens a store with
// the same records.
type Open = func() (channels.Store, error)

// Run runs the tests. It calls fresh once for each test; fresh returns a function that
// opens a separate store, which is empty at first.
func Run(t *testing.T, fresh func(t *testing.T) Open) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, p *place)
	}{
		{"Empty", testEmpty},
		{"Order", testOrder},
		{"Batch", testBatch},
		{"Keys", testKeys},
		{"Limits", testLimits},
		{"Refused", testRefused},
		{"LoadStops", testLoadStops},
		{"Values", testValues},
		{"Canceled", testCanceled},
		{"Closed", testClosed},
		{"Busy", testBusy},
		{"Concurrent", testConcurrent},
		{"Isolated", testIsolated},
		{"Successive", testSuccessive},
		{"CloseUnderLoad", testCloseUnderLoad},
		{"Model", testModel},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, &place{open: fresh(t)}) })
	}
}

// place is a place for stores, and the store that is open there.
type place struct {
	open Open
	s    channels.Store
}

// start opens the store and returns its records.
func (p *place) start(t *testing.T) []record {
	t.Helper()
	s, err := p.open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	p.s = s
	return p.load(t)
}

// again closes the store, opens it, and returns its records.
func (p *place) again(t *testing.T) []record {
	t.Helper()
	p.stop(t)
	return p.start(t)
}

func (p *place) stop(t *testing.T) {
	t.Helper()
	if err := p.s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func (p *place) commit(t *testing.T, changes ...channels.Change) {
	t.Helper()
	if err := p.s.Commit(t.Context(), changes...); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

// record is a record that Load returned.
type record struct{ key, value string }

func (p *place) load(t *testing.T) []record {
	t.Helper()
	var all []record
	err := p.s.Load(t.Context(), func(key string, value []byte) error {
		all = append(all, record{key, string(value)})
		return nil
	})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return all
}

func set(key, value string) channels.Change {
	return channels.Change{Key: key, Value: []byte(value)}
}

// gone returns a change that deletes a record.
func gone(key string) channels.Change { return channels.Change{Key: key, Delete: true} }

// check compares the loaded records with the expected ones.
func check(t *testing.T, got []record, want map[string]string) {
	t.Helper()
	var all []record
	for _, key := range slices.Sorted(maps.Keys(want)) {
		all = append(all, record{key, want[key]})
	}
	if !slices.Equal(got, all) {
		t.Fatalf("%d records, want %d: %s", len(got), len(all), difference(got, all))
	}
}

// difference describes the first difference of two lists.
func difference(got, want []record) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return "missing " + short(want[i])
		case i >= len(want):
			return "unexpected " + short(got[i])
		case got[i] != want[i]:
			return short(got[i]) + " instead of " + short(want[i])
		}
	}
	return "no difference"
}

func short(r record) string {
	cut := func(s string) string { return s[:min(len(s), 40)] }
	return cut(r.key) + "=" + cut(r.value)
}
