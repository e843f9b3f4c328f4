package session

import "github.com/ahp-canvas/ahp-canvas/ahp"

// SessionCanvasDeclaration is an entry of the canvas registry, which is the union of
// the declarations of all connected providers (the Canvas proposal, #297, section 2).
type SessionCanvasDeclaration struct {
	ExtensionID   string                `json:"extensionId"`            // id of the providing extension
	ExtensionName string                `json:"extensionName,omitzero"` // the extension's name, for people
	CanvasID      string                `json:"canvasId"`               // unique within the extension
	DisplayName   string                `json:"displayName"`            // the canvas's name, for people
	Description   string                `json:"description"`            // what the canvas is for, for the agent
	InputSchema   ahp.Value             `json:"inputSchema,omitzero"`   // JSON Schema of the input
	Actions       []SessionCanvasAction `json:"actions,omitzero"`       // actions of the canvas
	Source        CanvasProviderSource  `json:"source"`                 // where the declaration comes from
	Extra         ahp.Value             `json:",embed"`                 // unknown members

	encoded *encodedDeclaration // see Encoded
}

// SessionCanvasAction is an action that a canvas offers.
type SessionCanvasAction struct {
	Name        string    `json:"name"`                 // unique within the declaration
	Description string    `json:"description,omitzero"` // what the action does, for the agent
	InputSchema ahp.Value `json:"inputSchema,omitzero"` // JSON Schema of the input
	Extra       ahp.Value `json:",embed"`               // unknown members
}

// ClientCanvasDeclaration is a canvas that a client declares. The host adds the
// extension id and the source.
type ClientCanvasDeclaration struct {
	CanvasID    string                `json:"canvasId"`             // unique within the client
	DisplayName string                `json:"displayName"`          // the canvas's name, for people
	Description string                `json:"description"`          // what the canvas is for, for the agent
	InputSchema ahp.Value             `json:"inputSchema,omitzero"` // JSON Schema of the input
	Actions     []SessionCanvasAction `json:"actions,omitzero"`     // actions of the canvas
	Extra       ahp.Value             `json:",embed"`               // unknown members
}

// CanvasProviderSource says where a declaration comes from.
type CanvasProviderSource struct {
	Kind     string `json:"kind"`              // "server" or "client"
	ClientID string `json:"clientId,omitzero"` // the client's id, if kind is "client"
}

const (
	// SourceServer is the kind of a provider in the host.
	SourceServer = "server"
	// SourceClient is the kind of a provider in a client.
	SourceClient = "client"
)

// OpenCanvasRef is an entry of the catalog of open instances. The full state is on the
// instance's own channel.
type OpenCanvasRef struct {
	InstanceID    string             `json:"instanceId"`             // unique within the session
	Channel       string             `json:"channel"`                // ahp-canvas:/<id>
	CanvasID      string             `json:"canvasId"`               // id of the declaration
	ExtensionID   string             `json:"extensionId"`            // id of the providing extension
	ExtensionName string             `json:"extensionName,omitzero"` // the extension's name, for people
	Title         *string            `json:"title,omitzero"`         // the instance's title, for people
	Availability  CanvasAvailability `json:"availability"`           // whether the provider can be reached
	Extra         ahp.Value          `json:",embed"`                 // unknown members

	encoded *encodedRef // see Encoded
}

// CanvasAvailability says whether an instance's provider can be reached.
type CanvasAvailability string

const (
	// Ready means that the provider serves the instance.
	Ready CanvasAvailability = "ready"
	// Stale means that the provider cannot be reached or has not reopened the instance.
	Stale CanvasAvailability = "stale"
)
