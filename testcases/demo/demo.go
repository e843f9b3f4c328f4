package demo

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Provider is a canvas.Provider that opens counters. The zero value is ready to
// use.
type Provider struct{}

var files = map[string]canvas.Content{
	"index.html": {Data: []byte("<!doctype html><title>Counter</title><script src=app.js></script>"), ContentType: "text/html; charset=utf-8"},
	"app.js":     {Data: []byte("document.body.append('0')")},
	"logo.png":   {Data: []byte("\x89PNG\r\n\x1a\n\x00\xff")},
	"dir/":       {Data: []byte("<p>a folder's page"), ContentType: "text/html; charset=utf-8"},
}

// Declaration is the canvas of the extension "demo".
var Declaration = canvas.Declaration{
	CanvasID: "counter", DisplayName: "Counter", Description: "Counts what the agent adds.",
	InputSchema: ahp.Value(`{"type":"object","properties":{"start":{"type":"integer"}},"additionalProperties":false}`),
	Actions: []canvas.Action{
		{Name: "add", InputSchema: ahp.Value(`{"type":"object","properties":{"by":{"type":"integer"}},"required":["by"]}`)},
		{Name: "fail"}, {Name: "slow"}, {Name: "say"}, {Name: "raise"}, {Name: "clear"},
	},
}

// Others are the canvases of the extension "other".
var Others = []canvas.Declaration{
	{CanvasID: "counter", DisplayName: "Other counter", Description: "Makes counter ambiguous."},
	{CanvasID: "broken", DisplayName: "Broken", Description: "Never opens."},
	{CanvasID: "hang", DisplayName: "Hang", Description: "Never answers."},
	{CanvasID: "evil", DisplayName: "Evil", Description: "Points to a forbidden url."},
}

// Open opens a canvas (see canvas.Provider): counter counts, broken fails, hang
// never returns, and evil returns a forbidden URL.
func (Provider) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	switch req.CanvasID {
	case "broken":
		return canvas.Opened{}, &canvas.Error{Code: "demo_broken", Message: "it never works"}
	case "hang":
		<-ctx.Done()
		return canvas.Opened{}, ctx.Err()
	}
	c := &counter{h: h}
	if req.Input != nil {
		var in struct {
			Start int `json:"start,omitzero"`
		}
		if err := ahp.Unmarshal(req.Input, &in); err != nil {
			return canvas.Opened{}, err
		}
		c.n = in.Start
	}
	opened := canvas.Opened{
		Instance: c, Title: fmt.Sprint("Counter ", c.n), Status: "ready to count",
		URL: canvas.ContentURL(req.InstanceID, "index.html"),
	}
	if req.CanvasID == "evil" {
		opened.URL = "javascript:alert(1)"
	}
	return opened, nil
}

type counter struct {
	h *canvas.Handle

	mu sync.Mutex
	n  int
}

// Invoke runs an action.
func (c *counter) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch action {
	case "add":
		var in struct {
			By int `json:"by"`
		}
		if err := ahp.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		c.n += in.By
		err := c.h.Update(c.h.Context(), canvas.Update{Title: ahp.Set(fmt.Sprint("Counter ", c.n))})
		return ahp.MustMarshal(map[string]int{"n": c.n}), err
	case "fail":
		return nil, &canvas.Error{Code: "demo_failed", Message: "it was told to fail"}
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "say":
		return nil, c.h.Post(c.h.Context(), ahp.MustMarshal(map[string]ahp.Value{"say": text(input)}))
	case "clear":
		return nil, c.h.Update(c.h.Context(), canvas.Update{Title: ahp.Clear[string](), Status: ahp.Clear[string]()})
	case "raise":
		return nil, c.h.Raise(ahp.Value(`{"raised":true}`))
	}
	return nil, &canvas.Error{Code: canvas.CodeNoHandler, Message: "no action " + action}
}

// text returns the member "text" of an input, or null.
func text(input ahp.Value) ahp.Value {
	var in struct {
		Text ahp.Value `json:"text,omitzero"`
	}
	if input == nil || ahp.Unmarshal(input, &in) != nil || in.Text == nil {
		return ahp.Null
	}
	return in.Text
}

// Close closes the counter.
func (c *counter) Close(context.Context) error { return nil }

// Message responds to {"echo": x} with {"echoed": x}, to the View that sent it.
func (c *counter) Message(_ context.Context, from canvas.View, payload ahp.Value) {
	var in struct {
		Echo ahp.Value `json:"echo"`
	}
	if ahp.Unmarshal(payload, &in) == nil {
		_ = c.h.PostTo(c.h.Context(), from, ahp.MustMarshal(map[string]ahp.Value{"echoed": in.Echo}))
	}
}

// ViewGone ignores that a View has disconnected.
func (c *counter) ViewGone(canvas.View) {}

// Read returns a file.
func (c *counter) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	name := req.Path.Name()
	if req.Path.Dir {
		name += "/"
	}
	found, ok := files[name]
	if strings.HasPrefix(name, "any/") { // any name that the host lets through exists
		found, ok = canvas.Content{Data: []byte("anything"), ContentType: "text/plain; charset=utf-8"}, true
	}
	if !ok {
		return canvas.Content{}, ahp.ErrNotFound
	}
	found.ETag = fmt.Sprintf("%q", name)
	if req.ETag == found.ETag {
		return canvas.Content{ETag: found.ETag, NotModified: true}, nil
	}
	return found, nil
}

// Registrar registers providers, as a host's Canvases and the engine do.
type Registrar interface {
	// Register adds a provider with its declarations.
	Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) (canvas.Registration, error)
}

// Register declares both extensions and returns their registrations.
func Register(s Registrar) (demo, other canvas.Registration, err error) {
	demo, err = s.Register(canvas.Extension{ID: "demo", Name: "Demo"}, Provider{}, Declaration)
	if err != nil {
		return nil, nil, err
	}
	other, err = s.Register(canvas.Extension{ID: "other", Name: "Other"}, Provider{}, Others...)
	return demo, other, err
}
