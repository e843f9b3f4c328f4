package extension

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// unread is a standard input that discards written bytes.
type unread struct{}

func (unread) Write(p []byte) (int, error)      { return len(p), nil }
func (unread) Close() error                     { return nil }
func (unread) SetWriteDeadline(time.Time) error { return nil }

// answering serves an extension's requests without a process.
type answering struct{}

func (answering) Handle(ctx context.Context, c *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Notif {
		return
	}
	var params ahp.Value
	if req.Params != nil {
		params = ahp.Value(*req.Params)
	}
	result, err := answerTo(params, func(in resumeParams) (any, error) { return declarations(in.Canvases), nil })
	if err != nil {
		_ = c.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: int64(err.Code), Message: err.Message})
		return
	}
	_ = c.Reply(ctx, req.ID, json.RawMessage(ahp.MustMarshal(result)))
}

// FuzzWire checks that a request of the host ends, without a panic, for any output of
// the process.
func FuzzWire(f *testing.F) {
	for _, bodies := range []string{
		`{"jsonrpc":"2.0","id":0,"result":{"url":"http://127.0.0.1:1/"}}`,
		`{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"no","data":{"code":"x","message":"y"}}}`,
		`{"jsonrpc":"2.0","id":0,"error":null,"result":null}`,
		`{"jsonrpc":"2.0","id":0}`, `{"id":null,"result":1}`, `{"id":"0","result":1}`, `{"id":1e999,"method":"x"}`,
		`{"jsonrpc":"2.0","id":0,"result":1}|{"jsonrpc":"2.0","id":0,"result":2}`,
		`{"jsonrpc":"2.0","id":7,"method":"session.resume","params":{"sessionId":"s","canvases":[{"id":"a","actions":[{}]}]}}`,
		`{"jsonrpc":"2.0","id":7,"method":"session.resume","params":null}`,
		`{"jsonrpc":"2.0","id":{},"method":[],"params":1}`, `null`, `[null]`, `[{"id":1,"method":"x"}]`, `[]`, `{}`, `1`, `""`,
		`{"jsonrpc":"2.0","method":"x","params":{},"meta":null}`, `{"id":0,"method":"x","result":1,"error":{}}`,
	} {
		f.Add(bodies)
	}
	f.Fuzz(func(t *testing.T, bodies string) {
		_, err := answered(t, bodies)
		_ = failure(err)
	})
}

// A request whose response is invalid fails at once with the reason, and an invalid
// message does not affect the next one.
func TestInvalidResponses(t *testing.T) {
	for _, test := range []struct{ bodies, result, err string }{
		{`{"jsonrpc":"2.0","id":0,"result":"half \ud83d"}`, "", "invalid response from the extension: invalid JSON at byte 39: invalid surrogate"},
		{`{"jsonrpc":"2.0","id":0,"result":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`, "", "nested more than"},
		{`{"jsonrpc":"2.0","id":0}`, "", "invalid response from the extension: not a JSON-RPC message"},
		{`{"jsonrpc":"2.0","id":{},"method":"x"}|{"jsonrpc":"2.0","id":0,"result":1}`, "1", ""},
		{`{"jsonrpc":"2.0","id":1e9,"result":1,"error":[]}|{"jsonrpc":"2.0","id":0,"result":1}`, "1", ""},
	} {
		result, err := answered(t, test.bodies)
		if err = failure(err); string(result) != test.result || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%.60s: %s, %v; want %s %s", test.bodies, result, err, test.result, test.err)
		}
		if err != nil && code(err) != canvas.CodeHandlerError {
			t.Errorf("%.60s: %v", test.bodies, err)
		}
	}
}

// answered returns the result of a host's request to a process that writes bodies,
// which | separates, and ends.
func answered(t *testing.T, bodies string) (result json.RawMessage, err error) {
	t.Helper()
	var out strings.Builder
	for body := range strings.SplitSeq(bodies, "|") {
		out.WriteString(message(body))
	}
	asked := make(chan struct{})
	in := io.MultiReader(after{asked}, strings.NewReader(out.String()))
	w := newWire(newFrames(in, func([]byte) {}), unread{}, func(error) {})
	conn := jsonrpc2.NewConn(context.Background(), w, answering{}, jsonrpc2.SetLogger(noLog{}))
	defer conn.Close()
	call, err := conn.DispatchCall(context.Background(), "canvas.open", json.RawMessage(`{}`))
	close(asked)
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err = call.Wait(late, &result); late.Err() != nil {
		t.Fatalf("the request did not end: %v", err)
	}
	select {
	case <-w.read:
	case <-late.Done():
		t.Fatal("the output was not read to its end")
	}
	return result, err
}

// after is an empty reader that returns io.EOF once when is closed.
type after struct{ when <-chan struct{} }

func (a after) Read([]byte) (int, error) {
	<-a.when
	return 0, io.EOF
}
