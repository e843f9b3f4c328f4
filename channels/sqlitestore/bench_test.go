package sqlitestore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// raw is a file beside the store to which 300 bytes are appended and synced, the least
// that a durable commit can cost.
type raw struct {
	f     *os.File
	took  time.Duration
	times int
}

func newRaw(b *testing.B) *raw {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return &raw{f: f}
}

func (r *raw) sync(b *testing.B) {
	start := time.Now()
	_, err := r.f.Write(make([]byte, 300))
	if err = errors.Join(err, r.f.Sync()); err != nil {
		b.Fatal(err)
	}
	r.took += time.Since(start)
	r.times++
}

func (r *raw) each() float64 { return float64(r.took) / float64(r.times) }

func benchStore(b *testing.B, records int) (string, *sqlitestore.Store) {
	path := filepath.Join(b.TempDir(), sqlitestore.FileName)
	s, err := sqlitestore.Open(b.Context(), path, sqlitestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < records; {
		var batch []channels.Change
		for range min(5000, records-i) {
			batch = append(batch, instance(i))
			i++
		}
		if err := s.Commit(b.Context(), batch...); err != nil {
			b.Fatal(err)
		}
	}
	return path, s
}

// instance returns a typical record of about 300 bytes.
func instance(i int) channels.Change {
	return channels.Change{Key: fmt.Sprintf("instance/session-%d/canvas-%06d", i%50, i), Value: fmt.Appendf(nil, "%0300d", i)}
}

// BenchmarkCommit has each caller set a record and delete it five commits later, in a
// store with 10,000 other records. It alternates with raw syncs on the same file system.
// x-sync is the duration of a commit divided by that of a raw sync, x-rate the rate of
// commits divided by that of raw syncs.
func BenchmarkCommit(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			_, s := benchStore(b, 10_000)
			defer s.Close()
			r := newRaw(b)
			const rounds = 100
			var took time.Duration
			n := 0
			for b.Loop() {
				for range rounds {
					r.sync(b)
				}
				start := time.Now()
				var wg sync.WaitGroup
				for c := range callers {
					wg.Go(func() { openAndClose(b, s, c, rounds) })
				}
				wg.Wait()
				took += time.Since(start)
				n += callers * rounds
			}
			each := float64(took) / float64(n)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(r.each()/1e3, "µs/sync")
			b.ReportMetric(each/1e3, "µs/commit")
			b.ReportMetric(each/r.each(), "x-sync")
			b.ReportMetric(r.each()/each, "x-rate")
		})
	}
}

var value300 = make([]byte, 300)

func openAndClose(b *testing.B, s channels.Store, caller, rounds int) {
	for i := range rounds {
		c := channels.Change{Key: fmt.Sprintf("instance/session-%d/new-%d", caller, i/10*5+i%5), Value: value300, Delete: i/5%2 == 1}
		if err := s.Commit(b.Context(), c); err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkLoad measures Open, which verifies the store, and Load.
func BenchmarkLoad(b *testing.B) {
	for _, records := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
			path, s := benchStore(b, records)
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				s, err := sqlitestore.Open(b.Context(), path, sqlitestore.Options{})
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				err = s.Load(b.Context(), func(string, []byte) error { n++; return nil })
				if err != nil || n != records {
					b.Fatal(n, err)
				}
				b.StopTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/start")
		})
	}
}
