package peer

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

func TestCallBothWays(t *testing.T) {
	s := newStack(t, echo, Options{})
	host, client := s.client(t, echo, Options{})
	for name, p := range map[string]*Peer{"host to client": host, "client to host": client} {
		params := ahp.Value(`{"n":9007199254740993,"s":"<&>"}`)
		if got := mustCall(t, p, "m", params); string(got) != string(params) {
			t.Errorf("%s: have %s", name, got)
		}
		if got := mustCall(t, p, "m", nil); string(got) != "null" {
			t.Errorf("%s: no params: have %s", name, got)
		}
		if got := mustCall(t, p, "m", ahp.ChannelParams{Channel: "c"}); string(got) != `{"channel":"c"}` {
			t.Errorf("%s: typed params: have %s", name, got)
		}
	}
}

func TestCallErrors(t *testing.T) {
	coded := ahp.Errorf(ahp.CodeNotFound, "gone").With(map[string]int{"a": 1})
	s := newStack(t, HandlerFunc(func(_ context.Context, req *Request) {
		switch req.Method {
		case "coded":
			req.Fail(errors.Join(errors.New("outer"), coded))
			req.Reply(nil) // a second answer does nothing
		case "plain":
			req.Fail(errors.New("a secret path"))
		case "forgotten":
		case "forgotten later":
			req.Go(func(context.Context) {})
		case "no json":
			req.Reply(func() {})
		}
	}), Options{})
	_, client := s.client(t, echo, Options{})
	internal := ahp.Errorf(ahp.CodeInternal, "internal error")
	for method, want := range map[string]*ahp.Error{
		"coded": coded, "plain": internal, "forgotten": internal, "forgotten later": internal, "no json": internal,
	} {
		_, err := client.Call(t.Context(), method, nil)
		got, _ := errors.AsType[*ahp.Error](err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
	}
}

// Malformed answers of a client that is not a Peer.
func TestMalformedAnswers(t *testing.T) {
	s := newStack(t, echo, Options{})
	host, c := s.raw(t)
	for _, answer := range []string{
		`{"jsonrpc":"2.0","id":ID,"result":1,"error":{"code":1,"message":"x"}}`,
		`{"id":ID,"result":1}`,
		`{"jsonrpc":"2.0","id":ID,"error":"x"}`,
		`{"jsonrpc":"2.0","id":ID,"error":{"code":1.5,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":ID,"error":{"message":"x"}}`,
		`{"jsonrpc":"2.0","id":ID,"result":` + tooDeep + `}`,
		`{"result":` + tooDeep + `,"id":ID,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":ID,"x":` + tooDeep + `}`,
	} {
		failed := make(chan error, 1)
		go func() {
			_, err := host.Call(context.Background(), "m", nil)
			failed <- err
		}()
		c.send(strings.Replace(answer, "ID", idOf(t, c.receive()), 1))
		if err := within(t, failed); !errors.Is(err, errMalformedAnswer) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// A client that omits the result of a handler without one (JavaScript's undefined).
// Its own requests may have the same ids.
func TestAnswerWithoutResult(t *testing.T) {
	s := newStack(t, echo, Options{})
	host, c := s.raw(t)
	got := make(chan ahp.Value, 1)
	go func() {
		result, err := host.Call(context.Background(), "m", nil)
		if err != nil {
			t.Error(err)
		}
		got <- result
	}()
	bare := `{"jsonrpc":"2.0","id":` + idOf(t, c.receive()) + `}`
	c.send(bare)
	if result := within(t, got); string(result) != "null" {
		t.Errorf("have %s, want null", result)
	}
	c.send(`{"jsonrpc":"2.0","id":"own","method":"m"}`)
	if answer := c.receive(); answer != `{"jsonrpc":"2.0","id":"own","result":null}` {
		t.Errorf("the answer was answered: %s", answer)
	}
	c.send(bare) // no call has the id any more
	if answer := c.receive(); !strings.Contains(answer, "/method: required") {
		t.Error(answer)
	}
}

// Some clients drop a request whose id is falsy in JavaScript, such as 0.
func TestCallIDsBeginAtOne(t *testing.T) {
	s := newStack(t, echo, Options{})
	host, c := s.raw(t)
	for _, want := range []string{"1", "2"} {
		done := make(chan error, 1)
		go func() {
			_, err := host.Call(context.Background(), "m", nil)
			done <- err
		}()
		id := idOf(t, c.receive())
		if id != want {
			t.Errorf("id %s, want %s", id, want)
		}
		c.send(`{"jsonrpc":"2.0","id":` + id + `,"result":null}`)
		if err := within(t, done); err != nil {
			t.Error(err)
		}
	}
}

func idOf(t *testing.T, request string) string {
	t.Helper()
	var r struct {
		ID json.Number `json:"id"`
	}
	if err := json.Unmarshal([]byte(request), &r); err != nil {
		t.Fatal(err)
	}
	return r.ID.String()
}

func TestCallTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{CallTimeout: 7 * time.Second})
		host, c := s.raw(t)
		start := time.Now()
		_, err := host.Call(t.Context(), "m", nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 7*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		// The late answer is counted and dropped, and the connection stays open.
		c.send(`{"jsonrpc":"2.0","id":` + idOf(t, c.receive()) + `,"result":1}`)
		c.send(`{"jsonrpc":"2.0","id":4711,"result":1}`)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		_ = c.receive()
		if n := host.calls.abandoned.Load(); n != 0 {
			t.Errorf("%d calls are thought abandoned after the late answer", n)
		}
		if n := host.Stats().LateAnswers; n != 1 {
			t.Errorf("%d late answers", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := host.Call(ctx, "m", nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A call above the limit is sent when another one is answered, in order, and its
// timeout begins then.
func TestCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{Calls: 2, CallTimeout: 10 * time.Second})
		host, c := s.raw(t)
		results := make(chan string, 4)
		for i := range 4 {
			go func() {
				v, err := host.Call(t.Context(), "m", map[string]int{"n": i})
				if err != nil {
					t.Error(i, err)
				}
				results <- string(v)
			}()
			synctest.Wait()
		}
		first, second := c.receive(), c.receive()
		for i, asked := range []string{first, second} {
			if want := `"params":{"n":` + strconv.Itoa(i) + `}`; !strings.Contains(asked, want) {
				t.Errorf("have %s, want %s", asked, want)
			}
			time.Sleep(9 * time.Second / 2)
		}
		for i, asked := range []string{first, second} {
			c.send(`{"jsonrpc":"2.0","id":` + idOf(t, asked) + `,"result":` + strconv.Itoa(i) + `}`)
			next := c.receive()
			if want := `"params":{"n":` + strconv.Itoa(i+2) + `}`; !strings.Contains(next, want) {
				t.Errorf("have %s, want %s", next, want)
			}
			time.AfterFunc(8*time.Second, func() {
				c.send(`{"jsonrpc":"2.0","id":` + idOf(t, next) + `,"result":` + strconv.Itoa(i+2) + `}`)
			})
			synctest.Wait()
		}
		for range 4 {
			<-results
		}
	})
}

func TestTooManyCallsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{Calls: 1, CallQueue: 1})
		host, _ := s.raw(t)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _, _ = host.Call(t.Context(), "m", nil) })
		}
		synctest.Wait()
		if _, err := host.Call(t.Context(), "m", nil); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		host.Close(ws.CodeNormal, "")
		wg.Wait()
	})
}

// When the connection ends, calls in flight, waiting calls and later calls fail with
// the cause.
func TestCallsFailWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{Calls: 1})
		host, c := s.raw(t)
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := host.Call(context.Background(), "m", nil)
				errs <- err
			}()
			synctest.Wait()
		}
		_ = c.receive()
		start := time.Now()
		c.ws.Close()
		for range 2 {
			if err := <-errs; ws.CodeOf(err) != ws.CodeLost {
				t.Errorf("have %v, want the lost connection", err)
			}
		}
		if _, err := host.Call(context.Background(), "m", nil); ws.CodeOf(err) != ws.CodeLost {
			t.Errorf("have %v, want the lost connection", err)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("only after %s", d)
		}
	})
}

func TestPeerThatNeverAnswersIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, echo, Options{Abandoned: 5, CallTimeout: time.Second})
		host, c := s.raw(t)
		for range 6 {
			if host.Err() != nil {
				t.Fatal("closed too early")
			}
			_, _ = host.Call(t.Context(), "m", nil)
			if c.receive() == "" {
				t.Fatal("nothing was sent")
			}
		}
		if code := c.receiveClose(); code != ws.CodePolicy {
			t.Errorf("closed with %d", code)
		}
	})
}
