package peer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// With HandleOnReader, requests and results taken with CallThen are in the order of
// arrival.
func TestHandleOnReaderOrder(t *testing.T) {
	const rounds = 200
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
		_ = req.Peer().Notify("before", nil)
		req.Reply("answer")
		_ = req.Peer().Notify("behind", nil)
	}), Options{})
	var seen []string
	_, client := s.client(t, HandlerFunc(func(_ context.Context, req *Request) { seen = append(seen, req.Method) }), Options{HandleOnReader: true})
	for range rounds + 1 {
		if err := client.CallThen(t.Context(), "m", nil, func(result ahp.Value) { seen = append(seen, string(result)) }); err != nil {
			t.Fatal(err)
		}
	}
	client.Close(1000, "")
	client.Wait() // messages behind the last answer can be lost with the connection
	if want := slices.Repeat([]string{"before", `"answer"`, "behind"}, rounds); !slices.Equal(seen[:3*rounds], want) {
		t.Errorf("have %q", seen)
	}
}

// With HandleOnReader, answers and errors for unreadable messages keep their order.
func TestHandleOnReaderAnswers(t *testing.T) {
	var inside atomic.Int32
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
		if inside.Add(1) != 1 {
			t.Error("two handlers at once")
		}
		defer inside.Add(-1)
		req.Reply(req.Params)
	}), Options{HandleOnReader: true})
	_, c := s.raw(t)
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":1}}`, `[]`, `{"jsonrpc":"2.0","id":2,"method":"m","params":{"n":2}}`} {
		c.send(text)
	}
	if got := c.receive(); got != `{"jsonrpc":"2.0","id":1,"result":{"n":1}}` {
		t.Errorf("the first: %s", got)
	}
	if got := c.receive(); !strings.Contains(got, "-32600") {
		t.Errorf("the refusal: %s", got)
	}
	if got := c.receive(); got != `{"jsonrpc":"2.0","id":2,"result":{"n":2}}` {
		t.Errorf("the last: %s", got)
	}
}

// CallThen returns nil exactly if it has called its function, even if an answer and
// a cancellation race.
func TestCallThenTakesOrFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
			req.Go(func(context.Context) {
				<-time.After(time.Second)
				req.Reply("late")
			})
		}), Options{Tasks: 100})
		_, client := s.client(t, echo, Options{HandleOnReader: true})
		for _, patience := range []time.Duration{time.Second - 1, time.Second, time.Second + 1} {
			for range 20 {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				taken := false
				err := client.CallThen(ctx, "m", nil, func(ahp.Value) { taken = true })
				cancel()
				<-time.After(2 * time.Second)
				if taken != (err == nil) || !taken && !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("%s: taken %v with %v", patience, taken, err)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := client.CallThen(ctx, "m", nil, func(ahp.Value) { cancel(); synctest.Wait() }); err != nil {
			t.Errorf("given up while it was taken: %v", err)
		}
	})
}
