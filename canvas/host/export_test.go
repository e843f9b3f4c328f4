package host

import (
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
