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

// With a prompt handler, what is handled and what is taken with CallThen are in
// the one order in which they were said.
func TestPromptOrder(t *testing.T) {
	const rounds = 200
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
		_ = req.Peer().Notify("before", nil)
		req.Reply("answer")
		_ = req.Peer().Notify("behind", nil)
	}), Options{})
	var seen []string
	_, client := s.client(t, HandlerFunc(func(_ context.Context, req *Request) { seen = append(seen, req.Method) }), Options{Prompt: true})
	for range rounds + 1 {
		if err := client.CallThen(t.Context(), "m", nil, func(result ahp.Value) { seen = append(seen, string(result)) }); err != nil {
			t.Fatal(err)
		}
	}
	client.Close(1000, "")
	client.Wait() // what is behind the last answer may be lost with the connection
	if want := slices.Repeat([]string{"before", `"answer"`, "behind"}, rounds); !slices.Equal(seen[:3*rounds], want) {
		t.Errorf("have %q", seen)
	}
}

// What a prompt handler answers, and what cannot be read, keep their order.
func TestPromptAnswers(t *testing.T) {
	var inside atomic.Int32
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
		if inside.Add(1) != 1 {
			t.Error("two handlers at once")
		}
		defer inside.Add(-1)
		req.Reply(req.Params)
	}), Options{Prompt: true})
	_, c := s.raw(t)
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":1}}`, `[]`, `{"jsonrpc":"2.0","id":2,"method":"m","params":{"n":2}}`} {
		c.say(text)
	}
	if got := c.hear(); got != `{"jsonrpc":"2.0","id":1,"result":{"n":1}}` {
		t.Errorf("the first: %s", got)
	}
	if got := c.hear(); !strings.Contains(got, "-32600") {
		t.Errorf("the refusal: %s", got)
	}
	if got := c.hear(); got != `{"jsonrpc":"2.0","id":2,"result":{"n":2}}` {
		t.Errorf("the last: %s", got)
	}
}

// A call that took its answer returns without an error, and one that returned
// with an error takes nothing any more, however close the two are.
func TestCallThenTakesOrFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
			req.Go(func(context.Context) {
				<-time.After(time.Second)
				req.Reply("late")
			})
		}), Options{Tasks: 100})
		_, client := s.client(t, echo, Options{Prompt: true})
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
