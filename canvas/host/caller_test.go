package host_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// TestCallers: a provider learns the name of the calling agent's token, and an event for
// one agent is read by no other.
func TestCallers(t *testing.T) {
	t.Parallel()
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken})
	c := canvas.New("who", "Says who calls.")
	canvas.AddAction(c, "ask", "Returns the caller.", func(ctx context.Context, v *canvas.Handle, _ struct{}) (any, error) {
		for _, to := range []string{"", "travel bot", "é"} {
			if err := v.RaiseFor(to, ahp.MustMarshal("for "+to)); err != nil {
				return nil, err
			}
		}
		return canvas.Caller(ctx), v.Raise(ahp.Value(`"for all"`))
	})
	if _, err := h.Add(c); err != nil {
		t.Fatal(err)
	}
	agents := map[string]*mcp.Client{"": dialAgent(t, h)}
	for _, name := range []string{"travel bot", "é"} {
		secret, _, err := h.AccessTokens().Create(token.Request{Name: name, Role: host.RoleAgent})
		if err != nil {
			t.Fatal(err)
		}
		client, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: h.Endpoints().MCP, Token: secret})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		agents[name] = client
	}
	call := func(name, tool, args string) string {
		v, err := agents[name].Call(t.Context(), tool, ahp.Value(args))
		if err != nil {
			t.Fatal(err)
		}
		return string(v)
	}
	call("", mcp.ToolOpen, `{"canvasId":"who","instanceId":"w"}`)
	call("é", mcp.ToolInvoke, `{"instanceId":"w","actionName":"ask"}`)
	for name := range agents {
		if got := call(name, mcp.ToolInvoke, `{"instanceId":"w","actionName":"ask"}`); got != `{"value":`+string(ahp.MustMarshal(name))+`}` {
			t.Errorf("agent %q: the caller is %s", name, got)
		}
		events := call(name, mcp.ToolWait, `{"after":0,"timeout":0}`)
		for other := range agents {
			if got := strings.Contains(events, `"for `+other+`"`); got != (name == other) {
				t.Errorf("agent %q reads the events for %q: %v", name, other, got)
			}
		}
		if !strings.Contains(events, `"for all"`) {
			t.Errorf("agent %q: %s", name, events)
		}
	}
}

// TestForgedCaller: a client cannot name itself by a header.
func TestForgedCaller(t *testing.T) {
	t.Parallel()
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken})
	c := canvas.New("who", "Says who calls.")
	canvas.AddAction(c, "ask", "Returns the caller.", func(ctx context.Context, _ *canvas.Handle, _ struct{}) (any, error) {
		return "caller is " + canvas.Caller(ctx), nil
	})
	if _, err := h.Add(c); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "who", InstanceID: "w"}); err != nil {
		t.Fatal(err)
	}
	_, secret := h.Tokens()
	client := httpClient(t)
	client.Transport = bearer{secret, forged{client.Transport}}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "forger"}, nil).
		Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.Endpoints().MCP, HTTPClient: client}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := call(t, session, mcp.ToolInvoke, map[string]any{"instanceId": "w", "actionName": "ask"}); got["value"] != "caller is " {
		t.Errorf("answered %v", got)
	}
}

// forged adds the header that the endpoint uses inside.
type forged struct{ next http.RoundTripper }

func (f forged) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Ahp-Canvas-Caller", "boss")
	return f.next.RoundTrip(r)
}
