package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestCloseByAPersonCutsCalls: what runs and waits at the instance has 5 s more when a
// person asks for its close.
func TestCloseByAPersonCutsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		o, err := open(h, "one", "")
		ok(t, err)
		f.invoke = func(ctx context.Context, _ *canvas.Handle, _ string, _ ahp.Value) (ahp.Value, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		v := h.Connect("view")
		v.Subscribe(o.Channel)
		begun := time.Now()
		errs := make(chan error, 2)
		for range cap(errs) {
			go func() { _, err := invoke(h, "one", "slow", ""); errs <- err }()
			synctest.Wait()
		}
		v.Dispatch(o.Channel, `{"type":"canvas/closeRequested"}`)
		for range cap(errs) {
			wantCode(t, <-errs, canvas.CodeTimeout)
		}
		synctest.Wait()
		equal(t, 5*time.Second, time.Since(begun))
		wantCode(t, closeCanvas(h, "one"), canvas.CodeInstanceNotFound)
		equal(t, []string{"open one ", "invoke one slow", "close one"}, f.took())
	})
}

// TestCloseByAPersonLeavesQuickCalls: a call that ends within the 5 s counts, and a
// canvas whose close was rejected works as before.
func TestCloseByAPersonLeavesQuickCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		o, err := open(h, "one", "")
		ok(t, err)
		f.invoke = func(context.Context, *canvas.Handle, string, ahp.Value) (ahp.Value, error) {
			time.Sleep(4 * time.Second)
			return ahp.Value(`1`), nil
		}
		v := h.Connect("view")
		v.Subscribe(o.Channel)
		errs := make(chan error, 1)
		go func() { _, err := invoke(h, "one", "slow", ""); errs <- err }()
		synctest.Wait()
		v.Dispatch(o.Channel, `{"type":"canvas/closeRequested"}`)
		ok(t, <-errs)
		synctest.Wait()
		wantCode(t, closeCanvas(h, "one"), canvas.CodeInstanceNotFound)
	})
}

func TestClose(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	handle := f.latest().h
	v := h.Connect("view")
	v.Subscribe(canvastest.Session)
	v.Subscribe(o.Channel)
	f.close = func(context.Context) error { return errors.New("it does not want to") }
	ok(t, closeCanvas(h, "one"))
	equal(t, []string{"open one ", "close one"}, f.took())
	equal(t, []string{canvastest.Session + ` {"type":"session/openCanvasesChanged","openCanvases":[]}`}, v.Brief())
	if _, err := v.TrySubscribe(o.Channel); !errors.Is(err, ahp.ErrNotFound) {
		t.Errorf("the channel answers %v", err)
	}
	for name, err := range map[string]error{
		"update": handle.SetStatus(t.Context(), "x"), "post": handle.Post(t.Context(), ahp.Value("1")), "raise": handle.Raise(ahp.Value("1")), "save": handle.Save(t.Context(), nil),
	} {
		if !errors.Is(err, canvas.ErrHandleClosed) {
			t.Errorf("%s after the close: %v", name, err)
		}
	}
	wantCode(t, closeCanvas(h, "one"), canvas.CodeInstanceNotFound)
	again, err := open(h, "one", "")
	ok(t, err)
	if again.Channel == o.Channel {
		t.Error("opened again on the old channel")
	}
}

// TestCloseRequested: repeated requests call the provider's Close once, and the host
// waits at most five seconds for it.
func TestCloseRequested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{Limits: canvas.Limits{Waiting: 2}})
		o, err := open(h, "one", "")
		ok(t, err)
		f.close = func(ctx context.Context) error { time.Sleep(time.Hour); return nil }
		var views []*canvastest.View
		for n := range 3 {
			v := h.Connect(fmt.Sprint("view", n))
			v.Subscribe(o.Channel)
			views = append(views, v)
		}
		stranger := h.Connect("stranger")
		begun := time.Now()
		for range 5 {
			for _, v := range views {
				v.Dispatch(o.Channel, `{"type":"canvas/closeRequested"}`)
			}
		}
		stranger.Dispatch(o.Channel, `{"type":"canvas/closeRequested"}`)
		equal(t, []string{o.Channel + ` {"type":"canvas/closeRequested"} ! not subscribed to this channel: subscribe first`}, stranger.Brief())
		equal(t, 15, len(views[0].Take())) // every subscriber receives the echo
		synctest.Wait()
		wantCode(t, closeCanvas(h, "one"), canvas.CodeInstanceNotFound) // it waited behind one flow, not fifteen
		equal(t, 5*time.Second, time.Since(begun))
		equal(t, []string{"open one ", "close one"}, f.took())
		views[0].Dispatch(o.Channel, `{"type":"canvas/closeRequested"}`)
		equal(t, nil, views[0].Brief()) // no instance, no echo
		time.Sleep(2 * time.Hour)
	})
}

func TestCloseOfAStaleInstanceCallsNobody(t *testing.T) {
	h, f, reg := newFake(t, engine.Options{})
	_, err := open(h, "one", "")
	ok(t, err)
	reg.SetReachable(false)
	ok(t, closeCanvas(h, "one"))
	equal(t, []string{"open one "}, f.took())
	equal(t, 0, len(h.SessionState().OpenCanvases))
}

// TestDisposeClosesSideBySide: canvases of a disposed session close concurrently,
// and none opens in it afterwards.
func TestDisposeClosesSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		for n := range 10 {
			_, err := open(h, fmt.Sprint("i", n), "")
			ok(t, err)
		}
		f.took()
		f.close = func(context.Context) error { time.Sleep(2 * time.Second); return nil }
		slow := make(chan error)
		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			time.Sleep(time.Second)
			return canvas.Opened{}, nil
		}
		go func() { _, err := open(h, "under-way", ""); slow <- err }()
		synctest.Wait()
		begun := time.Now()
		dispose := func() error {
			_, err := h.Sessions.DisposeSession(t.Context(), nil, ahp.ChannelParams{Channel: canvastest.Session})
			return err
		}
		late := make(chan error, 1)
		time.AfterFunc(time.Millisecond, func() { _, err := open(h, "late", ""); late <- err })
		ok(t, dispose())
		wantCode(t, <-late, canvas.CodeSessionNotFound)
		equal(t, 2*time.Second, time.Since(begun))
		wantCode(t, <-slow, canvas.CodeSessionNotFound)
		time.Sleep(3 * time.Second)
		calls := f.took()
		equal(t, 1+11, len(calls)) // one open, whose instance is closed too
		// A session of the same name works like a new one.
		f.open = nil
		ok(t, h.Sessions.Ensure(canvastest.Session, ""))
		equal(t, 1, len(h.SessionState().Canvases))
		_, err := open(h, "i0", "")
		ok(t, err)
	})
}

func TestShutdownEndsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		_, err := open(h, "one", "")
		ok(t, err)
		f.invoke = func(ctx context.Context, _ *canvas.Handle, _ string, _ ahp.Value) (ahp.Value, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		failed := make(chan error)
		go func() { _, err := invoke(h, "one", "go", ""); failed <- err }()
		synctest.Wait()
		ok(t, h.Canvases.Shutdown(t.Context()))
		wantCode(t, <-failed, canvas.CodeProviderUnavailable)
		<-f.latest().h.Done()
		_, err = open(h, "two", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		equal(t, []string{"open one ", "invoke one go"}, f.took()) // instances outlive the process
	})
}

// TestCloseAmongTooMany: if the queue of an instance is full, a person's ✕ and the
// end of the session still close it.
func TestCloseAmongTooMany(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *canvastest.Host, string) error{
		"a person's ✕": func(_ *testing.T, h *canvastest.Host, channel string) error {
			v := h.Connect("view")
			v.Subscribe(channel)
			v.Dispatch(channel, `{"type":"canvas/closeRequested"}`)
			time.Sleep(time.Minute)
			return nil
		},
		"the session's end": func(t *testing.T, h *canvastest.Host, _ string) error { return dispose(t, h) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, f, _ := newFake(t, engine.Options{Limits: canvas.Limits{Waiting: 2}})
				o, err := open(h, "one", "")
				ok(t, err)
				f.invoke = func(context.Context, *canvas.Handle, string, ahp.Value) (ahp.Value, error) {
					time.Sleep(time.Second)
					return nil, nil
				}
				for range 3 {
					go invoke(h, "one", "go", "")
				}
				synctest.Wait()
				wantCode(t, closeCanvas(h, "one"), canvas.CodeLimitExceeded) // the queue is full for the agent
				ok(t, end(t, h, o.Channel))
				equal(t, []string{"open one ", "invoke one go", "invoke one go", "invoke one go", "close one"}, f.took())
			})
		})
	}
}

// TestEventForAPersonsClose: when a person closes a canvas, the agent receives
// one event, because whatever it waits for there will not happen. It receives none
// for its own close or for the end of the session.
func TestEventForAPersonsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := newFake(t, engine.Options{})
		o, err := open(h, "one", "")
		ok(t, err)
		_, err = open(h, "two", "")
		ok(t, err)
		v := h.Connect("view")
		v.Subscribe(o.Channel)
		ok(t, closeCanvas(h, "two"))
		time.AfterFunc(time.Second, func() {
			for range 3 {
				v.Dispatch(o.Channel, `{"type":"canvas/closeRequested"}`)
			}
		})
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, time.Hour)
		ok(t, err)
		equal(t, []canvas.Event{{InstanceID: "one", Time: "2000-01-01T00:00:01Z", Event: ahp.Value(`{"type":"canvas/closeRequested"}`), Cursor: 1}}, page.Events)
		equal(t, 0, len(h.SessionState().OpenCanvases)) // the event follows the close
		synctest.Wait()
		page, err = h.Canvases.Events(t.Context(), canvastest.Session, page.Next, time.Minute)
		ok(t, err)
		equal(t, 0, len(page.Events))
	})
}

const undoable = `{"type":"canvas/closeRequested","_meta":{"x-ahp-canvas/undo":10}}`

func undo(h *canvastest.Host, v *canvastest.View, channel string) error {
	_, err := h.Canvases.UndoClose(context.Background(), v.Sub, canvas.UndoCloseParams{Channel: channel})
	return err
}

// TestUndoClose: a close that the client undoes in time reaches neither the provider nor
// the agent. Only the client that asked can undo it.
func TestUndoClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		o, err := open(h, "one", "")
		ok(t, err)
		v, other := h.Connect("view"), h.Connect("other")
		v.Subscribe(o.Channel)
		other.Subscribe(o.Channel)
		v.Dispatch(o.Channel, undoable)
		synctest.Wait()
		const closing = ` {"type":"canvas/updated","_meta":{"x-ahp-canvas/closing":{"clientId":"view","until":"2000-01-01T00:00:10Z","seconds":10}}}`
		equal(t, []string{o.Channel + " " + undoable, o.Channel + closing}, other.Brief())
		other.Dispatch(o.Channel, undoable) // the first one counts
		time.Sleep(9 * time.Second)
		if err := undo(h, other, o.Channel); !errors.Is(err, ahp.ErrNotFound) {
			t.Errorf("another client's undo: %v", err)
		}
		_, err = invoke(h, "one", "go", "")
		ok(t, err) // the canvas works until it is closed
		ok(t, undo(h, v, o.Channel))
		if err := undo(h, v, o.Channel); !errors.Is(err, ahp.ErrNotFound) {
			t.Errorf("a second undo: %v", err)
		}
		equal(t, []string{o.Channel + " " + undoable, o.Channel + ` {"type":"canvas/updated","_meta":{"x-ahp-canvas/closing":null}}`}, other.Brief())
		time.Sleep(time.Hour)
		equal(t, []string{"open one ", "invoke one go"}, f.took())
		equal(t, 1, len(h.SessionState().OpenCanvases))
		page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
		ok(t, err)
		equal(t, 0, len(page.Events))
	})
}

// TestUndoCloseEnds: a close that is not undone takes place, once, and later or at once if
// anyone closes the canvas without an undo.
func TestUndoCloseEnds(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		end     func(h *canvastest.Host, v *canvastest.View, channel string) error
		after   time.Duration
		event   bool
	}{
		"in time":          {request: undoable, after: 10 * time.Second, event: true},
		"longer is cut":    {request: `{"type":"canvas/closeRequested","_meta":{"x-ahp-canvas/undo":1e300}}`, after: 10 * time.Second, event: true},
		"shorter":          {request: `{"type":"canvas/closeRequested","_meta":{"x-ahp-canvas/undo":0.5}}`, after: 500 * time.Millisecond, event: true},
		"not a number":     {request: `{"type":"canvas/closeRequested","_meta":{"x-ahp-canvas/undo":"10"}}`, event: true},
		"negative":         {request: `{"type":"canvas/closeRequested","_meta":{"x-ahp-canvas/undo":-1}}`, event: true},
		"_meta of another": {request: `{"type":"canvas/closeRequested","_meta":[10]}`, event: true},
		"the agent closes": {request: undoable, end: func(h *canvastest.Host, _ *canvastest.View, _ string) error { return closeCanvas(h, "one") }},
		"another client closes": {request: undoable, event: true, end: func(h *canvastest.Host, _ *canvastest.View, channel string) error {
			v := h.Connect("foreign")
			v.Subscribe(channel)
			v.Dispatch(channel, `{"type":"canvas/closeRequested"}`)
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, f, _ := newFake(t, engine.Options{})
				o, err := open(h, "one", "")
				ok(t, err)
				v := h.Connect("view")
				v.Subscribe(o.Channel)
				begun := time.Now()
				f.close = func(context.Context) error { equal(t, c.after, time.Since(begun)); return nil }
				v.Dispatch(o.Channel, c.request)
				synctest.Wait()
				if c.end != nil {
					ok(t, c.end(h, v, o.Channel))
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				equal(t, []string{"open one ", "close one"}, f.took())
				if err := undo(h, v, o.Channel); !errors.Is(err, ahp.ErrNotFound) {
					t.Errorf("an undo that is too late: %v", err)
				}
				page, err := h.Canvases.Events(t.Context(), canvastest.Session, 0, 0)
				ok(t, err)
				equal(t, c.event, len(page.Events) == 1)
			})
		})
	}
}
