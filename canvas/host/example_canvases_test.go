package host_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// A program can do what an agent does: open a canvas, run its action, close it.
func ExampleHost_Canvases() {
	h, err := host.New(host.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	c := canvas.New("counter", "Counts.")
	canvas.AddAction(c, "add", "Adds to the count.", func(ctx context.Context, v *canvas.Handle, in struct {
		By int `json:"by"`
	}) (int, error) {
		return in.By, v.SetTitle(ctx, fmt.Sprint("Count ", in.By))
	})
	if _, err := h.Add(c); err != nil {
		log.Fatal(err)
	}

	ctx, canvases := context.Background(), h.Canvases()
	if _, err := canvases.Open(ctx, canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "counter", InstanceID: "c1"}); err != nil {
		log.Fatal(err)
	}
	add := canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "c1", ActionName: "add", Input: ahp.Value(`{"by":2}`)}
	value, err := canvases.Invoke(ctx, add)
	fmt.Println(value, err)

	add.Input = ahp.Value(`{"by":"two"}`)
	_, err = canvases.Invoke(ctx, add)
	fmt.Println(err)

	open, err := canvases.ListOpen(host.DefaultSession)
	fmt.Println(open[0].Title, err)
	fmt.Println(canvases.Close(ctx, host.DefaultSession, "c1"))
	// Output:
	// 2 <nil>
	// the input does not fit at /input/by: got string, want integer (canvas_input_invalid)
	// Count 2 <nil>
	// <nil>
}
