package session

import "github.com/ahp-canvas/ahp-canvas/ahp"

// SessionCanvasDeclaration is one entry of the registry that the agent sees:
// the union of all connected providers (#297 section 2).
type SessionCanvasDeclaration struct {
	ExtensionID   string                `json:"extensionId"`
	ExtensionName string                `json:"extensionName,omitzero"`
	CanvasID      string                `json:"canvasId"` // unique within the extension
	DisplayName   string                `json:"displayName"`
	Description   string                `json:"description"`
	InputSchema   ahp.Value             `json:"inputSchema,omitzero"`
	Actions       []SessionCanvasAction `json:"actions,omitzero"`
	Source        CanvasProviderSource  `json:"source"`
	Extra         ahp.Value             `json:",embed"`
}

// SessionCanvasAction is an action that a canvas understands.
type SessionCanvasAction struct {
	Name        string    `json:"name"` // unique within the declaration
	Description string    `json:"description,omitzero"`
	InputSchema ahp.Value `json:"inputSchema,omitzero"`
	Extra       ahp.Value `json:",embed"`
}

// ClientCanvasDeclaration is the lighter shape that a client publishes; the host
// derives extensionId and source.
type ClientCanvasDeclaration struct {
	CanvasID    string                `json:"canvasId"`
	DisplayName string                `json:"displayName"`
	Description string                `json:"description"`
	InputSchema ahp.Value             `json:"inputSchema,omitzero"`
	Actions     []SessionCanvasAction `json:"actions,omitzero"`
	Extra       ahp.Value             `json:",embed"`
}

// CanvasProviderSource says where a declaration came from.
type CanvasProviderSource struct {
	Kind     string `json:"kind"`              // "server" or "client"
	ClientID string `json:"clientId,omitzero"` // of a client's, and only there
}

// The kinds of a CanvasProviderSource.
const (
	SourceServer = "server"
	SourceClient = "client"
)

// OpenCanvasRef is an entry of the catalogue of open instances; the full state
// is on the instance's own channel.
type OpenCanvasRef struct {
	InstanceID    string             `json:"instanceId"`
	Channel       string             `json:"channel"` // ahp-canvas:/<id>
	CanvasID      string             `json:"canvasId"`
	ExtensionID   string             `json:"extensionId"`
	ExtensionName string             `json:"extensionName,omitzero"`
	Title         *string            `json:"title,omitzero"`
	Availability  CanvasAvailability `json:"availability"`
	Extra         ahp.Value          `json:",embed"`

	encoded *encodedRef // see Encoded
}

// CanvasAvailability says whether an instance's provider is there.
type CanvasAvailability string

// The availabilities.
const (
	Ready CanvasAvailability = "ready"
	Stale CanvasAvailability = "stale"
)
