package client_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// A View in the terminal prints the title of a canvas whenever it changes, and then
// closes the canvas.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	url, token, channel, wait := runClock(ctx)
	defer wait()
	defer cancel()

	c, err := client.Dial(ctx, url, client.Options{Token: token})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	w := c.Watch(channel)
	defer w.Close()
	if _, err := c.Subscribe(ctx, channel); err != nil {
		log.Fatal(err)
	}
	if err := c.Message(ctx, channel, "tick"); err != nil {
		log.Fatal(err)
	}
	for ev, err := range w.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if st, ok := ev.State.(canvas.CanvasState); ok && ev.Type != "canvas/message" {
			fmt.Println(*st.Title, st.Availability)
			if *st.Title == "one tick" {
				break
			}
		}
	}
	if err := c.Dispatch(ctx, channel, canvas.CloseRequested{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// a clock ready
	// one tick ready
}

// runClock runs a host with an open canvas that shows the latest message as its title.
func runClock(ctx context.Context) (url, token, channel string, wait func()) {
	h, err := host.New(host.Options{})
	if err != nil {
		log.Fatal(err)
	}
	open := func(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		app := &canvas.App{OnMessage: func(ctx context.Context, _ canvas.View, _ ahp.Value) { _ = h.SetTitle(ctx, "one tick") }}
		return canvas.Opened{Title: "a clock", Instance: app}, nil
	}
	_, err = h.Canvases().Register(canvas.Extension{ID: "clocks"}, canvas.Func(open), canvas.Declaration{CanvasID: "clock", DisplayName: "Clock", Description: "Shows ticks."})
	if err != nil {
		log.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	if err := h.SetAddr(ln.Addr()); err != nil {
		log.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, ln) }()
	o, err := h.Canvases().Open(ctx, canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "clock"})
	if err != nil {
		log.Fatal(err)
	}
	view, _ := h.Tokens()
	return h.Endpoints().AHP, view, o.Channel, func() { <-served }
}
