package sqlitestore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

// Who waits to be taken in stops when its context ends or the store is closed; who
// was taken in waits for the outcome, whatever ends meanwhile.
func TestAsk(t *testing.T) {
	for _, tc := range []struct {
		name  string
		taken bool
		end   func(stop chan struct{}, cancel func())
		want  error
	}{
		{"waiting, canceled", false, func(_ chan struct{}, cancel func()) { cancel() }, context.Canceled},
		{"waiting, closed", false, func(stop chan struct{}, _ func()) { close(stop) }, channels.ErrStoreClosed},
		{"taken in, canceled", true, func(_ chan struct{}, cancel func()) { cancel() }, errOutcome},
		{"taken in, closed", true, func(stop chan struct{}, _ func()) { close(stop) }, errOutcome},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &writer{}
				own := &groupcommit.Waiter[*job]{Value: &job{}}
				w.line.Join(t.Context(), nil, own) // the test has the turn
				stop := make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				answered := make(chan error, 1)
				go func() { answered <- w.ask(ctx, stop, &job{}) }()
				synctest.Wait()
				group := w.line.Take(func(*job) bool { return tc.taken })
				tc.end(stop, cancel)
				synctest.Wait()
				if tc.taken {
					if len(answered) > 0 {
						t.Fatalf("answered without an outcome: %v", <-answered)
					}
					group[1].Value.err = errOutcome
					group[1].Finish(groupcommit.Done)
				}
				if err := <-answered; !errors.Is(err, tc.want) {
					t.Errorf("%v, want %v", err, tc.want)
				}
			})
		})
	}
}

var errOutcome = errors.New("the outcome")
