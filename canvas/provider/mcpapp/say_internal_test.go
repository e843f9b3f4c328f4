package mcpapp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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

// TestLostCall: the answer of a connection that was lost is dropped, also if it arrives as the
// connection ends, and the call does not wait for it.
func TestLostCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, waits := range []bool{true, false} {
			c := &conn{running: &Running{slots: make(chan struct{}, 1)}, lost: make(chan struct{})}
			c.ctx, c.cancel = context.WithCancel(t.Context())
			asked := make(chan struct{})
			go func() {
				<-asked
				c.markLost()
				c.cancel()
			}()
			got, err := call(t.Context(), c, time.Minute, func(ctx context.Context) (string, error) {
				close(asked)
				if waits {
					<-ctx.Done()
					return "", ctx.Err()
				}
				<-c.ctx.Done()
				return "late", nil
			})
			if got != "" || !errors.Is(err, errLostCall) {
				t.Errorf("waits %v: %q, %v", waits, got, err)
			}
		}
	})
}

// TestLateOutcome: the outcome of a call is not shown by a canvas that has ended, or that shows
// a later call.
func TestLateOutcome(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, i := range map[string]*instance{
		"ended": {ctx: ended, kept: kept{Generation: 1}},
		"later": {ctx: t.Context(), kept: kept{Generation: 2}},
	} {
		func() {
			defer func() { _ = recover() }() // a broken rule continues to the server, which is nil here
			i.finish(1, &sdk.CallToolResult{}, nil)
		}()
		if i.kept.Result != nil {
			t.Errorf("%s: the canvas shows %s", name, i.kept.Result)
		}
	}
}

// TestResultLimit: a page gets words instead of a result that is too large.
func TestResultLimit(t *testing.T) {
	for n, want := range map[int]string{maxResult / 2: `"result":"x`, maxResult: "the result has more than 16777216 bytes"} {
		if got := string(response(nil, strings.Repeat("x", n), nil)); !strings.Contains(got[:min(len(got), 200)], want) {
			t.Errorf("%d bytes: %.200s", n, got)
		}
	}
}
