package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// BenchmarkDurableOpen opens and closes canvases of an in-process provider in a
// host whose store is a file, with several callers, in a session that already
// has some. In between it appends 300 bytes to a file in the same folder and
// syncs it: x-sync is the time of an open in syncs, x-rate the number of opens
// per sync, and cpu-µs/open the CPU time of all cores per open. The allocations
// are for an open and a close together.
func BenchmarkDurableOpen(b *testing.B) {
	for _, callers := range []int{1, 64} {
		for _, beside := range []int{10, 200, 1000} {
			b.Run(fmt.Sprintf("callers=%d/beside=%d", callers, beside), func(b *testing.B) {
				h := newDurableHost(b)
				openAll(b, h, names("other", beside), 64)
				var opens, closes, syncs, cpu time.Duration
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					round := names("i", 64+3*callers)
					syncs += timed(func() { syncAll(b, len(round)) })
					cpu -= ahptest.CPU()
					opens += timed(func() { openAll(b, h, round, callers) })
					cpu += ahptest.CPU()
					closes += timed(func() { closeAll(b, h, round, callers) })
					n += len(round)
				}
				b.ReportMetric(0, "ns/op")
				report := func(d time.Duration, unit string) { b.ReportMetric(float64(d)/float64(n)/1e3, unit) }
				report(syncs, "µs/sync")
				report(opens, "µs/open")
				report(cpu, "cpu-µs/open")
				report(closes, "µs/close")
				b.ReportMetric(float64(opens)/float64(syncs), "x-sync")
				b.ReportMetric(float64(syncs)/float64(opens), "x-rate")
			})
		}
	}
}

// BenchmarkTitle sets a title, which also changes the catalog, in a session
// with so many other canvases.
func BenchmarkTitle(b *testing.B) {
	for _, beside := range []int{10, 200, 1000} {
		b.Run(fmt.Sprintf("beside=%d", beside), func(b *testing.B) {
			h := canvastest.New(b, engine.Options{Limits: canvas.Limits{SessionInstances: 2000, TitleRate: 1 << 30}})
			p := &talker{}
			h.Register(canvas.Extension{ID: "talker"}, p, canvas.Declaration{CanvasID: "still", DisplayName: "Talker"})
			openAll(b, h, names("i", beside+1), 1)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				if err := p.handle.SetTitle(b.Context(), fmt.Sprint("title ", n)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// talker keeps the handle of the canvas that it opened last.
type talker struct {
	still
	handle *canvas.Handle
}

func (t *talker) Open(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	t.handle = h
	return canvas.Opened{Instance: still{}, Title: "Talker"}, nil
}

func newDurableHost(b *testing.B) *canvastest.Host {
	b.Helper()
	store, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), sqlitestore.FileName), sqlitestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	return hostWith(b, engine.Options{Store: store, Limits: canvas.Limits{SessionInstances: 2000}})
}

func names(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(prefix, i)
	}
	return all
}

func timed(fn func()) time.Duration {
	begun := time.Now()
	fn()
	return time.Since(begun)
}

func openAll(b *testing.B, h *canvastest.Host, ids []string, callers int) {
	each(b, ids, callers, func(id string) error {
		_, err := h.Canvases.Open(context.Background(), canvas.OpenArgs{
			Session: canvastest.Session, CanvasID: "still", InstanceID: id, Input: ahp.Value(nil),
		})
		return err
	})
}

func closeAll(b *testing.B, h *canvastest.Host, ids []string, callers int) {
	each(b, ids, callers, func(id string) error { return h.Canvases.Close(context.Background(), canvastest.Session, id) })
}

// each calls do for every id, with so many concurrent callers.
func each(b *testing.B, ids []string, callers int, do func(id string) error) {
	b.Helper()
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for c := range callers {
		wg.Go(func() {
			for i := c; i < len(ids); i += callers {
				errs[c] = errors.Join(errs[c], do(ids[i]))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

// syncAll appends 300 bytes and syncs them, n times.
func syncAll(b *testing.B, n int) {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	record := make([]byte, 300)
	for range n {
		_, err := f.Write(record)
		if err = errors.Join(err, f.Sync()); err != nil {
			b.Fatal(err)
		}
	}
}
