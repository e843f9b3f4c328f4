package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// An agent continues at its cursor; a provider's values keep their digits.
func TestWait(t *testing.T) {
	for name, connect := range ways {
		t.Run(name, func(t *testing.T) {
			service := newFake()
			for _, event := range []string{`{"n":9007199254740993}`, `"done"`} {
				service.events = append(service.events, canvas.Event{InstanceID: "c1", Time: "2026-01-02T03:04:05Z", Event: ahp.Value(event)})
			}
			c := connect(t, mcp.New(service, mcp.Options{}))
			service.opened = 1 // the first event is older than the last open
			const first = `{"instanceId":"c1","time":"2026-01-02T03:04:05Z","event":{"n":9007199254740993}}`
			const second = `{"instanceId":"c1","time":"2026-01-02T03:04:05Z","event":"done"}`
			for _, step := range []struct{ args, want, text string }{
				{``, `{"events":[` + second + `],"next":2,"dropped":0}`, "1 in c1. Call again with after 2"},
				{`{"after":1,"timeout":null}`, `{"events":[` + second + `],"next":2,"dropped":0}`, "1 in c1"},
				{`{"after":2,"timeout":0}`, `{"events":[],"next":2,"dropped":0}`, "Nothing happened"},
				{`{"after":0}`, `{"events":[` + first + `,` + second + `],"next":2,"dropped":0}`, "2 in c1"},
				{`{"after":5}`, `{"events":[],"next":2,"dropped":3}`, "3 earlier events are lost"},
			} {
				r := call(t, c, mcp.ToolWait, step.args)
				if diff := cmp.Diff(step.want, structured(t, r)); diff != "" || r.IsError {
					t.Errorf("%s: isError %v: %s", step.args, r.IsError, diff)
				}
				if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, step.text) {
					t.Errorf("%s: text %q has no %q", step.args, text, step.text)
				}
			}
			if service.session != defaultSession {
				t.Errorf("session %q", service.session)
			}
		})
	}
}

// An event without a canvas is not attributed to one.
func TestWaitOfNoCanvas(t *testing.T) {
	service := newFake()
	service.events = []canvas.Event{{InstanceID: "c1", Event: ahp.Value(`1`)}, {Event: ahp.Value(`2`)}, {Event: ahp.Value(`3`)}}
	r := call(t, ways["in memory"](t, mcp.New(service, mcp.Options{})), mcp.ToolWait, ``)
	if text := r.Content[0].(*sdk.TextContent).Text; !strings.HasPrefix(text, "Events: 1 in c1, 2 without a canvas. Call") {
		t.Errorf("the text is %q", text)
	}
}

// TestWaitOfApps: the text distinguishes what a program raised from what the person did.
func TestWaitOfApps(t *testing.T) {
	const advice = `with a type that begins with "app.", come from a program`
	for event, want := range map[string]bool{
		`{"type":"app.message","role":"user","content":[]}`: true, `{"type":"app.context"}`: true,
		`{"type":"canvas/closeRequested"}`: false, `{"type":"board.moved"}`: false, `{"type":7}`: false, `"app.message"`: false, `{}`: false,
	} {
		service := newFake()
		service.events = []canvas.Event{{InstanceID: "c1", Event: ahp.Value(event)}}
		c := ways["in memory"](t, mcp.New(service, mcp.Options{}))
		r := call(t, c, mcp.ToolWait, ``)
		if text := r.Content[0].(*sdk.TextContent).Text; strings.Contains(text, advice) != want {
			t.Errorf("%s: the text is %q", event, text)
		}
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if tool.Name == mcp.ToolWait && !strings.Contains(tool.Description, `whose type begins with "app." comes from the program`) {
				t.Errorf("the description is %q", tool.Description)
			}
		}
	}
}

// The duration of a wait, and its description for models.
func TestWaitTimes(t *testing.T) {
	for _, tc := range []struct {
		opts mcp.Options
		args string
		want time.Duration
		told string
	}{
		{mcp.Options{}, `{}`, 25 * time.Second, "25 if omitted, at most 50;"},
		{mcp.Options{}, `{"timeout":0}`, 0, ""},
		{mcp.Options{}, `{"timeout":1.5}`, 1500 * time.Millisecond, ""},
		{mcp.Options{}, `{"timeout":51}`, 50 * time.Second, ""},
		{mcp.Options{}, `{"timeout":1e300}`, 50 * time.Second, ""},
		{mcp.Options{Wait: time.Second, MaxWait: 90 * time.Second}, `{}`, time.Second, "1 if omitted, at most 90;"},
		{mcp.Options{MaxWait: 500 * time.Millisecond}, `{}`, 500 * time.Millisecond, "0.5 if omitted, at most 0.5;"},
	} {
		service := newFake()
		c := ways["in memory"](t, mcp.New(service, tc.opts))
		call(t, c, mcp.ToolWait, tc.args)
		if service.timeout != tc.want {
			t.Errorf("%s with %+v waits %v, want %v", tc.args, tc.opts, service.timeout, tc.want)
		}
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if schema := string(ahp.MustMarshal(list.Tools[len(list.Tools)-1].InputSchema)); !strings.Contains(schema, tc.told) {
			t.Errorf("%+v: %s does not say %q", tc.opts, schema, tc.told)
		}
	}
}

// Canceling the call ends the wait, on each transport.
func TestWaitCanceled(t *testing.T) { testCanceled(t, mcp.ToolWait, `{"timeout":50}`) }

// A client that ends its session ends its waits, and does not wait for them.
func TestWaitEndsWithTheSession(t *testing.T) {
	service := newFake()
	begun, ended := service.hold()
	transport := overHTTP(t, mcp.New(service, mcp.Options{}))
	c := enter(t, transport, "2025-11-25")
	go c.CallTool(t.Context(), &sdk.CallToolParams{Name: mcp.ToolWait})
	<-begun
	status, _, _ := send(t, http.MethodDelete, transport.Endpoint, "", "Mcp-Session-Id", c.ID())
	if err := <-ended; !errors.Is(err, context.Canceled) || status != http.StatusNoContent {
		t.Errorf("the wait got %v, the client %d", err, status)
	}
}

// A closing server answers waiting calls at once, with the cursor.
func TestWaitEndsWithTheServer(t *testing.T) {
	for name, connect := range ways {
		t.Run(name, func(t *testing.T) {
			service := newFake()
			service.events = []canvas.Event{{InstanceID: "c1", Event: ahp.Value(`1`)}}
			begun, _ := service.hold()
			server := mcp.New(service, mcp.Options{})
			c := connect(t, server)
			answered := make(chan string, 1)
			go func() {
				r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: mcp.ToolWait, Arguments: json.RawMessage(`{"after":1}`)})
				if err != nil || r.IsError {
					answered <- errors.Join(err, errors.New("no answer")).Error()
					return
				}
				v, _ := mcp.Structured(r)
				answered <- string(v)
			}()
			<-begun
			if err := server.Shutdown(t.Context()); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
			if got, want := <-answered, `{"events":[],"next":1,"dropped":0}`; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
