package session

import "github.com/ahp-canvas/ahp-canvas/ahp"

// Status is a set of bits (ahp/PROTOCOL.md section 3a). Unknown bits are kept.
type Status uint32

// The bits of a Status.
const (
	StatusIdle        Status = 1  // no activity
	StatusError       Status = 2  // the last turn failed
	StatusInProgress  Status = 8  // the agent is active
	StatusInputNeeded Status = 24 // the agent waits for a person; includes StatusInProgress
	StatusIsRead      Status = 32 // a person has seen the newest state
	StatusIsArchived  Status = 64 // hidden from the usual lists
)

// With returns the status with a bit set or cleared.
func (s Status) With(bit Status, on bool) Status {
	if on {
		return s | bit
	}
	return s &^ bit
}

// Lifecycle says whether a session is created.
type Lifecycle string

// The lifecycles of version 0.5.1.
const (
	LifecycleCreating       Lifecycle = "creating"       // not yet usable
	LifecycleReady          Lifecycle = "ready"          // usable
	LifecycleCreationFailed Lifecycle = "creationFailed" // never usable; creationError says why
)

// State is the state of a session channel (ahp/PROTOCOL.md section 3a), with two
// members of the Canvas proposal (#297, section 2). Slices and values in it are never
// changed in place.
type State struct {
	Provider         string                     `json:"provider"`                  // the agent provider
	Title            string                     `json:"title"`                     // for people
	Status           Status                     `json:"status"`                    // bits: 1 idle, 2 error, 8 in progress, 24 input needed, 32 read, 64 archived
	Activity         *string                    `json:"activity,omitzero"`         // the current activity, for people
	Project          ahp.Value                  `json:"project,omitzero"`          // passed through
	WorkingDirectory *string                    `json:"workingDirectory,omitzero"` // URI of a folder
	Annotations      ahp.Value                  `json:"annotations,omitzero"`      // passed through
	Lifecycle        Lifecycle                  `json:"lifecycle"`                 // whether the session is created
	CreationError    ahp.Value                  `json:"creationError,omitzero"`    // why the creation failed
	ServerTools      []ToolDefinition           `json:"serverTools,omitzero"`      // tools of the host
	ActiveClients    []SessionActiveClient      `json:"activeClients"`             // clients that take part
	Chats            []ChatSummary              `json:"chats"`                     // catalog of chats
	DefaultChat      *string                    `json:"defaultChat,omitzero"`      // resource of the default chat
	Config           *Config                    `json:"config,omitzero"`           // config values and their schema
	Customizations   []Customization            `json:"customizations,omitzero"`   // plugins, skills, MCP servers
	Changesets       []ahp.Value                `json:"changesets,omitzero"`       // catalog of changesets
	Meta             ahp.Value                  `json:"_meta,omitzero"`            // metadata of clients and hosts
	InputNeeded      ahp.Value                  `json:"inputNeeded,omitzero"`      // passed through
	Canvases         []SessionCanvasDeclaration `json:"canvases,omitzero"`         // canvases that can be opened
	OpenCanvases     []OpenCanvasRef            `json:"openCanvases,omitzero"`     // catalog of open canvases
	Extra            ahp.Value                  `json:",embed"`                    // unknown members
}

// SessionActiveClient is a client that takes part in a session.
type SessionActiveClient struct {
	ClientID       string           `json:"clientId"`                // the client's id
	DisplayName    *string          `json:"displayName,omitzero"`    // the client's name, for people
	Tools          []ToolDefinition `json:"tools"`                   // tools of the client
	Customizations ahp.Value        `json:"customizations,omitzero"` // passed through
	// CanvasProviders are the canvases that the client declares (the Canvas proposal,
	// #297, section 2).
	CanvasProviders []ClientCanvasDeclaration `json:"canvasProviders,omitzero"`
	Extra           ahp.Value                 `json:",embed"` // unknown members
}

// ToolDefinition describes a tool. All members except the name are passed through.
type ToolDefinition struct {
	Name  string    `json:"name"`   // the tool's name
	Extra ahp.Value `json:",embed"` // other members
}

// ChatSummary is an entry of a session's catalog of chats.
type ChatSummary struct {
	Resource   string    `json:"resource"`          // URI of the chat
	Title      string    `json:"title"`             // for people
	Status     Status    `json:"status"`            // bits, like a session's
	Activity   *string   `json:"activity,omitzero"` // the current activity, for people
	ModifiedAt string    `json:"modifiedAt"`        // ISO 8601
	Extra      ahp.Value `json:",embed"`            // unknown members
}

// Config has values and the schema that they must match.
type Config struct {
	Schema ahp.Value            `json:"schema"` // JSON Schema of an object
	Values map[string]ahp.Value `json:"values"` // by property name
	Extra  ahp.Value            `json:",embed"` // unknown members
}

// SessionSummary is a session's entry in the catalog of sessions (listSessions,
// root/sessionAdded). It is not part of the session's state.
type SessionSummary struct {
	Resource         string    `json:"resource"`                  // URI of the session
	Provider         string    `json:"provider"`                  // the agent provider
	Title            string    `json:"title"`                     // for people
	Status           Status    `json:"status"`                    // bits, as in the session's state
	Activity         *string   `json:"activity,omitzero"`         // the current activity, for people
	Project          ahp.Value `json:"project,omitzero"`          // passed through
	WorkingDirectory *string   `json:"workingDirectory,omitzero"` // URI of a folder
	Annotations      ahp.Value `json:"annotations,omitzero"`      // passed through
	CreatedAt        string    `json:"createdAt"`                 // ISO 8601, UTC, milliseconds
	ModifiedAt       string    `json:"modifiedAt"`                // ISO 8601, UTC, milliseconds
	Changes          ahp.Value `json:"changes,omitzero"`          // passed through
	Meta             ahp.Value `json:"_meta,omitzero"`            // passed through
	Extra            ahp.Value `json:",embed"`                    // unknown members
}

// PartialSessionSummary is the changes member of root/sessionSummaryChanged. It has
// only the members that changed; null clears one.
type PartialSessionSummary struct {
	Title            ahp.Field[string]    `json:"title,omitzero"`            // the new title
	Status           ahp.Field[Status]    `json:"status,omitzero"`           // the new bits
	Activity         ahp.Field[string]    `json:"activity,omitzero"`         // the new activity
	Project          ahp.Field[ahp.Value] `json:"project,omitzero"`          // never changed by this host
	WorkingDirectory ahp.Field[string]    `json:"workingDirectory,omitzero"` // the new folder
	Annotations      ahp.Field[ahp.Value] `json:"annotations,omitzero"`      // never changed by this host
	ModifiedAt       ahp.Field[string]    `json:"modifiedAt,omitzero"`       // ISO 8601, UTC, milliseconds
	Extra            ahp.Value            `json:",embed"`                    // unknown members
}
