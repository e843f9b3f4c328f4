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

// lamps opens lamps that an agent can switch on. It runs in a host or in a client.
var lamps = canvas.Func(func(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	lamp := &canvas.App{Actions: map[string]func(context.Context, ahp.Value) (ahp.Value, error){
		"switch_on": func(ctx context.Context, _ ahp.Value) (ahp.Value, error) {
			return nil, h.SetStatus(ctx, "on")
		},
	}}
	return canvas.Opened{Instance: lamp, Title: "Lamp " + req.InstanceID, Status: "off"}, nil
})

var lampDeclaration = canvas.Declaration{
	CanvasID: "lamp", DisplayName: "Lamp", Description: "A lamp.",
	Actions: []canvas.Action{{Name: "switch_on", Description: "Switches the lamp on."}},
}

// One provider, in a host and in a client that dials it.
func ExampleClient_Provide() {
	ctx, cancel := context.WithCancel(context.Background())
	h, wait := runHost(ctx)
	defer wait()
	defer cancel()
	view, _ := h.Tokens()

	_, err := h.Canvases().Register(canvas.Extension{ID: "house", Name: "House"}, lamps, lampDeclaration)
	if err != nil {
		log.Fatal(err)
	}
	switchOn(ctx, h, "house", "hall")

	c, err := client.Dial(ctx, h.Endpoints().AHP, client.Options{ClientID: "desk", Token: view, Backoff: client.NewBackoff()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.Provide(ctx, host.DefaultSession, "My desk", lamps, lampDeclaration); err != nil {
		log.Fatal(err)
	}
	switchOn(ctx, h, "client:desk", "left")
	// Output:
	// Lamp hall of house is off
	// Lamp hall of house is on
	// Lamp left of client:desk is off
	// Lamp left of client:desk is on
}

// switchOn opens a lamp and switches it on, as an agent does.
func switchOn(ctx context.Context, h *host.Host, extension, name string) {
	lamp := canvas.OpenArgs{Session: host.DefaultSession, ExtensionID: extension, CanvasID: "lamp", InstanceID: name}
	show := func() {
		o, err := h.Canvases().Open(ctx, lamp)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(o.Title, "of", extension, "is", o.Status)
	}
	show()
	_, err := h.Canvases().Invoke(ctx, canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: name, ActionName: "switch_on"})
	if err != nil {
		log.Fatal(err)
	}
	show()
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
