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

// newLamps returns a provider of lamps that an agent can switch on. It runs in a host
// or in a client.
func newLamps() *canvas.Canvas {
	lamps := canvas.New("lamp", "A lamp.", canvas.OnOpen(func(ctx context.Context, v *canvas.Handle, _ canvas.OpenRequest, _ struct{}) error {
		return v.Update(ctx, canvas.Update{Title: ahp.Set("Lamp " + v.InstanceID()), Status: ahp.Set("off")})
	}))
	canvas.AddAction(lamps, "switch_on", "Switches the lamp on.", func(ctx context.Context, v *canvas.Handle, _ struct{}) (any, error) {
		return nil, v.SetStatus(ctx, "on")
	})
	return lamps
}

// One provider, in a host and in a client that dials it.
func ExampleClient_Provide() {
	ctx, cancel := context.WithCancel(context.Background())
	h, wait := runHost(ctx)
	defer wait()
	defer cancel()
	_, agent := h.Tokens()

	lamps := newLamps()
	if _, err := h.Add(lamps); err != nil {
		log.Fatal(err)
	}
	switchOn(ctx, h, "lamp", "hall")

	c, err := client.Dial(ctx, h.Endpoints().AHP, client.Options{ClientID: "desk", Token: agent, Backoff: client.NewBackoff()})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.Provide(ctx, host.DefaultSession, "My desk", lamps); err != nil {
		log.Fatal(err)
	}
	switchOn(ctx, h, "client:desk", "left")
	// Output:
	// Lamp hall of lamp is off
	// Lamp hall of lamp is on
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
