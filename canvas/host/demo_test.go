package host_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// demo is the provider that the transcripts speak of: a counter whose every
// action is one thing that a provider can do.
type demo struct{}

var demoFiles = map[string]canvas.Content{
	"index.html": {Data: []byte("<!doctype html><title>Counter</title><script src=app.js></script>"), ContentType: "text/html; charset=utf-8"},
	"app.js":     {Data: []byte("document.body.append('0')")},
	"logo.png":   {Data: []byte("\x89PNG\r\n\x1a\n\x00\xff")},
	"dir/":       {Data: []byte("<p>a folder's page"), ContentType: "text/html; charset=utf-8"},
}

var demoDeclaration = canvas.Declaration{
	CanvasID: "counter", DisplayName: "Counter", Description: "Counts what the agent adds.",
	InputSchema: ahp.Value(`{"type":"object","properties":{"start":{"type":"integer"}},"additionalProperties":false}`),
	Actions: []canvas.Action{
		{Name: "add", InputSchema: ahp.Value(`{"type":"object","properties":{"by":{"type":"integer"}},"required":["by"]}`)},
		{Name: "fail"}, {Name: "slow"}, {Name: "say"}, {Name: "raise"}, {Name: "clear"},
	},
}

var otherDeclarations = []canvas.Declaration{
	{CanvasID: "counter", DisplayName: "Other counter", Description: "Makes counter ambiguous."},
	{CanvasID: "broken", DisplayName: "Broken", Description: "Never opens."},
	{CanvasID: "hang", DisplayName: "Hang", Description: "Never answers."},
	{CanvasID: "evil", DisplayName: "Evil", Description: "Points to a forbidden url."},
}

func (demo) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
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
		err := c.h.Update(canvas.Update{Title: ahp.Set(fmt.Sprint("Counter ", c.n))})
		return ahp.MustMarshal(map[string]int{"n": c.n}), err
	case "fail":
		return nil, &canvas.Error{Code: "demo_failed", Message: "it was told to fail"}
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "say":
		return nil, c.h.Post(ahp.MustMarshal(map[string]ahp.Value{"say": text(input)}))
	case "clear":
		return nil, c.h.Update(canvas.Update{Title: ahp.Clear[string](), Status: ahp.Clear[string]()})
	case "raise":
		return nil, c.h.Raise(ahp.Value(`{"raised":true}`))
	}
	return nil, &canvas.Error{Code: canvas.CodeNoHandler, Message: "no action " + action}
}

// text returns the member of that name, or null.
func text(input ahp.Value) ahp.Value {
	var in struct {
		Text ahp.Value `json:"text,omitzero"`
	}
	if input == nil || ahp.Unmarshal(input, &in) != nil || in.Text == nil {
		return ahp.Null
	}
	return in.Text
}

func (c *counter) Close(context.Context) error { return nil }

// Message answers {"echo": x} to the View that sent it.
func (c *counter) Message(_ context.Context, from canvas.View, payload ahp.Value) {
	var in struct {
		Echo ahp.Value `json:"echo"`
	}
	if ahp.Unmarshal(payload, &in) == nil {
		_ = c.h.PostTo(from, ahp.MustMarshal(map[string]ahp.Value{"echoed": in.Echo}))
	}
}

func (c *counter) ViewGone(canvas.View) {}

func (c *counter) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	name := req.Path.Name()
	if req.Path.Dir {
		name += "/"
	}
	found, ok := demoFiles[name]
	if strings.HasPrefix(name, "any/") { // whatever the host lets through is there
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
