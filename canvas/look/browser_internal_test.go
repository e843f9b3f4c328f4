package look

import (
	"context"
	"errors"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// fakeEngine is a browser without a process.
type fakeEngine struct {
	hold  chan struct{} // nil: a look ends at once
	fail  error
	looks atomic.Int64
	over  atomic.Bool
}

func (f *fakeEngine) shoot(ctx context.Context, _ canvas.ShotArgs) (canvas.Shot, error) {
	f.looks.Add(1)
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-ctx.Done():
			return canvas.Shot{}, ctx.Err()
		}
	}
	return canvas.Shot{PNG: []byte("png")}, f.fail
}

func (f *fakeEngine) ended() bool { return f.over.Load() }
func (f *fakeEngine) end()        { f.over.Store(true) }

// fakes returns a browser whose processes are fakes, which it appends to the list.
func fakes(made *[]*fakeEngine, next func() *fakeEngine) *Browser {
	b := New("none")
	b.start = func(context.Context, *url.URL) (engine, error) {
		f := next()
		*made = append(*made, f)
		return f, nil
	}
	return b
}

var someArgs = canvas.ShotArgs{URL: "http://localhost:1/#x", Width: 100, Height: 100}

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made []*fakeEngine
		b := fakes(&made, func() *fakeEngine { return &fakeEngine{} })
		starts := 0
		args := someArgs
		args.Starting = func() { starts++ }
		for range 3 {
			if _, err := b.Shoot(t.Context(), args); err != nil {
				t.Fatal(err)
			}
			time.Sleep(IdleTime - time.Second) // of the fake clock
			synctest.Wait()
		}
		if len(made) != 1 || starts != 1 || made[0].over.Load() {
			t.Fatalf("%d processes, %d starts, ended %v; want one that runs", len(made), starts, made[0].over.Load())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !made[0].over.Load() {
			t.Error("the process runs after five idle minutes")
		}
		if _, err := b.Shoot(t.Context(), args); err != nil || len(made) != 2 {
			t.Errorf("%d processes, %v; want a new one", len(made), err)
		}
		if err := b.Close(); err != nil || !made[1].over.Load() {
			t.Errorf("close: %v, ended %v", err, made[1].over.Load())
		}
		if _, err := b.Shoot(t.Context(), args); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made []*fakeEngine
		hold := make(chan struct{})
		b := fakes(&made, func() *fakeEngine { return &fakeEngine{hold: hold} })
		results := make(chan error, 3)
		for range 3 {
			go func() { _, err := b.Shoot(t.Context(), someArgs); results <- err }()
		}
		synctest.Wait()
		if n := made[0].looks.Load(); n != 2 {
			t.Errorf("%d looks run, want 2", n)
		}
		close(hold)
		for range 3 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		b.Close()
	})
}

// A browser in which a look failed, or took too long, is not used again.
func TestFailedBrowserIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made []*fakeEngine
		b := fakes(&made, func() *fakeEngine { return &fakeEngine{hold: make(chan struct{})} })
		if _, err := b.Shoot(t.Context(), someArgs); !errors.Is(err, ErrTime) {
			t.Errorf("a look that does not end: %v", err)
		}
		synctest.Wait()
		if !made[0].over.Load() {
			t.Error("the process was not ended")
		}
		b.Close()
	})
}
