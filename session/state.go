package session

import "github.com/ahp-canvas/ahp-canvas/ahp"

// Status is a bit set (ahp-host.md section 3a); unknown bits are kept.
type Status uint32

// The bits of a Status. InputNeeded includes InProgress.
const (
	StatusIdle        Status = 1
	StatusError       Status = 2
	StatusInProgress  Status = 8
	StatusInputNeeded Status = 24
	StatusIsRead      Status = 32
	StatusIsArchived  Status = 64
)

func (s Status) with(bit Status, on bool) Status {
	if on {
		return s | bit
	}
	return s &^ bit
}

// Lifecycle says how far the making of a session is.
type Lifecycle string

// The lifecycles of 0.5.1.
const (
	LifecycleCreating       Lifecycle = "creating"
	LifecycleReady          Lifecycle = "ready"
	LifecycleCreationFailed Lifecycle = "creationFailed"
)

// State is the state of a session channel (ahp-host.md section 3a), with the two
// members of #297 section 2. Slices and values in it are never changed in place.
type State struct {
	Provider         string                     `json:"provider"`
	Title            string                     `json:"title"`
	Status           Status                     `json:"status"` // bits: 1 idle, 2 error, 8 in progress, 24 input needed, 32 read, 64 archived
	Activity         *string                    `json:"activity,omitzero"`
	Project          ahp.Value                  `json:"project,omitzero"`
	WorkingDirectory *string                    `json:"workingDirectory,omitzero"`
	Annotations      ahp.Value                  `json:"annotations,omitzero"`
	Lifecycle        Lifecycle                  `json:"lifecycle"`
	CreationError    ahp.Value                  `json:"creationError,omitzero"`
	ServerTools      []ToolDefinition           `json:"serverTools,omitzero"`
	ActiveClients    []SessionActiveClient      `json:"activeClients"`
	Chats            []ChatSummary              `json:"chats"`
	DefaultChat      *string                    `json:"defaultChat,omitzero"`
	Config           *Config                    `json:"config,omitzero"`
	Customizations   []Customization            `json:"customizations,omitzero"`
	Changesets       []ahp.Value                `json:"changesets,omitzero"`
	Meta             ahp.Value                  `json:"_meta,omitzero"`
	InputNeeded      ahp.Value                  `json:"inputNeeded,omitzero"` // passed through
	Canvases         []SessionCanvasDeclaration `json:"canvases,omitzero"`
	OpenCanvases     []OpenCanvasRef            `json:"openCanvases,omitzero"`
	Extra            ahp.Value                  `json:",embed"`
}

// SessionActiveClient is a client that takes part in a session.
type SessionActiveClient struct {
	ClientID       string           `json:"clientId"`
	DisplayName    *string          `json:"displayName,omitzero"`
	Tools          []ToolDefinition `json:"tools"`
	Customizations ahp.Value        `json:"customizations,omitzero"`
	// CanvasProviders are the canvases that the client provides (#297 section 2).
	CanvasProviders []ClientCanvasDeclaration `json:"canvasProviders,omitzero"`
	Extra           ahp.Value                 `json:",embed"`
}

// ToolDefinition names a tool; everything but its name is passed through.
type ToolDefinition struct {
	Name  string    `json:"name"`
	Extra ahp.Value `json:",embed"`
}

// ChatSummary is an entry of a session's chat catalogue.
type ChatSummary struct {
	Resource   string    `json:"resource"`
	Title      string    `json:"title"`
	Status     Status    `json:"status"`
	Activity   *string   `json:"activity,omitzero"`
	ModifiedAt string    `json:"modifiedAt"` // ISO 8601
	Extra      ahp.Value `json:",embed"`
}

// Config is a set of values and the schema of what they may be.
type Config struct {
	Schema ahp.Value            `json:"schema"`
	Values map[string]ahp.Value `json:"values"`
	Extra  ahp.Value            `json:",embed"`
}

// SessionSummary is a session's entry in the catalogue (listSessions,
// root/sessionAdded). It is not part of a session's state.
type SessionSummary struct {
	Resource         string    `json:"resource"`
	Provider         string    `json:"provider"`
	Title            string    `json:"title"`
	Status           Status    `json:"status"`
	Activity         *string   `json:"activity,omitzero"`
	Project          ahp.Value `json:"project,omitzero"`
	WorkingDirectory *string   `json:"workingDirectory,omitzero"`
	Annotations      ahp.Value `json:"annotations,omitzero"`
	CreatedAt        string    `json:"createdAt"`  // ISO 8601, UTC, milliseconds
	ModifiedAt       string    `json:"modifiedAt"` // likewise
	Changes          ahp.Value `json:"changes,omitzero"`
	Meta             ahp.Value `json:"_meta,omitzero"`
	Extra            ahp.Value `json:",embed"`
}

// PartialSessionSummary is the changes member of root/sessionSummaryChanged:
// what changed, and nothing else. null clears.
type PartialSessionSummary struct {
	Title            ahp.Field[string]    `json:"title,omitzero"`
	Status           ahp.Field[Status]    `json:"status,omitzero"`
	Activity         ahp.Field[string]    `json:"activity,omitzero"`
	Project          ahp.Field[ahp.Value] `json:"project,omitzero"`
	WorkingDirectory ahp.Field[string]    `json:"workingDirectory,omitzero"`
	Annotations      ahp.Field[ahp.Value] `json:"annotations,omitzero"`
	ModifiedAt       ahp.Field[string]    `json:"modifiedAt,omitzero"`
	Extra            ahp.Value            `json:",embed"`
}
