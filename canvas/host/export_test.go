package host

import (
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Log returns the host's log.
func (h *Host) Log() *channels.Log { return h.log }

// Exhaust makes the host behave as after its sequence numbers are exhausted, which takes
// a million entries.
func (h *Host) Exhaust() {
	stuck := make(chan struct{})
	close(stuck)
	h.stuck = stuck
}

// Tools returns the host's MCP server.
func (h *Host) Tools() *mcp.Server { return h.tools }

// MethodNames returns the methods that h serves or refuses by name.
func (h *Host) MethodNames() (names []string) {
	for _, m := range methods(h.sessions, h.canvases, nil, nil, nil) {
		names = append(names, m.Info.Name)
	}
	for _, m := range ahp.Methods {
		if m.Direction&ahp.ClientToHost != 0 && !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}
