package host_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// A store of many sessions and open canvases, and what bounds its start.
const (
	manySessions  = 50
	manyInstances = 10_000
	startLimit    = 500 * time.Millisecond
)

// kept is a host on a store in a file.
func kept(t testing.TB, file string) (*host.Host, *sqlitestore.Store) {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{
		Store:  store,
		Limits: canvas.Limits{Instances: manyInstances},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h, store
}

// end drains a host and closes its store.
func end(t testing.TB, h *host.Host, store *sqlitestore.Store) {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// TestStartWithMany: a host with 10,000 open canvases on disk is there within
// half a second, each of them listed, and then opens them again.
func TestStartWithMany(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a store on disk")
	}
	file := filepath.Join(t.TempDir(), "store.db")
	h, store := kept(t, file)
	began := time.Now()
	fill(t, h)
	t.Logf("%d canvases opened durably by 64 callers in %v (%.0f a second)", manyInstances, time.Since(began).Round(time.Millisecond), manyInstances/time.Since(began).Seconds())
	end(t, h, store)

	best := time.Hour
	for range 3 {
		began = time.Now()
		h, store = kept(t, file)
		best = min(best, time.Since(began))
		count := 0
		for n := range manySessions {
			open, err := h.Canvases().ListOpen(fmt.Sprintf("ahp-session:/%d", n))
			if err != nil {
				t.Fatal(err)
			}
			count += len(open)
		}
		if count != manyInstances {
			t.Fatalf("%d canvases after the restart", count)
		}
		end(t, h, store)
	}
	t.Logf("start with %d canvases in %d sessions: %v (at most %v wanted)", manyInstances, manySessions, best.Round(time.Millisecond), startLimit)
	if long() && best > startLimit { // a time is no test on a machine that is busy with others
		t.Errorf("started in %v", best)
	}
}

// fill opens what the store shall hold.
func fill(t *testing.T, h *host.Host) {
	t.Helper()
	if _, err := h.Canvases().Register(board.New().Extension(), board.New(), board.New().Declarations()...); err != nil {
		t.Fatal(err)
	}
	for n := range manySessions {
		uri := fmt.Sprintf("ahp-session:/%d", n)
		if err := h.EnsureSession(uri, "Session"); err != nil {
			t.Fatal(err)
		}
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for n := range next {
				_, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{
					Session: fmt.Sprintf("ahp-session:/%d", n%manySessions), CanvasID: board.CanvasID, InstanceID: fmt.Sprint("i", n),
					Input: ahp.Value(fmt.Sprintf(`{"title":"Board %d"}`, n)),
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range manyInstances {
		next <- n
	}
	close(next)
	wg.Wait()
}
