package canvas

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// CanvasState is the state of one open instance, as its ahp-canvas: channel
// carries it (#297 section 4). Values in it are never changed in place.
type CanvasState struct {
	InstanceID    string `json:"instanceId"`
	CanvasID      string `json:"canvasId"`
	ExtensionID   string `json:"extensionId"`
	ExtensionName string `json:"extensionName,omitzero"`
	DisplayName   string `json:"displayName,omitzero"`
	// Input is what the agent opened the canvas with; it is kept, so that a
	// provider that comes back can open again.
	Input  ahp.Value `json:"input,omitzero"`
	Title  *string   `json:"title,omitzero"`
	Status *string   `json:"status,omitzero"`
	// URL is where the content is: a direct address or an ahp-canvas-content: one.
	URL          *string                    `json:"url,omitzero"`
	Availability session.CanvasAvailability `json:"availability"`
	// Provider says who owns the callbacks of this instance.
	Provider session.CanvasProviderSource `json:"provider"`
	Meta     ahp.Value                    `json:"_meta,omitzero"`
	Extra    ahp.Value                    `json:",embed"`
}
