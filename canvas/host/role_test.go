package host_test

import (
	"context"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// A provider sees with which role a View has connected.
func TestRoleOfAView(t *testing.T) {
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken})
	seen := make(chan canvas.View, 1)
	c := canvas.New("roles", "Shows roles.", canvas.OnMessage(func(_ context.Context, _ *canvas.Handle, from canvas.View, _ ahp.Value) { seen <- from }))
	if _, err := h.Add(c); err != nil {
		t.Fatal(err)
	}
	open, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "roles", InstanceID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{viewToken: host.RoleView, agentToken: host.RoleAgent} {
		view, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: token, ClientID: "viewer-" + want})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := view.Subscribe(t.Context(), open.Channel); err != nil {
			t.Fatal(err)
		}
		if err := view.Message(t.Context(), open.Channel, "hello"); err != nil {
			t.Fatal(err)
		}
		if from := <-seen; from.Role != want || from.ClientID != "viewer-"+want {
			t.Errorf("the provider saw %+v, want the role %q", from, want)
		}
		view.Close()
	}
}
