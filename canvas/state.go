package canvas

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// CanvasState is the state of the ahp-canvas: channel of an open instance (the Canvas
// proposal (#297), section 4). It is immutable: an action makes a new one.
type CanvasState struct {
	InstanceID    string `json:"instanceId"`             // names the instance in its session
	CanvasID      string `json:"canvasId"`               // the declared canvas
	ExtensionID   string `json:"extensionId"`            // the extension that declared it
	ExtensionName string `json:"extensionName,omitzero"` // for people
	DisplayName   string `json:"displayName,omitzero"`   // the declaration's, for people
	// Input is the input of the last successful open. A provider that reconnects opens
	// the canvas again with it.
	Input  ahp.Value `json:"input,omitzero"`
	Title  *string   `json:"title,omitzero"`  // nil if the provider set none
	Status *string   `json:"status,omitzero"` // likewise
	// URL is the address of the content: a direct one, or an ahp-canvas-content: URI.
	URL *string `json:"url,omitzero"`
	// Availability is ready, or stale while the provider is unreachable.
	Availability session.CanvasAvailability `json:"availability"`
	// Provider says whether the host or a client provides the instance.
	Provider session.CanvasProviderSource `json:"provider"`
	// IsPrivate hides the canvas from agents that look: people decide it.
	IsPrivate bool `json:"isPrivate,omitzero"`
	// Meta are facts for pages, such as the bridges that the instance supports, and what
	// happens to the instance now ([MetaClosing], [MetaAttention], [MetaProgress]).
	Meta ahp.Value `json:"_meta,omitzero"`
	// Extra keeps members that this version does not know.
	Extra ahp.Value `json:",embed"`
}
