package bench

import (
	"fmt"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// deliver publishes one action of the host.
func deliver(t testing.TB, log *channels.Log) {
	err := log.Update(func(tx *channels.Tx) error {
		return tx.Append(canvastest.Session, session.TitleChanged{Title: title})
	})
	if err != nil {
		t.Fatal(err)
	}
	log.Flush()
}

// BenchmarkDeliver publishes an action of the host, from the reducer to every
// subscriber's queue. It is encoded once.
func BenchmarkDeliver(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("subscribers=%d", n), func(b *testing.B) {
			h := newHost(b)
			_, got := subscribe(b, h.Log, canvastest.Session, n)
			b.ReportAllocs()
			for b.Loop() {
				deliver(b, h.Log)
			}
			if got.n == 0 {
				b.Fatal("nothing was delivered")
			}
		})
	}
}

// BenchmarkDispatch handles a client's action: it is decoded, permitted,
// reduced and echoed.
func BenchmarkDispatch(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("subscribers=%d", n), func(b *testing.B) {
			h := newHost(b)
			from, got := subscribe(b, h.Log, canvastest.Session, n)
			p := dispatched(canvastest.Session)
			b.ReportAllocs()
			for b.Loop() {
				h.Log.Dispatch(from, p)
				h.Log.Flush()
			}
			if got.n == 0 {
				b.Fatal("nothing was echoed")
			}
		})
	}
}

// The ceilings are slightly above the measured values. Recipients share a
// batch, so a thousand of them allocate no more than the batch costs.
func TestHotPathAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, tc := range []struct {
		name    string
		ceiling float64
		run     func(log *channels.Log, from *channels.Subscriber)
	}{
		{"deliver", deliverCeiling, func(log *channels.Log, _ *channels.Subscriber) { deliver(t, log) }},
		{"dispatch", dispatchCeiling, func(log *channels.Log, from *channels.Subscriber) {
			log.Dispatch(from, dispatched(canvastest.Session))
			log.Flush()
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, n := range []int{1, 1000} {
				h := newHost(t)
				from, got := subscribe(t, h.Log, canvastest.Session, n)
				allocs := testing.AllocsPerRun(200, func() { tc.run(h.Log, from) })
				t.Logf("%d subscribers: %.0f allocations", n, allocs)
				if got.n < 200 {
					t.Fatalf("%d of 201 actions arrived", got.n)
				}
				ceiling := tc.ceiling
				if n > 1 {
					ceiling += batchCost
				}
				if allocs > ceiling {
					t.Errorf("%d subscribers: %.0f allocations, want at most %.0f", n, allocs, ceiling)
				}
			}
		})
	}
}

const (
	deliverCeiling  = 11 // measured 10
	dispatchCeiling = 13 // measured 12
	batchCost       = 3
)
