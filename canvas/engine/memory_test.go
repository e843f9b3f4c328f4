package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestSavedDataIsInTheLedger: what providers save counts until the instance is closed.
// Beyond the share, a save that grows fails; one that does not still works.
func TestSavedDataIsInTheLedger(t *testing.T) {
	ledger := budget.New(64 << 20)
	h, f, _ := newFake(t, engine.Options{Memory: ledger})
	used := func(want int64) {
		t.Helper()
		if got := ledger.Used(budget.Saved); got != want {
			t.Errorf("saved data of %d bytes count %d", want, got)
		}
	}
	_, err := open(h, "one", "")
	ok(t, err)
	hd := f.latest().h
	used(0)
	ok(t, hd.Save(t.Context(), make([]byte, 256<<10)))
	used(256 << 10)
	ok(t, hd.Save(t.Context(), make([]byte, 100<<10)))
	used(100 << 10)
	ledger.Add(budget.Saved, ledger.Share(budget.Saved)-100<<10)
	if err := hd.Save(t.Context(), make([]byte, 101<<10)); !errors.Is(err, &canvas.Error{Code: canvas.CodeLimitExceeded}) {
		t.Errorf("a save beyond the share: %v", err)
	}
	ok(t, hd.Save(t.Context(), make([]byte, 100<<10)))
	ok(t, hd.Save(t.Context(), make([]byte, 50<<10)))
	ledger.Add(budget.Saved, 100<<10-ledger.Share(budget.Saved))
	used(50 << 10)
	ok(t, closeCanvas(h, "one"))
	used(0)
	ledger.Close()
}

// TestEventsAreInTheLedger: events count while they are kept. While all sessions take the
// share, each keeps its newest.
func TestEventsAreInTheLedger(t *testing.T) {
	ledger := budget.New(64 << 20)
	h, f, _ := newFake(t, engine.Options{Memory: ledger})
	_, err := open(h, "one", "")
	ok(t, err)
	raise := func(n int) {
		for range n {
			ok(t, f.latest().h.Raise(ahp.MustMarshal(strings.Repeat("x", 60<<10))))
		}
	}
	kept := func() (n int) {
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		ok(t, err)
		return len(page.Events)
	}
	raise(20)
	if used := ledger.Used(budget.Events); kept() < 16 || used < int64(kept())*60<<10 || used > int64(kept())*61<<10 {
		t.Errorf("%d events of 60 KiB count %d", kept(), used)
	}
	ok(t, f.latest().h.WithdrawEvents())
	if used := ledger.Used(budget.Events); used > 10<<10 {
		t.Errorf("withdrawn events count %d", used)
	}
	other := ledger.Share(budget.Events)
	ledger.Add(budget.Events, other) // of other sessions
	raise(10)
	if n := kept(); n != 2 {
		t.Errorf("a session that floods keeps %d events", n)
	}
	ledger.Add(budget.Events, -other)
	if used := ledger.Used(budget.Events); used > 130<<10 {
		t.Errorf("two events of 60 KiB count %d", used)
	}
	ledger.Close()
}
