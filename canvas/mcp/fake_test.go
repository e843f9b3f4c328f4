package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"encoding/json"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

const defaultSession = "ahp-session:/default"

// fake is a service with one canvas, "counter", that records its calls.
type fake struct {
	fail    error                           // what every call answers
	block   func(ctx context.Context) error // runs inside invoke and a wait for events
	events  []canvas.Event
	opened  int64         // cursor of the last open
	timeout time.Duration // of the last wait
	mu      sync.Mutex
	open    map[string]ahp.Value // by instance id: the input
	session string               // of the last call
	input   ahp.Value            // of the last open or invoke
}

func newFake() *fake { return &fake{open: map[string]ahp.Value{}} }

// hold lets one call begin and last until its caller cancels it; ended is the context's
// error then.
func (f *fake) hold() (begun <-chan struct{}, ended <-chan error) {
	began, end := make(chan struct{}), make(chan error, 1)
	f.block = func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		end <- ctx.Err()
		return ctx.Err()
	}
	return began, end
}

func (f *fake) note(session string, input ahp.Value) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.session, f.input = session, input
	return f.fail
}

func (f *fake) List(target string) ([]session.SessionCanvasDeclaration, error) {
	return []session.SessionCanvasDeclaration{{
		ExtensionID: "acme", CanvasID: "counter", DisplayName: "Counter", Description: "Counts.",
		InputSchema: ahp.Value(`{"type":"object","maxProperties":9007199254740993}`),
		Actions:     []session.SessionCanvasAction{{Name: "add"}},
		Source:      session.CanvasProviderSource{Kind: session.SourceServer},
	}}, f.note(target, nil)
}

func (f *fake) ListOpen(target string) ([]canvas.OpenCanvas, error) {
	err := f.note(target, nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []canvas.OpenCanvas
	for id := range f.open {
		all = append(all, canvas.OpenCanvas{InstanceID: id, Channel: "ahp-canvas:/1", CanvasID: "counter", ExtensionID: "acme", Availability: session.Ready})
	}
	return all, err
}

func (f *fake) Open(_ context.Context, args canvas.OpenArgs) (canvas.OpenCanvas, error) {
	if err := f.note(args.Session, args.Input); err != nil {
		return canvas.OpenCanvas{}, err
	}
	id := args.InstanceID
	if id == "" {
		id = "minted"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[id] = args.Input
	return canvas.OpenCanvas{InstanceID: id, Channel: "ahp-canvas:/1", CanvasID: args.CanvasID, ExtensionID: "acme", Availability: session.Ready, Title: "Count"}, nil
}

// Invoke returns its input, so that a test can follow the digits both ways.
func (f *fake) Invoke(ctx context.Context, args canvas.InvokeArgs) (ahp.Value, error) {
	if err := f.note(args.Session, args.Input); err != nil {
		return nil, err
	}
	if f.block != nil {
		if err := f.block(ctx); err != nil {
			return nil, err
		}
	}
	return args.Input, nil
}

func (f *fake) Close(_ context.Context, target, instanceID string) error {
	if err := f.note(target, nil); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.open[instanceID]; !ok {
		return &canvas.Error{Code: canvas.CodeInstanceNotFound, Message: "no canvas \"" + instanceID + "\" is open"}
	}
	delete(f.open, instanceID)
	return nil
}

// Events returns the available events, and waits only for block.
func (f *fake) Events(ctx context.Context, target string, after int64, timeout time.Duration) (canvas.EventPage, error) {
	if after == canvas.SinceOpen {
		after = f.opened
	}
	if err := f.note(target, nil); err != nil {
		return canvas.EventPage{}, err
	}
	if f.block != nil && timeout > 0 {
		if err := f.block(ctx); err != nil {
			return canvas.EventPage{}, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timeout = timeout
	last := int64(len(f.events))
	return canvas.EventPage{Events: f.events[min(after, last):], Next: last, Dropped: max(0, after-last)}, nil
}

// connect connects a foreign client to a server in one of several ways.
type connect func(t *testing.T, server *mcp.Server) *sdk.ClientSession

// ways are the transports and kinds of requests that a client can choose.
var ways = map[string]connect{
	"in memory": func(t *testing.T, server *mcp.Server) *sdk.ClientSession {
		ours, theirs := sdk.NewInMemoryTransports()
		if _, err := server.Connect(t.Context(), ours); err != nil {
			t.Fatal(err)
		}
		return enter(t, theirs, "")
	},
	"http with a session": func(t *testing.T, server *mcp.Server) *sdk.ClientSession {
		return enter(t, overHTTP(t, server), "2025-11-25")
	},
	"http, one request at a time": func(t *testing.T, server *mcp.Server) *sdk.ClientSession {
		return enter(t, overHTTP(t, server), "2026-07-28")
	},
}

// listen serves HTTP until the test ends.
func listen(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

func overHTTP(t *testing.T, server *mcp.Server) *sdk.StreamableClientTransport {
	t.Helper()
	return &sdk.StreamableClientTransport{Endpoint: listen(t, mcp.Handler(server)).URL, HTTPClient: &http.Client{Transport: http.DefaultTransport}}
}

func enter(t *testing.T, transport sdk.Transport, version string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "foreign"}, nil)
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call runs a tool with raw arguments.
func call(t *testing.T, c *sdk.ClientSession, tool, args string) *sdk.CallToolResult {
	t.Helper()
	params := &sdk.CallToolParams{Name: tool}
	if args != "" {
		params.Arguments = json.RawMessage(args)
	}
	r, err := c.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return r
}

func structured(t *testing.T, r *sdk.CallToolResult) string {
	t.Helper()
	v, ok := mcp.Structured(r)
	if !ok {
		t.Fatalf("no structured content in %v", r)
	}
	return string(v)
}

// calling is call in the background: it returns the error of a tool that can be
// canceled.
func calling(ctx context.Context, c *sdk.ClientSession, tool, args string) <-chan error {
	answered := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
		answered <- err
	}()
	return answered
}
