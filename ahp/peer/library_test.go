package peer

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"
)

// scripted is an ObjectStream that records what jsonrpc2 does, and answers every call
// at once.
type scripted struct {
	did     []string
	last    uint64
	answers chan string
}

func (s *scripted) WriteObject(any) error {
	s.did = append(s.did, "WriteObject "+strconv.FormatUint(s.last, 10))
	s.answers <- `{"id":` + strconv.FormatUint(s.last, 10) + `,"result":null}`
	return nil
}

func (s *scripted) ReadObject(v any) error {
	raw, ok := <-s.answers
	if !ok {
		return io.EOF
	}
	return v.(json.Unmarshaler).UnmarshalJSON([]byte(raw))
}

func (s *scripted) Close() error { return nil }

// The first two facts of stream about jsonrpc2. A version that fails this test needs
// another stream. With many callers, sends would mix (and race, under -race) if
// OnSend and WriteObject were not one step under a lock.
func TestLibraryFacts(t *testing.T) {
	const callers = 50
	s := &scripted{answers: make(chan string, callers)}
	onSend := func(req *jsonrpc2.Request, _ *jsonrpc2.Response) {
		req.ID.Num++ // the answer to the changed id reaches the caller
		s.last = req.ID.Num
		s.did = append(s.did, "OnSend "+strconv.FormatUint(req.ID.Num, 10))
	}
	onRecv := func(req *jsonrpc2.Request, _ *jsonrpc2.Response) {
		*req.ExtraFields[0].Value.(*bool) = true
	}
	conn := jsonrpc2.NewConn(t.Context(), s, noHandler{}, jsonrpc2.OnSend(onSend), jsonrpc2.OnRecv(onRecv), jsonrpc2.SetLogger(noLog{}))
	errs := make(chan string, callers)
	for range callers {
		go func() {
			handed := false
			err := conn.Call(context.Background(), "m", nil, nil, jsonrpc2.ExtraField("x", &handed))
			switch {
			case err != nil:
				errs <- err.Error()
			case !handed:
				errs <- "the caller woke before OnRecv"
			default:
				errs <- ""
			}
		}()
	}
	for range callers {
		if err := within(t, errs); err != "" {
			t.Error(err)
		}
	}
	close(s.answers)
	<-conn.DisconnectNotify()
	var want []string
	for i := range callers {
		n := strconv.Itoa(i + 1)
		want = append(want, "OnSend "+n, "WriteObject "+n)
	}
	if diff := cmp.Diff(want, s.did); diff != "" {
		t.Error(diff)
	}
}
