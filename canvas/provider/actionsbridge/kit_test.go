package actionsbridge_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// wire is a transport in memory: it keeps what it is sent.
type wire struct {
	mu     sync.Mutex
	sent   []ab.Item
	calls  chan ab.Item // the calls among them
	closed string       // the reason
	fail   bool         // Send fails
	onCall func(ab.Item)
}

func newWire() *wire { return &wire{calls: make(chan ab.Item, 1024)} }

func (w *wire) Send(raw []byte) error {
	item, err := ab.DecodeItem(raw)
	if err != nil {
		panic(err)
	}
	w.mu.Lock()
	if w.fail {
		w.mu.Unlock()
		return fmt.Errorf("full")
	}
	w.sent = append(w.sent, item)
	onCall := w.onCall
	w.mu.Unlock()
	if item.Type == ab.TypeCall {
		if onCall != nil {
			onCall(item)
		} else {
			w.calls <- item
		}
	}
	return nil
}

func (w *wire) Close(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = reason
}

// last returns the last item of a type that was sent.
func (w *wire) last(kind string) (ab.Item, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range slices.Backward(w.sent) {
		if i.Type == kind {
			return i, true
		}
	}
	return ab.Item{}, false
}

func (w *wire) count(kind string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range w.sent {
		if i.Type == kind {
			n++
		}
	}
	return n
}

// errorCode returns the code of the last action_error that was sent.
func (w *wire) errorCode(t testing.TB) string {
	t.Helper()
	item, ok := w.last(ab.TypeError)
	if !ok {
		return ""
	}
	_, err := ab.Outcome(item)
	return err.Code
}

func (w *wire) reason() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

var (
	trusted = ab.Principal{Kind: ab.Extension, Origin: "chrome-extension://abc", Trusted: true}
	shop    = ab.Principal{Kind: ab.Page, Origin: "https://shop.example"}
	bank    = ab.Principal{Kind: ab.Page, Origin: "https://bank.example"}
)

func newBridge(t testing.TB, o ab.Options) *ab.Bridge {
	t.Helper()
	b := ab.New(o)
	t.Cleanup(b.Close)
	return b
}

// attach connects a runtime with the tools a and b, and returns its connection.
func attach(b *ab.Bridge, who ab.Principal, id, url string, more ...string) (*wire, *ab.Conn) {
	w := newWire()
	c := b.Attach(w, who)
	c.Receive(ready(id, url, more...))
	return w, c
}

const tools = `{"tools":[{"name":"a","input_schema":{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false}},{"name":"b"}]}`

// ready returns a runtime_ready; more are further members.
func ready(id, url string, more ...string) []byte {
	var s strings.Builder
	s.WriteString(fmt.Sprintf(`{"type":"runtime_ready","runtime_id":%q,"url":%q`, id, url))
	if !slices.ContainsFunc(more, func(m string) bool { return len(m) > 10 && m[:10] == `"manifest"` }) {
		s.WriteString(`,"manifest":` + tools)
	}
	for _, m := range more {
		s.WriteString("," + m)
	}
	return []byte(s.String() + "}")
}

func output(call ab.Item, value string) []byte {
	return fmt.Appendf(nil, `{"type":"action_call_output","call_id":%q,"runtime_id":%q,"output":%s}`, call.CallID, call.RuntimeID, value)
}

type outcome struct {
	value ahp.Value
	err   *ab.Error
}

// start calls in another goroutine.
func start(t testing.TB, b *ab.Bridge, c ab.Call) <-chan outcome {
	out := make(chan outcome, 1)
	ctx := context.Background()
	if t != nil {
		ctx = t.Context()
	}
	go func() {
		v, err := b.Call(ctx, c)
		out <- outcome{v, err}
	}()
	return out
}

func wantError(t testing.TB, err *ab.Error, code string) {
	t.Helper()
	if err == nil || err.Code != code {
		t.Errorf("error %v, want %s", err, code)
	}
}

// evidence decodes the evidence of an error.
func evidence(t testing.TB, err *ab.Error) map[string]any {
	t.Helper()
	var m map[string]any
	if err == nil || ahp.Unmarshal(err.Evidence, &m) != nil {
		t.Fatalf("no evidence in %v", err)
	}
	return m
}

// logger writes everything to w.
func logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
