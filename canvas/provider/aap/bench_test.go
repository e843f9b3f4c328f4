package aap_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// unlimited is for figures.
func unlimited(o *aap.Options) { o.Limits = aap.Limits{Rate: 1e9, Burst: 1e9, Records: 1e9} }

// BenchmarkSubmit stores a record, one caller and 64 callers, beside two syncs of the same
// bytes and of their folder.
func BenchmarkSubmit(b *testing.B) {
	in := aap.Interaction{Action: "click", Element: "approve", CanvasFile: "reports/approval.html", Data: ahp.Value(`{"id":"pr-42","title":"Add OAuth support"}`)}
	b.Run("raw", func(b *testing.B) {
		dir := b.TempDir()
		e := open(b, unlimited)
		bytes := []byte(e.file(e.submit(in).FileName()))
		folder, err := os.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer folder.Close()
		n := 0
		for b.Loop() {
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(n)))
			n++
			if err == nil {
				_, err = f.Write(bytes)
				err = errors.Join(err, f.Sync(), f.Close(), folder.Sync())
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			e := open(b, unlimited)
			e.submit(in)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						e.submit(in)
					}
				})
			}
			wg.Wait()
		})
	}
}

// BenchmarkCallers stores records from one caller and from 64, beside 64 goroutines that only
// write and sync files of the same bytes, each with its own file and one sync of the folder
// for all: what this disk and these processors give. x-one is what 64 callers store in the
// time in which one stores a record, and x-raw the same for the bare files.
func BenchmarkCallers(b *testing.B) {
	in := aap.Interaction{Action: "click", Element: "approve", CanvasFile: "reports/approval.html", Data: ahp.Value(`{"id":"pr-42","title":"Add OAuth support"}`)}
	e := open(b, unlimited)
	content := []byte(e.file(e.submit(in).FileName()))
	dir := b.TempDir()
	folder, err := os.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	n := 0
	bare := func(callers int) time.Duration {
		began := time.Now()
		var wg sync.WaitGroup
		for range callers {
			name := filepath.Join(dir, fmt.Sprint(n))
			n++
			wg.Go(func() {
				f, err := os.Create(name)
				if err == nil {
					_, err = f.Write(content)
					err = errors.Join(err, f.Sync(), f.Close())
				}
				if err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		if err := folder.Sync(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	ours := func(callers int) time.Duration {
		began := time.Now()
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() { e.submit(in) })
		}
		wg.Wait()
		return time.Since(began)
	}
	took := map[string][]time.Duration{}
	for b.Loop() { // side by side, so that all meet the same load
		took["one"] = append(took["one"], ours(1))
		took["64"] = append(took["64"], ours(64))
		took["raw one"] = append(took["raw one"], bare(1))
		took["raw 64"] = append(took["raw 64"], bare(64))
	}
	median := func(name string) float64 { slices.Sort(took[name]); return float64(took[name][len(took[name])/2]) }
	b.ReportMetric(64*median("one")/median("64"), "x-one")
	b.ReportMetric(64*median("raw one")/median("raw 64"), "x-raw")
	b.ReportMetric(median("one")/median("raw one"), "x-syncs")
}

// BenchmarkInject puts the bridge into a page of 1 MiB, beside a copy of it.
func BenchmarkInject(b *testing.B) {
	page := []byte("<!doctype html><html><head><title>x</title></head><body>" + strings.Repeat("<p>some text of a page, ASCII mostly</p>\n", 1<<20/42) + "</body></html>")
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			runtime.KeepAlive(bytes.Clone(page))
		}
	})
	b.Run("inject", func(b *testing.B) {
		for b.Loop() {
			runtime.KeepAlive(aap.Inject(page))
		}
	})
}

// BenchmarkList reads the newest 50 records, of 100 and of 100,000, after the first look.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := open(b)
			if err := os.MkdirAll(e.canvas("interactions"), 0o755); err != nil {
				b.Fatal(err)
			}
			for k := range n {
				id := fmt.Sprintf("%06d", k)
				r := aap.Record{ID: id, Timestamp: "2026-01-01T00:00:00.000Z", CanvasFile: "p.html", Action: "click", Summary: "User click on p.html"}
				if err := os.WriteFile(e.canvas("interactions/2026-01-01T00-00-00-000Z-"+id+".json"), ahp.MustMarshal(r), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			old := e.Now().Add(-24 * time.Hour)
			if err := os.Chtimes(e.canvas("interactions"), old, old); err != nil {
				b.Fatal(err)
			}
			if _, _, err := e.List(agentID, aap.Query{}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if records, more, err := e.List(agentID, aap.Query{}); err != nil || len(records) != 50 || !more {
					b.Fatal(len(records), more, err)
				}
			}
		})
	}
}
