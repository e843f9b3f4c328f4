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

// BenchmarkCallers stores records from one caller and from 64, beside bare files of the same
// bytes: x-syncs is one caller against two such files, each written and synced; x-file is one
// caller against one file and its folder, whose second sync has nothing to do. x-one is what
// 64 callers store in the time in which one stores a record, and x-raw the same for 64
// goroutines that each write and sync a bare file, with one sync of the folder for all: what
// this disk and these processors give.
func BenchmarkCallers(b *testing.B) {
	in := aap.Interaction{Action: "click", Element: "approve", CanvasFile: "reports/approval.html", Data: ahp.Value(`{"id":"pr-42","title":"Add OAuth support"}`)}
	e := open(b, unlimited)
	bare := newBareFiles(b, []byte(e.file(e.submit(in).FileName())))
	took := map[string][]time.Duration{}
	measure := func(name string, fn func()) {
		began := time.Now()
		fn()
		took[name] = append(took[name], time.Since(began))
	}
	for b.Loop() { // side by side, so that all meet the same load
		for range 4 {
			measure("one", func() { e.submit(in) })
			measure("file", func() { bare.write(); bare.syncFolder() })
			measure("two files", func() { bare.write(); bare.write() })
		}
		measure("64", func() { together(func() { e.submit(in) }) })
		measure("raw 64", func() { together(bare.write); bare.syncFolder() })
	}
	median := func(name string) float64 { slices.Sort(took[name]); return float64(took[name][len(took[name])/2]) }
	b.ReportMetric(64*median("one")/median("64"), "x-one")
	b.ReportMetric(64*median("file")/median("raw 64"), "x-raw")
	b.ReportMetric(median("one")/median("file"), "x-file")
	b.ReportMetric(median("one")/median("two files"), "x-syncs")
	b.ReportMetric(median("64")/1e6, "64-ms")
	b.ReportMetric(median("one")/1e6, "one-ms")
}

// together calls fn from 64 goroutines at a time.
func together(fn func()) {
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(fn)
	}
	wg.Wait()
}

// bareFiles writes and syncs files, and does nothing else.
type bareFiles struct {
	b       *testing.B
	dir     string
	content []byte
	n       atomic.Int64
}

func newBareFiles(b *testing.B, content []byte) *bareFiles {
	return &bareFiles{b: b, dir: b.TempDir(), content: content}
}

func (w *bareFiles) write() {
	f, err := os.Create(filepath.Join(w.dir, fmt.Sprint(w.n.Add(1))))
	if err == nil {
		_, err = f.Write(w.content)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		w.b.Error(err)
	}
}

func (w *bareFiles) syncFolder() {
	f, err := os.Open(w.dir)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		w.b.Error(err)
	}
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
