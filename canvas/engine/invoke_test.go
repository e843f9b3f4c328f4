package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestInvoke: the provider's updates are applied before the caller receives the
// answer.
func TestInvoke(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	f.invoke = func(_ context.Context, hd *canvas.Handle, _ string, input ahp.Value) (ahp.Value, error) {
		return input, hd.SetTitle(t.Context(), "counted")
	}
	v, err := invoke(h, "one", "count", `{"n":12345678901234567890}`)
	ok(t, err)
	equal(t, `{"n":12345678901234567890}`, string(v))
	equal(t, "counted", *h.State(o.Channel).Title)
	equal(t, "counted", *h.SessionState().OpenCanvases[0].Title)
}

func TestInvokeRefuses(t *testing.T) {
	h, f, reg := newFake(t, engine.Options{})
	_, err := open(h, "one", "")
	ok(t, err)
	f.took()
	_, err = invoke(h, "none", "go", "")
	wantCode(t, err, canvas.CodeInstanceNotFound)
	_, err = h.Canvases.Invoke(t.Context(), canvas.InvokeArgs{Session: "ahp-session:/none", InstanceID: "one", ActionName: "go"})
	wantCode(t, err, canvas.CodeSessionNotFound)
	_, err = invoke(h, "one", "undeclared", "")
	wantCode(t, err, canvas.CodeNoHandler)
	_, err = invoke(h, "one", "count", "")
	e := wantCode(t, err, canvas.CodeInputInvalid)
	equal(t, "/input required", e.Path+" "+e.Rule)
	_, err = invoke(h, "one", "count", `{"n":1.5}`)
	e = wantCode(t, err, canvas.CodeInputInvalid)
	equal(t, "/input/n type", e.Path+" "+e.Rule)
	reg.SetReachable(false)
	_, err = invoke(h, "one", "go", "")
	wantCode(t, err, canvas.CodeProviderUnavailable)
	equal(t, nil, f.took())
}

func TestInvokeErrors(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	_, err := open(h, "one", "")
	ok(t, err)
	for _, c := range []struct {
		name, want string
		value      ahp.Value
		err        error
	}{
		{"own code", "fake_code", nil, canvas.Errorf("fake_code", "x")},
		{"no text", canvas.CodeHandlerError, nil, errors.New("\xff")},
		{"no code", canvas.CodeHandlerError, nil, errors.New("plain")},
		{"too long", canvas.CodeLimitExceeded, ahp.Value(`"` + strings.Repeat("x", 64<<10) + `"`), nil},
		{"no JSON", canvas.CodeHandlerError, ahp.Value(`{"a":1,"a":2}`), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.invoke = func(context.Context, *canvas.Handle, string, ahp.Value) (ahp.Value, error) { return c.value, c.err }
			_, err := invoke(h, "one", "go", "")
			wantCode(t, err, c.want)
			_ = err.(*canvas.Error).Wire() // the text can contain any bytes
		})
	}
}

func TestInvokeDeadlineGoneAndGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, reg := newFake(t, engine.Options{})
		_, err := open(h, "one", "")
		ok(t, err)
		f.invoke = func(ctx context.Context, _ *canvas.Handle, _ string, _ ahp.Value) (ahp.Value, error) {
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 30*time.Second {
				t.Error("without its deadline")
			}
			time.Sleep(45 * time.Second)
			return ahp.Value(`"late"`), nil
		}
		begun := time.Now()
		_, err = invoke(h, "one", "go", "")
		wantCode(t, err, canvas.CodeTimeout)
		equal(t, 30*time.Second, time.Since(begun))

		begun = time.Now()
		time.AfterFunc(3*time.Second, func() { reg.SetReachable(false) })
		_, err = invoke(h, "one", "go", "")
		wantCode(t, err, canvas.CodeProviderUnavailable)
		equal(t, 3*time.Second, time.Since(begun)) // at once, not at the deadline
		time.Sleep(time.Minute)
	})
}

// TestDeadlineAsTheProviderSeesIt: the context's deadline is the earlier of the
// host's and the caller's, and its error is DeadlineExceeded in both cases.
func TestDeadlineAsTheProviderSeesIt(t *testing.T) {
	for _, callers := range []time.Duration{time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			h, f, _ := newFake(t, engine.Options{})
			want := min(callers, 30*time.Second)
			f.open = func(ctx context.Context, _ canvas.OpenRequest, _ *canvas.Handle) (canvas.Opened, error) {
				derived, cancel := context.WithCancel(ctx)
				defer cancel()
				deadline, _ := ctx.Deadline()
				equal(t, want, time.Until(deadline))
				<-ctx.Done()
				<-derived.Done() // done a moment later
				equal(t, 0, time.Until(deadline))
				for _, ctx := range []context.Context{ctx, derived} {
					equal(t, true, errors.Is(ctx.Err(), context.DeadlineExceeded))
				}
				return canvas.Opened{}, ctx.Err()
			}
			ctx, cancel := context.WithTimeout(t.Context(), callers)
			defer cancel()
			_, err := h.Canvases.Open(ctx, canvas.OpenArgs{Session: canvastest.Session, CanvasID: "fake", InstanceID: "one"})
			wantCode(t, err, canvas.CodeTimeout)
		})
	}
}

// worded is an instance that words refusals itself.
type worded struct{ canvas.Instance }

func (worded) RefuseInput(action string, refusal *canvas.Error) *canvas.Error {
	return canvas.Errorf("invalid_input", "%s: %s %s", action, refusal.Path, refusal.Rule)
}

// TestRefuseInput: an instance words the refusal of an input, and only that.
func TestRefuseInput(t *testing.T) {
	h := canvastest.New(t, engine.Options{})
	h.Register(canvas.Extension{ID: "x"}, canvas.Func(func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{Instance: worded{&fakeInstance{}}}, nil
	}), canvas.Declaration{CanvasID: "c", DisplayName: "C", Actions: []canvas.Action{{Name: "count", InputSchema: ahp.Value(`{"type":"object","required":["n"]}`)}}})
	h.Open("c", "one", nil)
	_, err := invoke(h, "one", "count", `{}`)
	if e := wantCode(t, err, "invalid_input"); e.Message != "count: /input required" {
		t.Errorf("the refusal is %q", e.Message)
	}
	_, err = invoke(h, "one", "none", `{}`)
	wantCode(t, err, canvas.CodeNoHandler)
}
