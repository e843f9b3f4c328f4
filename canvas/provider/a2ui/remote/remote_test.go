package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/remote"
)

// fake is an agent whose card and answers a test writes. In them, BASE is its address and
// ID the request's id.
type fake struct {
	*httptest.Server
	card    string
	answer  func(w http.ResponseWriter, r *http.Request, id string)
	calls   atomic.Int64
	oldCard bool // only at the path of older versions
}

const plainCard = `{"url":"BASE/a2a","capabilities":{"streaming":true}}`

// fakeAgent starts an agent that answers with events, or with what answer writes.
func fakeAgent(t *testing.T, events string, answer func(w http.ResponseWriter, r *http.Request, id string)) *fake {
	t.Helper()
	f := &fake{card: plainCard, answer: answer}
	if answer == nil {
		f.answer = func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, strings.ReplaceAll(events, "ID", id))
		}
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/.well-known/agent-card.json" && !f.oldCard, r.URL.Path == "/.well-known/agent.json" && f.oldCard:
		_, _ = io.WriteString(w, strings.ReplaceAll(f.card, "BASE", f.URL))
	case r.URL.Path == "/a2a":
		f.calls.Add(1)
		var req struct {
			ID string `json:"id"`
		}
		raw, _ := io.ReadAll(r.Body)
		_ = ahp.Unmarshal(raw, &req)
		f.answer(w, r, req.ID)
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) agent(t *testing.T, limits remote.Limits) *remote.Agent {
	t.Helper()
	a, err := remote.New(remote.Options{Name: "finder", URL: f.URL, Token: "secret-token", Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// fails sends a turn that must fail with a code and with words, and without an address.
func fails(t *testing.T, a *remote.Agent, code, words string) {
	t.Helper()
	err := a.Send(t.Context(), a2ui.Turn{Text: "x"}, func(a2ui.Reply) {})
	e, ok := errors.AsType[*a2ui.Error](err)
	if !ok || e.Code != code || !strings.Contains(e.Message, words) {
		t.Errorf("failed with %v, want %s %q", err, code, words)
	}
	for _, secret := range []string{"127.0.0.1", "http:", "secret-token", "/a2a"} {
		if strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("the error contains %q: %v", secret, err)
		}
	}
}

func event(result string) string {
	return `data: {"jsonrpc":"2.0","id":"ID","result":` + result + "}\n\n"
}

const (
	working  = `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}`
	finished = `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`
	drawn    = `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":{"version":"v0.9","createSurface":{}}}]}}`
)

// TestAddresses: plain http and ws reach agents on this machine alone, and a URL has no
// user name, query or fragment.
func TestAddresses(t *testing.T) {
	for url, good := range map[string]bool{
		"https://agent.example": true, "https://agent.example/base/": true, "wss://agent.example/ws": true,
		"http://127.0.0.1:10002": true, "http://localhost:1": true, "http://[::1]:1": true, "ws://localhost:1": true,
		"http://192.0.2.1": false, "http://agent.example": false, "ws://agent.example": false, "http://localhost.example": false, "http://0.0.0.0:1": false,
		"https://me:secret@agent.example": false, "https://agent.example/?k=v": false, "https://agent.example/#x": false,
		"ftp://agent.example": false, "agent.example": false, "": false, "https://": false,
	} {
		if _, err := remote.New(remote.Options{Name: "x", URL: url}); (err == nil) != good {
			t.Errorf("%q: %v, want good %v", url, err, good)
		}
	}
	for name, good := range map[string]bool{"a": true, "a-1": true, strings.Repeat("a", 32): true, "": false, "-a": false, "A": false, "a_b": false, strings.Repeat("a", 33): false} {
		if remote.ValidName(name) != good {
			t.Errorf("name %q: want good %v", name, good)
		}
	}
}

// TestOneOrigin: neither a redirect nor a card sends a request, or the token, elsewhere.
func TestOneOrigin(t *testing.T) {
	var strayed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer elsewhere.Close()
	redirects := fakeAgent(t, "", func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, elsewhere.URL+"/a2a", http.StatusTemporaryRedirect)
	})
	fails(t, redirects.agent(t, remote.Limits{}), a2ui.CodeAgentUnavailable, "it answered with status 307")
	card := fakeAgent(t, "", func(w http.ResponseWriter, r *http.Request, _ string) {})
	card.card = strings.ReplaceAll(plainCard, "BASE", elsewhere.URL)
	fails(t, card.agent(t, remote.Limits{}), a2ui.CodeAgentUnavailable, "its card points elsewhere")
	moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer moved.Close()
	fails(t, (&fake{Server: moved}).agent(t, remote.Limits{}), a2ui.CodeAgentUnavailable, "it has no card (status 302)")
	if n := strayed.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

// TestFailures: what an agent can answer instead of an answer.
func TestFailures(t *testing.T) {
	status := func(code int) func(http.ResponseWriter, *http.Request, string) {
		return func(w http.ResponseWriter, _ *http.Request, _ string) {
			http.Error(w, "http://127.0.0.1/ secret-token", code)
		}
	}
	text := func(body string) func(http.ResponseWriter, *http.Request, string) {
		return func(w http.ResponseWriter, _ *http.Request, id string) {
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", id))
		}
	}
	for _, tt := range []struct {
		answer func(http.ResponseWriter, *http.Request, string)
		code   string
		words  string
	}{
		{status(500), a2ui.CodeAgentUnavailable, "status 500"},
		{status(401), a2ui.CodeAgentUnavailable, "status 401"},
		{text(`{"jsonrpc":"2.0","id":"ID","error":{"code":-32601,"message":"http://127.0.0.1/a2a"}}`), a2ui.CodeAgentUnavailable, "error -32601"},
		{text(`{"jsonrpc":"2.0","id":"other","result":` + finished + `}`), a2ui.CodeAgentUnavailable, "another request"},
		{text(`{"jsonrpc":"2.0","id":"ID"}`), a2ui.CodeAgentUnavailable, "not valid A2A"},
		{text(`{"jsonrpc":"2.0","id":"ID","result":7}`), a2ui.CodeAgentUnavailable, "not valid A2A"},
		{text(`<html>`), a2ui.CodeAgentUnavailable, "not valid JSON-RPC"},
		{text(`{"id":"ID","id":"ID","result":` + finished + `}`), a2ui.CodeAgentUnavailable, "not valid JSON-RPC"},
		{text(`{"id":"ID","result":"` + strings.Repeat("x", 9000) + `"}`), a2ui.CodeTooLarge, "8192 bytes"},
	} {
		fails(t, fakeAgent(t, "", tt.answer).agent(t, remote.Limits{Turn: 8192}), tt.code, tt.words)
	}
	gone := fakeAgent(t, "", nil)
	a := gone.agent(t, remote.Limits{})
	gone.Close()
	fails(t, a, a2ui.CodeAgentUnavailable, "the connection was refused")
	if _, err := a.Check(t.Context()); err == nil {
		t.Error("the check of an agent that is gone has no error")
	}
}

// TestCards: which interface of a card is used.
func TestCards(t *testing.T) {
	many := `{"supportedInterfaces":[{"url":"BASE/grpc","protocolBinding":"GRPC","protocolVersion":"1.0"},{"url":"BASE/old","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":"BASE/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"capabilities":{"extensions":[{"uri":"https://a2ui.org/a2a-extension/a2ui/v0.9"},{"uri":"https://a2ui.org/a2a-extension/a2ui/v0.9.1"},{"uri":"https://a2ui.org/a2a-extension/a2ui/v9"}]}}`
	for _, tt := range []struct {
		card string
		want remote.Info
		err  string
	}{
		{card: plainCard, want: remote.Info{A2A: "0.3", Streaming: true}},
		{card: `{"url":"BASE/rest","preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"BASE/a2a","transport":"JSONRPC"}]}`, want: remote.Info{A2A: "0.3"}},
		{card: many, want: remote.Info{A2A: "1.0", A2UI: true}},
		{card: `{"url":"BASE/grpc","preferredTransport":"GRPC"}`, err: "no JSON-RPC"},
		{card: `{"url":"https://elsewhere.example/a2a"}`, err: "points elsewhere"},
		{card: `{"url":"http://me@127.0.0.1/a2a"}`, err: "points elsewhere"},
		{card: `{"url":7}`, err: "not valid"},
		{card: `{"url":"BASE/a2a","name":"` + strings.Repeat("x", 256<<10) + `"}`, err: "more than 262144 bytes"},
	} {
		for _, old := range []bool{false, true} {
			f := fakeAgent(t, "", nil)
			f.card, f.oldCard = tt.card, old
			got, err := f.agent(t, remote.Limits{}).Check(t.Context())
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%.80s: %+v, %v; want %+v %q", tt.card, got, err, tt.want, tt.err)
			}
		}
	}
}

// TestNewestExtension: a turn names the newest version of A2UI's extension that the card has.
func TestNewestExtension(t *testing.T) {
	for _, tt := range []struct{ extensions, want string }{
		{`[{"uri":"https://a2ui.org/a2a-extension/a2ui/v0.9.1"},{"uri":"https://a2ui.org/a2a-extension/a2ui/v0.9"}]`, a2ui.ExtensionV091},
		{`[{"uri":"https://a2ui.org/a2a-extension/a2ui/v0.9"}]`, a2ui.ExtensionV09},
		{`[]`, a2ui.ExtensionV09},
	} {
		got := make(chan string, 1)
		f := fakeAgent(t, "", func(w http.ResponseWriter, r *http.Request, id string) {
			got <- r.Header.Get("X-A2A-Extensions")
			_, _ = io.WriteString(w, `{"id":"`+id+`","result":`+finished+`}`)
		})
		f.card = `{"url":"BASE/a2a","capabilities":{"extensions":` + tt.extensions + `}}`
		turn(t, f.agent(t, remote.Limits{}), a2ui.Turn{Text: "x"})
		if uri := <-got; uri != tt.want {
			t.Errorf("%s: sent %q, want %q", tt.extensions, uri, tt.want)
		}
	}
}

// TestStreams: what arrives completely counts, and a stream that breaks off says so.
func TestStreams(t *testing.T) {
	for name, tt := range map[string]struct {
		events string
		want   []string
	}{
		"complete":            {event(working) + ": ping\n\n" + event(drawn) + event(finished), []string{"working", "createSurface", "completed"}},
		"CR LF, two lines":    {strings.ReplaceAll("\ufeffevent: x\n"+strings.Replace(event(finished), `,"result"`, ",\ndata: \"result\"", 1), "\n", "\r\n"), []string{"completed"}},
		"cut in an event":     {event(drawn) + event(finished)[:60], []string{"createSurface", "interrupted"}},
		"cut after states":    {event(working) + event(drawn), []string{"working", "createSurface", "interrupted"}},
		"nothing":             {"", []string{"interrupted"}},
		"of another id":       {strings.Replace(event(drawn), "ID", "other", 1) + event(finished), []string{"completed"}},
		"states of 1.0":       {event(`{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_AUTH_REQUIRED"}}}`), []string{"auth-required"}},
		"artifacts of a task": {event(strings.Replace(strings.Replace(drawn, `"artifact":{`, `"artifacts":[{`, 1), `}}]}}`, `}}]}],"id":"t","status":{"state":"completed"}}`, 1)), []string{"completed createSurface"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := outline(turn(t, fakeAgent(t, tt.events, nil).agent(t, remote.Limits{}), a2ui.Turn{Text: "x"}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestParts: parts that are neither text nor A2UI are counted, and an odd one does not
// lose the others.
func TestParts(t *testing.T) {
	list := `[{"kind":"text","text":"a"},{"text":"b"},{"kind":"data","data":{}},{"kind":"data","data":{},"metadata":{"mimeType":"text/plain"}},
		{"kind":"file","file":{}},{"kind":"data","data":{},"metadata":[]},{"text":7},9,
		{"kind":"data","data":[],"metadata":{"mimeType":"application/a2ui+json"}},{"data":[1],"mediaType":"application/json+a2ui"}]`
	f := fakeAgent(t, event(`{"kind":"message","messageId":"m","contextId":"c","parts":`+strings.ReplaceAll(list, "\n", "")+`}`), nil)
	got := turn(t, f.agent(t, remote.Limits{}), a2ui.Turn{Text: "x"})
	want := []a2ui.Reply{{ContextID: "c", State: "completed", Text: "a\nb", Ignored: 6, Parts: []ahp.Value{
		ahp.Value(`{"kind":"data","metadata":{"mimeType":"application/a2ui+json"},"data":[]}`),
		ahp.Value(`{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":[1]}`)}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestSilence: an agent that sends nothing, or only a part of an event, ends the turn.
func TestSilence(t *testing.T) {
	hang := func(begin string) func(http.ResponseWriter, *http.Request, string) {
		return func(w http.ResponseWriter, r *http.Request, id string) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, strings.ReplaceAll(begin, "ID", id))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}
	fails(t, fakeAgent(t, "", hang("")).agent(t, remote.Limits{Silence: 100 * time.Millisecond}), a2ui.CodeAgentSilent, "sent nothing for 100ms")
	fails(t, fakeAgent(t, "", hang(event(working))).agent(t, remote.Limits{Silence: 100 * time.Millisecond}), a2ui.CodeAgentSilent, "sent nothing for 100ms")
	fails(t, fakeAgent(t, "", hang("")).agent(t, remote.Limits{Time: 100 * time.Millisecond}), a2ui.CodeAgentSilent, "did not finish within 100ms")

	a := fakeAgent(t, "", hang(event(working))).agent(t, remote.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	err := a.Send(ctx, a2ui.Turn{Text: "x"}, func(a2ui.Reply) { cancel() })
	if e, ok := errors.AsType[*a2ui.Error](err); !ok || !strings.Contains(e.Message, "was canceled") {
		t.Errorf("a canceled turn: %v", err)
	}
}

// TestSizes: an event, and all of a turn, are limited.
func TestSizes(t *testing.T) {
	long := event(`{"kind":"message","messageId":"m","parts":[{"text":"` + strings.Repeat("x", 4000) + `"}]}`)
	limits := remote.Limits{Event: 5000, Turn: 20000}
	turn(t, fakeAgent(t, long, nil).agent(t, limits), a2ui.Turn{Text: "x"})
	fails(t, fakeAgent(t, strings.Replace(long, "xxxx", strings.Repeat("x", 1000), 1), nil).agent(t, limits), a2ui.CodeTooLarge, "5000 bytes")
	fails(t, fakeAgent(t, strings.Repeat(": "+strings.Repeat("c", 3000)+"\n", 3), nil).agent(t, limits), a2ui.CodeTooLarge, "5000 bytes")
	fails(t, fakeAgent(t, strings.Repeat(long, 6), nil).agent(t, limits), a2ui.CodeTooLarge, "20000 bytes")
}

// TestCardIsReadOnce: and again after a failure, because the agent may have moved.
func TestCardIsReadOnce(t *testing.T) {
	f := fakeAgent(t, event(finished), nil)
	a := f.agent(t, remote.Limits{})
	turn(t, a, a2ui.Turn{Text: "x"})
	f.card = `{}`
	turn(t, a, a2ui.Turn{Text: "x"})
	f.answer = func(w http.ResponseWriter, _ *http.Request, _ string) { http.NotFound(w, nil) }
	fails(t, a, a2ui.CodeAgentUnavailable, "status 404")
	fails(t, a, a2ui.CodeAgentUnavailable, "no JSON-RPC")
}
