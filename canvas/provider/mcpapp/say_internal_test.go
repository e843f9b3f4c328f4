package mcpapp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestContextRate: of the contexts of a second the newest is raised, and equal ones are
// dropped.
func TestContextRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sayRates
		var raised []string
		begun := time.Now()
		say := func(text string) {
			err := s.context(t.Context(), text, ahp.Value(text), func(e ahp.Value) error {
				raised = append(raised, string(e)+"@"+time.Since(begun).String())
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		say(`1`)
		for _, text := range []string{`2`, `3`, `3`, `4`} {
			go say(text)
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
		say(`4`)
		say(`5`)
		if got, want := strings.Join(raised, " "), "1@0s 4@1s 5@2.4s"; got != want {
			t.Errorf("raised %s, want %s", got, want)
		}
	})
}

// TestContextOfClosedCanvas: a context that waits ends with the canvas, and is not raised.
func TestContextOfClosedCanvas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sayRates
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		raise := func(ahp.Value) error { n++; return nil }
		errs := make(chan error, 2)
		_ = s.context(ctx, "1", ahp.Value(`1`), raise)
		for _, text := range []string{"2", "3"} {
			go func() { errs <- s.context(ctx, text, ahp.Value(text), raise) }()
			synctest.Wait()
		}
		cancel()
		for range 2 {
			if err := <-errs; !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		if n != 1 {
			t.Errorf("%d contexts were raised", n)
		}
	})
}

// fragile is a writer that fails after some writes.
type fragile struct {
	left int
	text strings.Builder
}

func (f *fragile) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("gone")
	}
	return f.text.Write(p)
}

// TestKeepAlive: a call that takes long sends a space every 10 s; one whose reader is gone is
// canceled.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan int, 1)
		time.AfterFunc(35*time.Second, func() { answer <- 7 })
		w := &fragile{left: 10}
		if a, gone := awaitAnswer(w, answer, func() { t.Error("canceled") }); a != 7 || gone || w.text.String() != "   " {
			t.Errorf("%d, %v after %q", a, gone, w.text.String())
		}
		w = &fragile{left: 1}
		if _, gone := awaitAnswer(w, answer, func() { answer <- 0 }); !gone {
			t.Error("the reader is gone, and the call is not")
		}
	})
}
