package session

import (
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// CreateSessionParams creates a session with a URI that the client has chosen.
type CreateSessionParams struct {
	Channel          string               `json:"channel"`                   // ahp-session:/<id>
	Provider         *string              `json:"provider,omitzero"`         // the agent provider; default is the host's
	WorkingDirectory *string              `json:"workingDirectory,omitzero"` // URI of a folder
	Fork             ahp.Value            `json:"fork,omitzero"`             // refused by this host
	Config           map[string]ahp.Value `json:"config,omitzero"`           // ignored by this host
	ActiveClient     *SessionActiveClient `json:"activeClient,omitzero"`     // the sender's own entry
	ProgressToken    *string              `json:"progressToken,omitzero"`    // ignored by this host
}

// ListSessionsParams requests the catalog of sessions. A filter has no defined meaning
// and is ignored.
type ListSessionsParams struct {
	Channel string  `json:"channel,omitzero"` // ahp-root://
	Limit   *int    `json:"limit,omitzero"`   // most sessions of the result; default is as many as fit
	Cursor  *string `json:"cursor,omitzero"`  // nextCursor of the result before
}

// Validate returns an error if the limit is not above 0.
func (p ListSessionsParams) Validate() error {
	if p.Limit != nil && *p.Limit < 1 {
		return errors.New("/limit: want a number above 0")
	}
	return nil
}

// ListSessionsResult is the catalog of sessions, the most recently modified first.
type ListSessionsResult struct {
	Items      []SessionSummary `json:"items"`               // the sessions, at most about 1 MiB of them
	NextCursor *string          `json:"nextCursor,omitzero"` // present if there are more sessions
}

// ResolveSessionConfigParams asks which config a session would have.
type ResolveSessionConfigParams struct {
	Channel  string               `json:"channel,omitzero"`  // ahp-root://
	Provider *string              `json:"provider,omitzero"` // the agent provider
	Config   map[string]ahp.Value `json:"config,omitzero"`   // values chosen so far
}

// ResolveSessionConfigResult says that sessions of this host have no config.
type ResolveSessionConfigResult struct {
	Schema ConfigSchema         `json:"schema"` // of the values
	Values map[string]ahp.Value `json:"values"` // empty
}

// ConfigSchema is the schema of an object without properties.
type ConfigSchema struct {
	Type       string               `json:"type"`       // "object"
	Properties map[string]ahp.Value `json:"properties"` // empty
}

// SessionConfigCompletionsParams requests possible values of a config property.
type SessionConfigCompletionsParams struct {
	Channel  string `json:"channel,omitzero"` // ahp-root://
	Property string `json:"property"`         // name of the property
}

// CompletionsResult has no items, because there is no config.
type CompletionsResult struct {
	Items []ahp.Value `json:"items"` // empty
}

// The notifications of the root channel (ahp/PROTOCOL.md section 4). They have no
// serverSeq and are never replayed.
type (
	// SessionAddedParams announces a new session.
	SessionAddedParams struct {
		Channel string         `json:"channel"` // ahp-root://
		Summary SessionSummary `json:"summary"` // the session's catalog entry
	}
	// SessionRemovedParams announces that a session was removed.
	SessionRemovedParams struct {
		Channel string `json:"channel"` // ahp-root://
		Session string `json:"session"` // URI of the session
	}
	// SessionSummaryChangedParams announces changes of a session's summary.
	SessionSummaryChangedParams struct {
		Channel string                `json:"channel"` // ahp-root://
		Session string                `json:"session"` // URI of the session
		Changes PartialSessionSummary `json:"changes"` // the members that changed
	}
)

// The methods and notifications of sessions. Their handlers are methods of [Service].
var (
	CreateSession            = ahp.NewMethod[CreateSessionParams, ahp.None]("createSession", ahp.ClientToHost)
	DisposeSession           = ahp.NewMethod[ahp.ChannelParams, ahp.None]("disposeSession", ahp.ClientToHost) // removes a session and everything in it
	ListSessions             = ahp.NewConnectionMethod[ListSessionsParams, ListSessionsResult]("listSessions", ahp.ClientToHost).ChangesNothing()
	ResolveSessionConfig     = ahp.NewConnectionMethod[ResolveSessionConfigParams, ResolveSessionConfigResult]("resolveSessionConfig", ahp.ClientToHost).ChangesNothing()
	SessionConfigCompletions = ahp.NewConnectionMethod[SessionConfigCompletionsParams, CompletionsResult]("sessionConfigCompletions", ahp.ClientToHost).ChangesNothing()

	SessionAdded          = ahp.NewNotification[SessionAddedParams]("root/sessionAdded", ahp.HostToClient)
	SessionRemoved        = ahp.NewNotification[SessionRemovedParams]("root/sessionRemoved", ahp.HostToClient)
	SessionSummaryChanged = ahp.NewNotification[SessionSummaryChangedParams]("root/sessionSummaryChanged", ahp.HostToClient)
)
