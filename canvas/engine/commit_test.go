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

// held is a store whose commits wait until a test lets them go.
type held struct {
	*channels.Memory
	goOn   chan struct{} // one for each commit; closed: all go
	refuse func(changes []channels.Change) error

	mu      sync.Mutex
	batches []int // instance records in each batch that was asked for
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
	case <-s.goOn:
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

// asked returns and forgets how large the batches were.
func (s *held) asked() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batches
	s.batches = nil
	return b
}

// flowsOf starts operations at the same time, and returns their errors by name
// when all are done.
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
	s := &held{Memory: channels.NewMemory(), goOn: make(chan struct{})}
	h.Canvases.PutStore(s)
	return h, f, s
}

func rowIDs(h *canvastest.Host) (ids []string) {
	for _, row := range h.SessionState().OpenCanvases {
		ids = append(ids, row.InstanceID)
	}
	return ids
}

// TestFlowsGoTogether: who comes alone goes at once; what comes meanwhile is one
// batch and one action, in which nothing is seen before it is durable.
func TestFlowsGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, s := newHeld(t)
		v := h.Connect("v")
		v.Subscribe(canvastest.Session)
		var flows flowsOf
		for i := range 5 {
			flows.open(h, fmt.Sprint("c", i), "")
		}
		equal(t, []int{1}, s.asked()) // the first waited for nobody
		equal(t, 0, len(v.Take()))
		s.goOn <- struct{}{}
		synctest.Wait()
		equal(t, []int{4}, s.asked())
		equal(t, 1, len(v.Take()))
		equal(t, []string{"c0"}, rowIDs(h))
		s.goOn <- struct{}{}
		equal(t, map[string]error{"c0": nil, "c1": nil, "c2": nil, "c3": nil, "c4": nil}, flows.wait())
		equal(t, 1, len(v.Take()))
		equal(t, []string{"c0", "c1", "c2", "c3", "c4"}, rowIDs(h))

		// Opens, closes and a re-open of one session.
		flows = flowsOf{}
		flows.open(h, "first", "")
		flows.start("close c1", func() error { return closeCanvas(h, "c1") })
		flows.open(h, "c2", `{"n":2}`)
		flows.open(h, "last", "")
		flows.start("close c0", func() error { return closeCanvas(h, "c0") })
		c0 := h.SessionState().OpenCanvases[0].Channel
		close(s.goOn)
		for name, err := range flows.wait() {
			if err != nil {
				t.Error(name, err)
			}
		}
		equal(t, []int{1, 4}, s.asked())
		equal(t, 2, len(v.Take()))
		equal(t, []string{"c2", "c3", "c4", "first", "last"}, rowIDs(h))
		equal(t, `{"n":2}`, string(h.State(h.SessionState().OpenCanvases[0].Channel).Input))
		if _, there := h.Log.State(c0); there {
			t.Error("a closed canvas has a channel")
		}
	})
}

// TestGroupIsRefused: one that cannot be kept does not fail the others.
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
		close(s.goOn)
		errs := flows.wait()
		for _, name := range []string{"first", "small", "other"} {
			ok(t, errs[name])
		}
		wantCode(t, errs["large"], canvas.CodeStoreFailed)
		wantCode(t, errs["close"], canvas.CodeInstanceNotFound)
		equal(t, []int{1, 3, 1, 1, 1}, s.asked())
		ids := rowIDs(h)
		slices.Sort(ids)
		equal(t, []string{"first", "other", "small"}, ids)
	})
}

// TestWaitsNoLonger: who gives up before its change is taken in has changed
// nothing, and the others go on.
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
		close(s.goOn)
		errs := flows.wait()
		if !errors.Is(errs["gone"], context.Canceled) {
			t.Errorf("gave up with %v", errs["gone"])
		}
		equal(t, []string{"first", "last"}, rowIDs(h))
		equal(t, []int{1, 1}, s.asked())
	})
}

// TestHungStore: a group that the store does not take in ends with the deadlines
// of its flows.
func TestHungStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, s := newHeld(t)
		var flows flowsOf
		for i := range 3 {
			flows.open(h, fmt.Sprint("c", i), "")
		}
		s.goOn <- struct{}{}
		errs := flows.wait()
		ok(t, errs["c0"])
		wantCode(t, errs["c1"], canvas.CodeTimeout)
		wantCode(t, errs["c2"], canvas.CodeTimeout)
		equal(t, []int{1, 2}, s.asked()[:2])
		equal(t, []string{"c0"}, rowIDs(h))
		close(s.goOn)
	})
}

// TestOneOfAGroupDoesNotCount: an open whose provider is lost while the group is on
// its way is taken back; the others are open.
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
		s.goOn <- struct{}{}
		synctest.Wait()
		equal(t, []int{1, 2}, s.asked())
		reg.SetReachable(false)
		close(s.goOn)
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

// TestCatalogueIsAValue: what somebody read of a session stays what it was, however
// many canvases are opened and closed after it.
func TestCatalogueIsAValue(t *testing.T) {
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
			ok(t, closeCanvas(h, fmt.Sprint("c", i))) // the last one: its place is free again
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
