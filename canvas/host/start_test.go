package host_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// The size of a large store, and the limit of a start with it.
const (
	manySessions  = 50
	manyInstances = 10_000
	startLimit    = 500 * time.Millisecond
)

// newStored makes a host with a store in a file.
func newStored(t testing.TB, file string) (*host.Host, *sqlitestore.Store) {
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

// closeStored closes a host and its store.
func closeStored(t testing.TB, h *host.Host, store *sqlitestore.Store) {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// A host with 10,000 stored canvases starts within half a second, and lists all of them.
func TestStartWithMany(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a store on disk")
	}
	file := filepath.Join(t.TempDir(), "store.db")
	h, store := newStored(t, file)
	began := time.Now()
	fill(t, h)
	t.Logf("%d canvases opened durably by 64 callers in %v (%.0f a second)", manyInstances, time.Since(began).Round(time.Millisecond), manyInstances/time.Since(began).Seconds())
	closeStored(t, h, store)

	best := time.Hour
	for range 3 {
		began = time.Now()
		h, store = newStored(t, file)
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
		closeStored(t, h, store)
	}
	t.Logf("start with %d canvases in %d sessions: %v (limit %v)", manyInstances, manySessions, best.Round(time.Millisecond), startLimit)
	if long() && best > startLimit { // on a shared machine, times vary too much for an assertion
		t.Errorf("started in %v", best)
	}
}

// fill opens the canvases of the store.
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

// The default session has the workspace of the run, also if it was stored without one or
// with another one; other sessions have theirs.
func TestWorkspace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	for _, workspace := range []string{"", "file:///home/maria/shop", "file:///home/maria/blog"} {
		store, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h, stop := serve(t, host.Options{Store: store, ViewToken: "view", Workspace: workspace})
		c, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: "view", Subscriptions: []string{host.DefaultSession}})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := c.Session(host.DefaultSession)
		if got := s.WorkingDirectory; workspace == "" && got != nil || workspace != "" && (got == nil || *got != workspace) {
			t.Errorf("the working directory is %v, want %q", got, workspace)
		}
		c.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}
