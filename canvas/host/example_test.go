package host_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// A program that shows a canvas of its own: a page, and an action that the agent
// can run on it.
func Example() {
	h, err := host.New(host.Options{})
	if err != nil {
		log.Fatal(err)
	}
	greeting := canvas.Declaration{
		CanvasID: "greeting", DisplayName: "Greeting", Description: "Says hello.",
		Actions: []canvas.Action{{Name: "greet", InputSchema: ahp.Value(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)}},
	}
	open := func(_ context.Context, req canvas.OpenRequest, c *canvas.Handle) (canvas.Opened, error) {
		app := &canvas.App{
			Files: fstest.MapFS{"index.html": {Data: []byte("<h1>Hello</h1>")}},
			Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){
				"greet": func(ctx context.Context, input ahp.Value) (ahp.Value, error) {
					var in struct {
						Name string `json:"name"`
					}
					if err := ahp.Unmarshal(input, &in); err != nil {
						return nil, err
					}
					return nil, c.SetTitle(ctx, "Hello, "+in.Name)
				},
			},
		}
		return canvas.Opened{Instance: app, Title: "Hello", URL: c.ContentURL("/index.html")}, nil
	}
	if _, err := h.Canvases().Register(canvas.Extension{ID: "example"}, canvas.Func(open), greeting); err != nil {
		log.Fatal(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx) }()
	link := h.Link(host.DefaultSession) // for a person: open it in a browser
	fmt.Println(strings.HasPrefix(link, h.Endpoints().Page))

	// What an agent does, here through the Go API.
	canvases := h.Canvases()
	opened, err := canvases.Open(ctx, canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "greeting", InstanceID: "g1"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(opened.Title, opened.Availability)
	if _, err := canvases.Invoke(ctx, canvas.InvokeArgs{
		Session: host.DefaultSession, InstanceID: "g1", ActionName: "greet", Input: ahp.Value(`{"name":"world"}`),
	}); err != nil {
		log.Fatal(err)
	}
	now, err := canvases.ListOpen(host.DefaultSession)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(now[0].Title)

	stop()
	if err := <-served; err != nil {
		log.Fatal(err)
	}
	// Output:
	// true
	// Hello ready
	// Hello, world
}
