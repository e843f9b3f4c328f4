package conform_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/demo"
)

const (
	viewToken  = "view-token"
	agentToken = "agent-token"
)

// ourHost is this project's host with the demo extensions, on a port of
// loopback.
type ourHost struct {
	url   string // of AHP
	agent agent
}

// startHost starts a host, with or without the demo extensions.
func startHost(t *testing.T, demos bool) *ourHost {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{
		ViewToken: viewToken, AgentToken: agentToken, Version: "test",
		Tokens: []ws.Token{{Secret: "token-of-c-bound", Role: host.RoleView, ClientID: "c-bound"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if demos {
		if _, _, err := demo.Register(h.Canvases()); err != nil {
			t.Fatal(err)
		}
	}
	hosttest.ServeOn(t, h, ln)
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: "http://" + ln.Addr().String() + "/mcp", Token: agentToken, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &ourHost{url: "ws://" + ln.Addr().String() + "/ahp", agent: agent{c}}
}

type toolError struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Path       string   `json:"path,omitzero"`
	Rule       string   `json:"rule,omitzero"`
	Candidates []string `json:"candidates,omitzero"`
}

// agent calls tools at the host's MCP endpoint.
type agent struct{ c *mcp.Client }

func (a agent) Call(ctx context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	v, err := a.c.Call(ctx, tool, args)
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return nil, &testcases.AgentError{Data: ahp.MustMarshal(toolError{e.Code, e.Message, e.Path, e.Rule, e.Candidates})}
	}
	return v, err
}
