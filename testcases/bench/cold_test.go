package bench

import (
	"fmt"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// BenchmarkResume measures the part of a reconnect that holds the log's lock:
// finding 1,000 missed envelopes. Encoding follows without the lock.
func BenchmarkResume(b *testing.B) {
	h := newHost(b)
	gone, _ := subscribe(b, h.Log, canvastest.Session, 1)
	mark := h.Log.Leave(gone)
	var seen int64
	h.Log.View(func(tx *channels.ReadTx) { seen = tx.Seq() })
	for range 1000 {
		deliver(b, h.Log)
	}
	uris := []string{canvastest.Session}
	b.ReportAllocs()
	for b.Loop() {
		back := &channels.Subscriber{ID: 2, ClientID: gone.ClientID, Version: ahp.V0_6_0, Caps: gone.Caps, Sink: &sink{}}
		err := h.Log.Update(func(tx *channels.Tx) error {
			if r := tx.Resume(back, mark, seen, uris); !r.Replay || len(r.Entries) != 1000 {
				return fmt.Errorf("replay %v of %d", r.Replay, len(r.Entries))
			}
			return nil
		})
		h.Log.Leave(back)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSnapshot encodes a session with 256 open canvases, without the
// cache.
func BenchmarkSnapshot(b *testing.B) {
	h := newHost(b)
	for i := range 256 {
		h.Open("still", fmt.Sprint("i", i), nil)
	}
	s, _ := subscribe(b, h.Log, canvastest.Session, 1)
	b.ReportAllocs()
	for b.Loop() {
		deliver(b, h.Log) // the state changes, so the cached encoding is stale
		var snap *channels.Snapshot
		err := h.Log.Update(func(tx *channels.Tx) (err error) { snap, err = tx.Subscribe(s, canvastest.Session); return err })
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(snap.Encode().State)))
	}
}

// BenchmarkOpen opens and closes a canvas of an in-process provider, in memory,
// in a session that already has so many.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{0, 200} {
		b.Run(fmt.Sprintf("beside=%d", n), func(b *testing.B) {
			h := newHost(b)
			for i := range n {
				h.Open("still", fmt.Sprint("other", i), nil)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Canvases.Open(b.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "still", InstanceID: "i"}); err != nil {
					b.Fatal(err)
				}
				if err := h.Canvases.Close(b.Context(), canvastest.Session, "i"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
