package session

import "github.com/ahp-canvas/ahp-canvas/ahp"

// CreateSessionParams makes a session under a URI that the client chose.
type CreateSessionParams struct {
	Channel          string               `json:"channel"`
	Provider         *string              `json:"provider,omitzero"`
	WorkingDirectory *string              `json:"workingDirectory,omitzero"`
	Fork             ahp.Value            `json:"fork,omitzero"`
	Config           map[string]ahp.Value `json:"config,omitzero"`
	ActiveClient     *SessionActiveClient `json:"activeClient,omitzero"`
	ProgressToken    *string              `json:"progressToken,omitzero"`
}

// ListSessionsParams asks for the catalogue. A filter has no defined meaning and
// is ignored, like limit and cursor of later versions: the answer is everything.
type ListSessionsParams struct {
	Channel string `json:"channel,omitzero"`
}

// ListSessionsResult is the catalogue, the most recently modified first.
type ListSessionsResult struct {
	Items []SessionSummary `json:"items"`
}

// ResolveSessionConfigParams asks which config a session would have.
type ResolveSessionConfigParams struct {
	Channel  string               `json:"channel,omitzero"`
	Provider *string              `json:"provider,omitzero"`
	Config   map[string]ahp.Value `json:"config,omitzero"`
}

// ResolveSessionConfigResult says that sessions of this host have no config.
type ResolveSessionConfigResult struct {
	Schema ConfigSchema         `json:"schema"`
	Values map[string]ahp.Value `json:"values"`
}

// ConfigSchema is the empty schema of an object.
type ConfigSchema struct {
	Type       string               `json:"type"`
	Properties map[string]ahp.Value `json:"properties"`
}

// SessionConfigCompletionsParams asks for values of a config property.
type SessionConfigCompletionsParams struct {
	Channel  string `json:"channel,omitzero"`
	Property string `json:"property"`
}

// CompletionsResult has no items: there is nothing to complete.
type CompletionsResult struct {
	Items []ahp.Value `json:"items"`
}

// The notifications of the root channel (ahp-host.md section 4). They carry no
// serverSeq and are never replayed.
type (
	// SessionAddedParams tells of a new session.
	SessionAddedParams struct {
		Channel string         `json:"channel"`
		Summary SessionSummary `json:"summary"`
	}
	// SessionRemovedParams tells of a session that ended.
	SessionRemovedParams struct {
		Channel string `json:"channel"`
		Session string `json:"session"`
	}
	// SessionSummaryChangedParams carries the mutable members that changed.
	SessionSummaryChangedParams struct {
		Channel string                `json:"channel"`
		Session string                `json:"session"`
		Changes PartialSessionSummary `json:"changes"`
	}
)

// The methods and notifications of sessions.
var (
	CreateSession            = ahp.NewMethod[CreateSessionParams, ahp.None]("createSession", ahp.ClientToHost)
	DisposeSession           = ahp.NewMethod[ahp.ChannelParams, ahp.None]("disposeSession", ahp.ClientToHost) // ends a session and all that is in it
	ListSessions             = ahp.NewConnectionMethod[ListSessionsParams, ListSessionsResult]("listSessions", ahp.ClientToHost)
	ResolveSessionConfig     = ahp.NewConnectionMethod[ResolveSessionConfigParams, ResolveSessionConfigResult]("resolveSessionConfig", ahp.ClientToHost)
	SessionConfigCompletions = ahp.NewConnectionMethod[SessionConfigCompletionsParams, CompletionsResult]("sessionConfigCompletions", ahp.ClientToHost)

	SessionAdded          = ahp.NewNotification[SessionAddedParams]("root/sessionAdded", ahp.HostToClient)
	SessionRemoved        = ahp.NewNotification[SessionRemovedParams]("root/sessionRemoved", ahp.HostToClient)
	SessionSummaryChanged = ahp.NewNotification[SessionSummaryChangedParams]("root/sessionSummaryChanged", ahp.HostToClient)
)
