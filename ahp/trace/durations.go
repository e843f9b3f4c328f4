package trace

import (
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"time"
)

// Buckets are the upper bounds of [Durations].
var Buckets = []time.Duration{
	time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 10 * time.Second, time.Minute,
}

// maxNames limits the names of spans that are counted; others are counted as "other".
const maxNames = 32

// Durations is how long the spans of one name took.
type Durations struct {
	// Name is the name of the spans.
	Name string
	// Counts are the spans of at most Buckets[i] each, not cumulative; the last element
	// counts the longer ones.
	Counts []uint64
	// Sum is the sum of all durations.
	Sum time.Duration
	// Exemplars are the last span of each count; those of empty counts are zero.
	Exemplars []Exemplar
}

// Exemplar is one span of many.
type Exemplar struct {
	// TraceID is the id of its trace, in hexadecimal; "" for none.
	TraceID string
	// Took is its duration.
	Took time.Duration
	// Ended is when it ended.
	Ended time.Time
}

// durations counts spans by their names.
type durations struct {
	mu     sync.Mutex
	byName map[string]*Durations
}

// note counts a span.
func (d *durations) note(name string, id [16]byte, began, ended time.Time) {
	took := ended.Sub(began)
	i, _ := slices.BinarySearch(Buckets, took)
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.byName[name]
	if of == nil && len(d.byName) >= maxNames {
		name = "other"
		of = d.byName[name]
	}
	if of == nil {
		if d.byName == nil {
			d.byName = map[string]*Durations{}
		}
		of = &Durations{Name: name, Counts: make([]uint64, len(Buckets)+1), Exemplars: make([]Exemplar, len(Buckets)+1)}
		d.byName[name] = of
	}
	of.Counts[i]++
	of.Sum += took
	of.Exemplars[i] = Exemplar{hex.EncodeToString(id[:]), took, ended}
}

// Durations returns how long spans took, sorted by their names. A nil Tracer has none.
func (t *Tracer) Durations() (all []Durations) {
	if t == nil {
		return nil
	}
	d := &t.durations
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.byName)) {
		of := *d.byName[name]
		of.Counts, of.Exemplars = slices.Clone(of.Counts), slices.Clone(of.Exemplars)
		all = append(all, of)
	}
	return all
}
