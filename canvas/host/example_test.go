package host_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// Greeting is the input of the action greet. Its JSON Schema is inferred.
type Greeting struct {
	Name string `json:"name" jsonschema:"who to greet"`
}

var files = fstest.MapFS{"index.html": {Data: []byte("<h1>Hello</h1>")}} // usually an embed.FS

// A program with a canvas: files that a person sees, and an action that an agent runs.
func Example() {
	ctx, stop := context.WithCancel(context.Background()) // usually signal.NotifyContext
	h, err := host.New(host.Options{Ready: func(link string) {
		fmt.Println(strings.HasPrefix(link, "http://localhost:")) // usually fmt.Println(link)
		stop()
	}})
	if err != nil {
		log.Fatal(err)
	}
	c := canvas.New("hello", "Says hello.", canvas.Files(files))
	canvas.AddAction(c, "greet", "Greets someone.", func(ctx context.Context, v *canvas.Handle, in Greeting) (any, error) {
		return nil, v.SetTitle(ctx, "Hello, "+in.Name)
	})
	if _, err := h.Add(c); err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.ListenAndServe(ctx, "127.0.0.1:0"))
	// Output:
	// true
	// <nil>
}
