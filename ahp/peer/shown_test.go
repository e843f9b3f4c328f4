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

// shower is an ObjectStream that answers the calls in the reverse order of their
// being sent, through a shown.
type shower struct {
	shown shown
	sent  []uint64
	all   chan struct{} // closed when as many were sent as are wanted
	want  int
	seen  []*jsonrpc2.Response
}

func (s *shower) WriteObject(any) error {
	if len(s.sent) == s.want {
		close(s.all)
	}
	return nil
}

func (s *shower) ReadObject(v any) error {
	<-s.all
	if len(s.sent) == 0 {
		return io.EOF
	}
	id := s.sent[len(s.sent)-1]
	s.sent = s.sent[:len(s.sent)-1]
	return s.shown.show(v, id)
}

func (s *shower) Close() error { return nil }

// The third fact of jsonrpc2: what it is shown of the second answer and of every
// later one is a copy of the first, and each call still gets its own, once.
func TestLibraryTakesAnAnswerThatWasCopied(t *testing.T) {
	const callers = 50
	s := &shower{all: make(chan struct{}), want: callers}
	onSend := func(req *jsonrpc2.Request, _ *jsonrpc2.Response) { s.sent = append(s.sent, req.ID.Num) }
	onRecv := func(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
		s.shown.response = resp
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
			t.Errorf("answer %d was decoded anew", i)
		}
	}
}

// A call with an error, one with a result and one that is late, behind each
// other: nothing of an answer stays for the next one.
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
