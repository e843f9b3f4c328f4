package peer

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// reverser is an ObjectStream that answers the calls in reverse order, through an
// answerCopier.
type reverser struct {
	answers answerCopier
	sent    []uint64
	all     chan struct{} // closed when want calls have been sent
	want    int
	seen    []*jsonrpc2.Response
}

func (s *reverser) WriteObject(any) error {
	if len(s.sent) == s.want {
		close(s.all)
	}
	return nil
}

func (s *reverser) ReadObject(v any) error {
	<-s.all
	if len(s.sent) == 0 {
		return io.EOF
	}
	id := s.sent[len(s.sent)-1]
	s.sent = s.sent[:len(s.sent)-1]
	return s.answers.fill(v, id)
}

func (s *reverser) Close() error { return nil }

// The third fact of stream about jsonrpc2: later answers can be copies of the first
// one, and each call still gets its own answer once.
func TestLibraryTakesAnAnswerThatWasCopied(t *testing.T) {
	const callers = 50
	s := &reverser{all: make(chan struct{}), want: callers}
	onSend := func(req *jsonrpc2.Request, _ *jsonrpc2.Response) { s.sent = append(s.sent, req.ID.Num) }
	onRecv := func(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
		s.answers.response = resp
		s.seen = append(s.seen, resp)
		if req == nil || req.ID != resp.ID {
			t.Errorf("an answer to %v is given to %v", resp.ID, req)
			return
		}
		*req.ExtraFields[0].Value.(*string) += req.ID.String()
	}
	conn := jsonrpc2.NewConn(t.Context(), s, noHandler{}, jsonrpc2.OnSend(onSend), jsonrpc2.OnRecv(onRecv), jsonrpc2.SetLogger(noLog{}))
	got := make([]string, callers)
	waiters := make([]jsonrpc2.Waiter, callers)
	for i := range callers {
		w, err := conn.DispatchCall(context.Background(), "m", nil, jsonrpc2.ExtraField("x", &got[i]))
		if err != nil {
			t.Fatal(err)
		}
		waiters[i] = w
	}
	for i, w := range waiters {
		if err := w.Wait(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if got[i] != strconv.Itoa(i) {
			t.Errorf("call %d was answered by %q", i, got[i])
		}
	}
	<-conn.DisconnectNotify()
	for i, resp := range s.seen {
		if resp != s.seen[0] {
			t.Errorf("answer %d was decoded again", i)
		}
	}
}

// An error, a result and a late answer in sequence do not affect each other.
func TestAnswersDoNotMix(t *testing.T) {
	fail := HandlerFunc(func(_ context.Context, req *Request) {
		if req.Method == "fails" {
			req.Fail(&ahp.Error{Code: ahp.CodeInvalidParams, Message: "no"})
			return
		}
		req.Reply(req.Params)
	})
	s := newStack(t, echo, Options{})
	host, client := s.client(t, fail, Options{})
	for i := range 20 {
		client.Push(text(`{"jsonrpc":"2.0","id":999999,"result":"late"}`))
		if _, err := host.Call(t.Context(), "fails", nil); err == nil {
			t.Fatal("no error")
		}
		want, _ := json.Marshal(map[string]int{"i": i})
		got, err := host.Call(t.Context(), "works", ahp.Value(want))
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s, %v; want %s", got, err, want)
		}
	}
	if got := host.Stats().LateAnswers; got != 20 {
		t.Errorf("%d late answers, want 20", got)
	}
}
