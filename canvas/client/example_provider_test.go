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

// A native provider: a program that declares a lamp, and switches it when an
// agent asks for that.
func ExampleClient_Provide() {
	ctx, cancel := context.WithCancel(context.Background())
	h, wait := runHost(ctx)
	defer wait()
	defer cancel()
	view, _ := h.Tokens()

	open := func(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		lamp := &canvas.App{Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){
			"switch_on": func(ctx context.Context, _ ahp.Value) (ahp.Value, error) {
				return nil, h.Update(ctx, canvas.Update{Status: ahp.Set("on")})
			},
		}}
		return canvas.Opened{Instance: lamp, Title: "Lamp " + req.InstanceID, Status: "off"}, nil
	}
	c, err := client.Dial(ctx, h.Endpoints().AHP, client.Options{
		ClientID: "desk", Token: view, Backoff: client.NewBackoff(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	err = c.Provide(ctx, host.DefaultSession, "My desk", canvas.Func(open), canvas.Declaration{
		CanvasID: "lamp", DisplayName: "Lamp", Description: "A lamp on the desk.",
		Actions: []canvas.Action{{Name: "switch_on", Description: "Switches the lamp on."}},
	})
	if err != nil {
		log.Fatal(err)
	}

	agent(ctx, h)
	// Output:
	// Lamp left is off
	// Lamp left is on
}

// agent opens the lamp and switches it on.
func agent(ctx context.Context, h *host.Host) {
	lamp := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "lamp", InstanceID: "left"}
	o, err := h.Canvases().Open(ctx, lamp)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Title, "is", o.Status)
	_, err = h.Canvases().Invoke(ctx, canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "left", ActionName: "switch_on"})
	if err != nil {
		log.Fatal(err)
	}
	o, err = h.Canvases().Open(ctx, lamp)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Title, "is", o.Status)
}

func runHost(ctx context.Context) (h *host.Host, wait func()) {
	h, err := host.New(host.Options{})
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
	return h, func() { <-served }
}
