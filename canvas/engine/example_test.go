package engine_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// A provider in Go: a page, and an action that changes its title.
func Example() {
	log := channels.New(channels.Options{})
	canvases := engine.New(engine.Options{Log: log})
	defer canvases.Shutdown(context.Background())
	sessions := session.New(session.Options{Log: log, Prepare: canvases.Prepare, BeforeDispose: canvases.CloseSession})
	_ = sessions.Ensure("ahp-session:/default", "Default")

	page := fstest.MapFS{"index.html": {Data: []byte("<h1>Hello</h1>")}}
	hello := canvas.Func(func(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{Title: "Hello", URL: h.ContentURL("/"), Instance: &canvas.App{
			Files: page,
			Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){
				"greet": func(ctx context.Context, input ahp.Value) (ahp.Value, error) {
					return input, h.SetTitle(ctx, "Greeted")
				},
			},
		}}, nil
	})
	_, err := canvases.Register(canvas.Extension{ID: "demo"}, hello, canvas.Declaration{
		CanvasID: "hello", DisplayName: "Hello", Description: "Says hello.", Actions: []canvas.Action{{Name: "greet"}},
	})
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	_, _ = canvases.Open(ctx, canvas.OpenArgs{Session: "ahp-session:/default", CanvasID: "hello", InstanceID: "panel"})
	value, err := canvases.Invoke(ctx, canvas.InvokeArgs{Session: "ahp-session:/default", InstanceID: "panel", ActionName: "greet", Input: ahp.Value(`{"who":"Ada"}`)})
	open, _ := canvases.ListOpen("ahp-session:/default")
	fmt.Println(string(value), err, open[0].Title, open[0].URL)
	// Output: {"who":"Ada"} <nil> Greeted ahp-canvas-content:/panel/
}
