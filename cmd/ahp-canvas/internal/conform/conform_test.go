package conform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
)

// TestBesideWebSocket checks where the MCP endpoint of a host is expected. It never has the
// query of the WebSocket, which can hold a token.
func TestBesideWebSocket(t *testing.T) {
	for address, want := range map[string]string{
		"ws://localhost:8080/ahp": "http://localhost:8080/mcp", "wss://host.example/team/ahp?tkn=x": "https://host.example/team/mcp",
		"ws://localhost:9000": "http://localhost:9000/mcp", "ws://localhost:9000/": "http://localhost:9000/mcp",
	} {
		if got := besideWebSocket(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestNeeds checks that --needs lists what a host must offer, and with --json each case
// with the agent's tools that it calls.
func TestNeeds(t *testing.T) {
	status, out, errs := termtest.Run(t, Command, "--needs")
	if status != term.ExitDone || errs != "" || !strings.Contains(out, "agent ") || !strings.Contains(out, "list_canvas_capabilities") {
		t.Errorf("%d %q %s", status, errs, out)
	}
	status, out, _ = termtest.Run(t, Command, "--needs", "--json", "--only", "canvas/close-one")
	if want := `{"case":"canvas/close-one","level":"MUST","needs":["canvas","agent","demo"],"tools":["open_canvas","close_canvas"]}` + "\n"; status != term.ExitDone || out != want {
		t.Errorf("%d %s, want %s", status, out, want)
	}
}

// TestNotTestable checks the error for a host that lacks methods which every case needs.
func TestNotTestable(t *testing.T) {
	err := runError("ws://host", fmt.Errorf("createSession: %w", &ahp.Error{Code: ahp.CodeMethodNotFound, Message: "no"}))
	if text := err.Error(); !strings.Contains(text, "createSession, subscribe") || strings.Contains(text, "listens") {
		t.Error(text)
	}
}
