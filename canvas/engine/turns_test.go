package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestFlowsOfOneInstanceAreSerialized: flows of one instance run one after the
// other, flows of different instances concurrently.
func TestFlowsOfOneInstanceAreSerialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			time.Sleep(time.Second)
			return canvas.Opened{}, nil
		}
		begun := time.Now()
		done := make(chan string)
		for n := range 8 {
			go func() {
				_, err := open(h, fmt.Sprintf("i%d", n%4), fmt.Sprintf(`{"n":%d}`, n))
				done <- fmt.Sprint(err)
			}()
		}
		for range 8 {
			equal(t, "<nil>", <-done)
		}
		equal(t, 2*time.Second, time.Since(begun)) // four instances, two flows each
	})
}

func TestTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{Limits: canvas.Limits{Waiting: 2}})
		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			time.Sleep(time.Second)
			return canvas.Opened{}, nil
		}
		for range 3 {
			go open(h, "one", "")
		}
		synctest.Wait()
		_, err := open(h, "one", "")
		wantCode(t, err, canvas.CodeLimitExceeded)
		time.Sleep(5 * time.Second)
	})
}

// TestFlowGivesUp: if a waiting flow gives up, the flow behind it still gets its
// turn.
func TestFlowGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f, _ := newFake(t, engine.Options{})
		release := make(chan struct{})
		f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
			<-release
			return canvas.Opened{}, nil
		}
		var flows flowsOf
		start := func(name string, ctx context.Context) {
			flows.start(name, func() error {
				_, err := h.Canvases.Open(ctx, canvas.OpenArgs{Session: canvastest.Session, CanvasID: "fake", InstanceID: "one"})
				return err
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		start("first", t.Context())
		start("gone", ctx)
		start("last", t.Context())
		cancel()
		synctest.Wait()
		close(release)
		errs := flows.wait()
		ok(t, errs["first"])
		ok(t, errs["last"])
		if !errors.Is(errs["gone"], context.Canceled) {
			t.Errorf("gave up with %v", errs["gone"])
		}
	})
}
