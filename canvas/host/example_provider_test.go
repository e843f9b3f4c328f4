package host_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// editorToken would be random; "ahp-canvas token create" makes one for a running host.
const editorToken = "editor-secret"

// A provider in another process: it dials the host with a token of the role client, and
// provides the same canvas that a program would add to its own host.
func Example_providerInAnotherProcess() {
	h, err := host.New(host.Options{Tokens: []ws.Token{{Secret: editorToken, Role: host.RoleClient, ClientID: "desk"}}})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	defer h.Close()

	// In the other process.
	ctx := context.Background()
	c, err := client.Dial(ctx, strings.Replace(server.URL, "http", "ws", 1)+"/ahp", client.Options{ClientID: "desk", Token: editorToken})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	hello := canvas.New("hello", "Says hello.", canvas.Files(files))
	canvas.AddAction(hello, "greet", "Greets someone.", func(ctx context.Context, v *canvas.Handle, in Greeting) (any, error) {
		return nil, v.SetTitle(ctx, "Hello, "+in.Name)
	})
	if err := c.Provide(ctx, host.DefaultSession, "The desk", hello, hello.Declarations()...); err != nil {
		log.Fatal(err)
	}

	// What an agent does at the host.
	open := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "hello", InstanceID: "h1"}
	if _, err := h.Canvases().Open(ctx, open); err != nil {
		log.Fatal(err)
	}
	_, err = h.Canvases().Invoke(ctx, canvas.InvokeArgs{
		Session: host.DefaultSession, InstanceID: "h1", ActionName: "greet", Input: ahp.Value(`{"name":"desk"}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	now, err := h.Canvases().ListOpen(host.DefaultSession)
	fmt.Println(now[0].Title, now[0].ExtensionID, err)
	// Output:
	// Hello, desk client:desk <nil>
}
