package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// TestDurableBeforeVisible: an open calls the provider, then the store, then
// notifies subscribers.
func TestDurableBeforeVisible(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	v := h.Connect("v")
	v.Subscribe(canvastest.Session)
	nothing := func(calls ...string) func() error {
		return func() error {
			equal(t, calls, f.took())
			equal(t, nil, v.Brief())
			return nil
		}
	}
	h.Canvases.SetStore(nothing("open one "), nothing("close one"))
	_, err := open(h, "one", "")
	ok(t, err)
	equal(t, 1, len(v.Take()))
	ok(t, closeCanvas(h, "one"))
	equal(t, 1, len(v.Take()))
}

// TestStoreThatFails: a failed commit undoes an open; it fails a close, and the
// canvas is stale until a close succeeds.
func TestStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		full := func() error { return errors.New("the disk is full") }
		_, err := open(h, "one", "")
		ok(t, err)
		h.Canvases.SetStore(full, full)
		f.took()
		if _, err = open(h, "two", ""); err == nil {
			t.Error("opened without being kept")
		}
		synctest.Wait()
		equal(t, []string{"open two ", "close two"}, f.took())
		equal(t, 1, len(h.SessionState().OpenCanvases))
		wantCode(t, closeCanvas(h, "one"), canvas.CodeStoreFailed)
		equal(t, session.Stale, h.SessionState().OpenCanvases[0].Availability)
		h.Canvases.SetStore(full, func() error { return nil })
		ok(t, closeCanvas(h, "one"))
		equal(t, 0, len(h.SessionState().OpenCanvases))
		equal(t, []string{"close one"}, f.took()) // once, despite several requests
	})
}

// TestLostBetweenAnswerAndPublishing: an answer does not count if the provider
// disconnected before it was published, even if the provider has reconnected.
func TestLostBetweenAnswerAndPublishing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		nothing := func() error { return nil }
		h.Canvases.SetStore(func() error { reg.SetReachable(false); reg.SetReachable(true); return nil }, nothing)
		_, err := open(h, "one", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		synctest.Wait()
		equal(t, []string{"open one ", "close one"}, f.took())

		h.Canvases.SetStore(nothing, nothing)
		o, err := open(h, "one", "")
		ok(t, err)
		h.Canvases.SetStore(func() error { reg.SetReachable(false); return nil }, nothing)
		_, err = open(h, "one", `{"n":1}`)
		wantCode(t, err, canvas.CodeProviderUnavailable)
		equal(t, session.Stale, h.State(o.Channel).Availability)
		equal(t, "", string(h.State(o.Channel).Input))
	})
}
