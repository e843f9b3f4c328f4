package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// held is a store whose commits block until a test releases them.
type held struct {
	*channels.Memory
	release chan struct{} // releases one commit per value; closed: all
	refuse  func(changes []channels.Change) error

	mu      sync.Mutex
	batches []int // instance records of each batch so far
}

func (s *held) Commit(ctx context.Context, changes ...channels.Change) error {
	n := 0
	for _, c := range changes {
		if strings.HasPrefix(c.Key, "canvas/") {
			n++
		}
	}
	s.mu.Lock()
	s.batches = append(s.batches, n)
	s.mu.Unlock()
	select {
	case <-s.release:
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.refuse != nil {
		if err := s.refuse(changes); err != nil {
			return err
		}
	}
	return s.Memory.Commit(ctx, changes...)
}

// batchSizes returns the batch sizes since the last call.
func (s *held) batchSizes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batches
	s.batches = nil
	return b
}

// flowsOf runs operations concurrently and returns their errors by name.
type flowsOf struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs map[string]error
}

func (f *flowsOf) start(name string, do func() error) {
	f.wg.Go(func() {
		err := do()
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.errs == nil {
			f.errs = map[string]error{}
		}
		f.errs[name] = err
	})
	synctest.Wait()
}

func (f *flowsOf) wait() map[string]error { f.wg.Wait(); return f.errs }

func (f *flowsOf) open(h *canvastest.Host, id, input string) {
	f.start(id, func() error { _, err := open(h, id, input); return err })
}

func newHeld(t *testing.T) (*canvastest.Host, *fake, *held) {
	h, f, _ := newFake(t, engine.Options{})
	s := &held{Memory: channels.NewMemory(), release: make(chan struct{})}
	h.Canvases.PutStore(s)
	return h, f, s
}

func rowIDs(h *canvastest.Host) (ids []string) {
	for _, row := range h.SessionState().OpenCanvases {
		ids = append(ids, row.InstanceID)
	}
	return ids
}

// TestFlowsGoTogether: a flow alone commits at once. Flows that arrive during its
// commit share one batch and one action, and none is visible before it is durable.
func TestFlowsGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, s := newHeld(t)
		v := h.Connect("v")
		v.Subscribe(canvastest.Session)
		var flows flowsOf
		for i := range 5 {
			flows.open(h, fmt.Sprint("c", i), "")
		}
		equal(t, []int{1}, s.batchSizes()) // the first flow waited for no other
		equal(t, 0, len(v.Take()))
		s.release <- struct{}{}
		synctest.Wait()
		equal(t, []int{4}, s.batchSizes())
		equal(t, 1, len(v.Take()))
		equal(t, []string{"c0"}, rowIDs(h))
		s.release <- struct{}{}
		equal(t, map[string]error{"c0": nil, "c1": nil, "c2": nil, "c3": nil, "c4": nil}, flows.wait())
		equal(t, 1, len(v.Take()))
		equal(t, []string{"c0", "c1", "c2", "c3", "c4"}, rowIDs(h))

		// Opens, closes and a reopen in one session.
		flows = flowsOf{}
		flows.open(h, "first", "")
		flows.start("close c1", func() error { return closeCanvas(h, "c1") })
		flows.open(h, "c2", `{"n":2}`)
		flows.open(h, "last", "")
		flows.start("close c0", func() error { return closeCanvas(h, "c0") })
		c0 := h.SessionState().OpenCanvases[0].Channel
		close(s.release)
		for name, err := range flows.wait() {
			if err != nil {
				t.Error(name, err)
			}
		}
		equal(t, []int{1, 4}, s.batchSizes())
		equal(t, 2, len(v.Take()))
		equal(t, []string{"c2", "c3", "c4", "first", "last"}, rowIDs(h))
		equal(t, `{"n":2}`, string(h.State(h.SessionState().OpenCanvases[0].Channel).Input))
		if _, there := h.Log.State(c0); there {
			t.Error("a closed canvas has a channel")
		}
	})
}

// TestGroupIsRefused: a flow that the store rejects does not fail the others of its
// group.
func TestGroupIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, s := newHeld(t)
		s.refuse = func(changes []channels.Change) error {
			if slices.ContainsFunc(changes, func(c channels.Change) bool { return len(c.Value) > 1000 }) {
				return fmt.Errorf("full: %w", channels.ErrStoreFull)
			}
			return nil
		}
		var flows flowsOf
		flows.open(h, "first", "")
		flows.open(h, "small", "")
		flows.open(h, "large", `{"x":"`+strings.Repeat("x", 1000)+`"}`)
		flows.start("close", func() error { return closeCanvas(h, "nobody") })
		flows.open(h, "other", "")
		close(s.release)
		errs := flows.wait()
		for _, name := range []string{"first", "small", "other"} {
			ok(t, errs[name])
		}
		wantCode(t, errs["large"], canvas.CodeStoreFailed)
		wantCode(t, errs["close"], canvas.CodeInstanceNotFound)
		equal(t, []int{1, 3, 1, 1, 1}, s.batchSizes())
		ids := rowIDs(h)
		slices.Sort(ids)
		equal(t, []string{"first", "other", "small"}, ids)
	})
}

// TestWaitsNoLonger: a flow whose caller gives up before its commit begins changes
// nothing, and the other flows of the queue succeed.
func TestWaitsNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, s := newHeld(t)
		var flows flowsOf
		ctx, cancel := context.WithCancel(context.Background())
		flows.open(h, "first", "")
		flows.start("gone", func() error {
			_, err := h.Canvases.Open(ctx, canvas.OpenArgs{Session: canvastest.Session, CanvasID: "fake", InstanceID: "gone"})
			return err
		})
		flows.open(h, "last", "")
		cancel()
		synctest.Wait()
		f.took()
		close(s.release)
		errs := flows.wait()
		if !errors.Is(errs["gone"], context.Canceled) {
			t.Errorf("gave up with %v", errs["gone"])
		}
		equal(t, []string{"first", "last"}, rowIDs(h))
		equal(t, []int{1, 1}, s.batchSizes())
	})
}

// TestHungStore: flows in a group end at their deadlines if the store does not
// answer.
func TestHungStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, s := newHeld(t)
		var flows flowsOf
		for i := range 3 {
			flows.open(h, fmt.Sprint("c", i), "")
		}
		s.release <- struct{}{}
		errs := flows.wait()
		ok(t, errs["c0"])
		wantCode(t, errs["c1"], canvas.CodeTimeout)
		wantCode(t, errs["c2"], canvas.CodeTimeout)
		equal(t, []int{1, 2}, s.batchSizes()[:2])
		equal(t, []string{"c0"}, rowIDs(h))
		close(s.release)
	})
}

// TestOneOfAGroupDoesNotCount: an open whose provider disconnects during the group's
// commit is rolled back; the other opens succeed.
func TestOneOfAGroupDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, s := newHeld(t)
		lost := &fake{}
		reg := h.Register(canvas.Extension{ID: "lost"}, lost, canvas.Declaration{CanvasID: "other", DisplayName: "Other"})
		var flows flowsOf
		flows.open(h, "first", "")
		flows.open(h, "two", "")
		flows.start("lost", func() error {
			_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "other", InstanceID: "lost"})
			return err
		})
		s.release <- struct{}{}
		synctest.Wait()
		equal(t, []int{1, 2}, s.batchSizes())
		reg.SetReachable(false)
		close(s.release)
		errs := flows.wait()
		ok(t, errs["two"])
		wantCode(t, errs["lost"], canvas.CodeProviderUnavailable)
		equal(t, []string{"first", "two"}, rowIDs(h))
		synctest.Wait()
		records, err := channels.LoadRecords(t.Context(), s.Memory)
		ok(t, err)
		equal(t, 2, len(records.Under("canvas/")))
		equal(t, session.Ready, h.SessionState().OpenCanvases[1].Availability)
	})
}

// TestCatalogIsImmutable: a catalog that was read does not change when canvases are
// opened and closed later.
func TestCatalogIsImmutable(t *testing.T) {
	h, _, _ := newFake(t, engine.Options{})
	var read [][]session.OpenCanvasRef
	var want [][]string
	for i := range 40 {
		if _, err := open(h, fmt.Sprint("c", i), ""); err != nil {
			t.Fatal(err)
		}
		switch i % 8 {
		case 3:
			ok(t, closeCanvas(h, fmt.Sprint("c", i-2)))
		case 7:
			ok(t, closeCanvas(h, fmt.Sprint("c", i))) // the last entry, whose place in the array the next open reuses
		}
		state, _ := h.Log.State(canvastest.Session)
		read, want = append(read, state.(session.State).OpenCanvases), append(want, rowIDs(h))
	}
	for n, rows := range read {
		var ids []string
		for _, row := range rows {
			ids = append(ids, row.InstanceID)
		}
		equal(t, want[n], ids)
	}
}
