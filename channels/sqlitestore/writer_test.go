package sqlitestore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

// TestDo: a job that is not yet accepted is withdrawn when its context ends or the store
// is closed. An accepted job waits for its outcome.
func TestDo(t *testing.T) {
	for _, tc := range []struct {
		name     string
		accepted bool
		end      func(stop chan struct{}, cancel func())
		want     error
	}{
		{"waiting, canceled", false, func(_ chan struct{}, cancel func()) { cancel() }, context.Canceled},
		{"waiting, closed", false, func(stop chan struct{}, _ func()) { close(stop) }, channels.ErrStoreClosed},
		{"accepted, canceled", true, func(_ chan struct{}, cancel func()) { cancel() }, errOutcome},
		{"accepted, closed", true, func(stop chan struct{}, _ func()) { close(stop) }, errOutcome},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &writer{}
				own := &groupcommit.Waiter[*job]{Value: &job{}}
				w.queue.Join(t.Context(), nil, own) // the test leads
				stop := make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				returned := make(chan error, 1)
				go func() { returned <- w.do(ctx, stop, &job{}) }()
				synctest.Wait()
				group := w.queue.Take(func(*job) bool { return tc.accepted })
				tc.end(stop, cancel)
				synctest.Wait()
				if tc.accepted {
					if len(returned) > 0 {
						t.Fatalf("do returned without an outcome: %v", <-returned)
					}
					group[1].Value.err = errOutcome
					group[1].Finish(groupcommit.Done)
				}
				if err := <-returned; !errors.Is(err, tc.want) {
					t.Errorf("%v, want %v", err, tc.want)
				}
			})
		})
	}
}

var errOutcome = errors.New("the outcome")
