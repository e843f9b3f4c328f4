package session

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The actions of a session channel (ahp/PROTOCOL.md section 3c), by payload.
type (
	// SessionReady reports that the session can be used.
	SessionReady struct{}
	// CreationFailed reports why the session cannot be used.
	CreationFailed struct {
		// Error is the cause.
		Error ahp.Value `json:"error"`
	}
	// TitleChanged sets the title.
	TitleChanged struct {
		// Title is the new title.
		Title string `json:"title"`
	}
	// IsReadChanged sets or clears bit 32 of the status.
	IsReadChanged struct {
		// IsRead is the new value.
		IsRead bool `json:"isRead"`
	}
	// IsArchivedChanged sets or clears bit 64 of the status.
	IsArchivedChanged struct {
		// IsArchived is the new value.
		IsArchived bool `json:"isArchived"`
	}
	// ActivityChanged sets or clears the session's current activity.
	ActivityChanged struct {
		// Activity is the new activity; absent clears it.
		Activity *string `json:"activity,omitzero"`
	}
	// ServerToolsChanged replaces the host's tools.
	ServerToolsChanged struct {
		// Tools are the new tools.
		Tools []ToolDefinition `json:"tools"`
	}
	// ActiveClientSet adds or replaces the sender's own entry.
	ActiveClientSet struct {
		// ActiveClient is the new entry.
		ActiveClient SessionActiveClient `json:"activeClient"`
	}
	// ActiveClientRemoved removes the sender's own entry.
	ActiveClientRemoved struct {
		// ClientID is the sender's client id.
		ClientID string `json:"clientId"`
	}
	// ConfigChanged merges config values by name, or replaces all of them. It changes
	// nothing if the session has no config.
	ConfigChanged struct {
		// Config are the new values; null is a value like any other.
		Config map[string]ahp.Value `json:"config"`
		// Replace replaces all values.
		Replace bool `json:"replace,omitzero"`
	}
	// MetaChanged replaces or clears _meta.
	MetaChanged struct {
		// Meta is the new value; absent clears it.
		Meta ahp.Value `json:"_meta,omitzero"`
	}
	// ChangesetsChanged replaces or clears the catalog of changesets.
	ChangesetsChanged struct {
		// Changesets are the new entries; absent clears the catalog.
		Changesets []ahp.Value `json:"changesets,omitzero"`
	}
	// ChatAdded adds a chat to the catalog, or replaces it.
	ChatAdded struct {
		// Summary is the chat's catalog entry.
		Summary ChatSummary `json:"summary"`
	}
	// ChatRemoved removes a chat. If it was the default chat, that is cleared.
	ChatRemoved struct {
		// Chat is the chat's resource.
		Chat string `json:"chat"`
	}
	// ChatUpdated changes members of a chat's catalog entry, except its resource.
	ChatUpdated struct {
		// Chat is the chat's resource.
		Chat string `json:"chat"`
		// Changes are the new values of members; null clears a member.
		Changes map[string]ahp.Value `json:"changes"`
	}
	// DefaultChatChanged sets or clears the default chat.
	DefaultChatChanged struct {
		// DefaultChat is the chat's resource; absent clears it.
		DefaultChat *string `json:"defaultChat,omitzero"`
	}
	// CustomizationsChanged replaces all customizations.
	CustomizationsChanged struct {
		// Customizations are the new customizations.
		Customizations []Customization `json:"customizations"`
	}
	// CustomizationUpdated adds a top-level customization, or replaces the one with its
	// id.
	CustomizationUpdated struct {
		// Customization is the new customization.
		Customization Customization `json:"customization"`
	}
	// CustomizationRemoved removes the top-level customization with an id or, if there is
	// none, every child with it. Customizations with children are containers, except MCP
	// servers.
	CustomizationRemoved struct {
		// ID is the id of the customization.
		ID string `json:"id"`
	}
	// CustomizationToggled enables or disables a top-level customization.
	CustomizationToggled struct {
		// ID is the id of the customization.
		ID string `json:"id"`
		// Enabled is the new value.
		Enabled bool `json:"enabled"`
	}
	// McpServerStateChanged sets the state and the channel of an MCP server, which is
	// found by its id as in CustomizationRemoved. Other customizations do not change.
	McpServerStateChanged struct {
		// ID is the id of the MCP server.
		ID string `json:"id"`
		// State is the new state.
		State ahp.Value `json:"state"`
		// Channel is the URI of the server's channel; absent clears it.
		Channel *string `json:"channel,omitzero"`
	}
	// CanvasesChanged replaces the canvas registry (the Canvas proposal, #297, section 7).
	CanvasesChanged struct {
		// Canvases are the declarations of all providers.
		Canvases []SessionCanvasDeclaration `json:"canvases"`
	}
	// OpenCanvasesChanged replaces the catalog of open canvases.
	OpenCanvasesChanged struct {
		// OpenCanvases are the catalog entries.
		OpenCanvases []OpenCanvasRef `json:"openCanvases"`
	}
)

// ActionType returns the tag of each payload.
func (SessionReady) ActionType() string          { return "session/ready" }
func (CreationFailed) ActionType() string        { return "session/creationFailed" }
func (TitleChanged) ActionType() string          { return "session/titleChanged" }
func (IsReadChanged) ActionType() string         { return "session/isReadChanged" }
func (IsArchivedChanged) ActionType() string     { return "session/isArchivedChanged" }
func (ActivityChanged) ActionType() string       { return "session/activityChanged" }
func (ServerToolsChanged) ActionType() string    { return "session/serverToolsChanged" }
func (ActiveClientSet) ActionType() string       { return "session/activeClientSet" }
func (ActiveClientRemoved) ActionType() string   { return "session/activeClientRemoved" }
func (ConfigChanged) ActionType() string         { return "session/configChanged" }
func (MetaChanged) ActionType() string           { return "session/metaChanged" }
func (ChangesetsChanged) ActionType() string     { return "session/changesetsChanged" }
func (ChatAdded) ActionType() string             { return "session/chatAdded" }
func (ChatRemoved) ActionType() string           { return "session/chatRemoved" }
func (ChatUpdated) ActionType() string           { return "session/chatUpdated" }
func (DefaultChatChanged) ActionType() string    { return "session/defaultChatChanged" }
func (CustomizationsChanged) ActionType() string { return "session/customizationsChanged" }
func (CustomizationUpdated) ActionType() string  { return "session/customizationUpdated" }
func (CustomizationRemoved) ActionType() string  { return "session/customizationRemoved" }
func (CustomizationToggled) ActionType() string  { return "session/customizationToggled" }
func (McpServerStateChanged) ActionType() string { return "session/mcpServerStateChanged" }
func (CanvasesChanged) ActionType() string       { return "session/canvasesChanged" }
func (OpenCanvasesChanged) ActionType() string   { return "session/openCanvasesChanged" }

// Validate returns an error if the client id is empty.
func (a ActiveClientSet) Validate() error {
	return notEmpty("/activeClient/clientId", a.ActiveClient.ClientID)
}

// Validate returns an error if the client id is empty.
func (a ActiveClientRemoved) Validate() error { return notEmpty("/clientId", a.ClientID) }

func notEmpty(place, s string) error {
	if s == "" {
		return errors.New(place + ": must not be empty")
	}
	return nil
}

// activeClientChanged is the Canvas proposal's older spelling of two actions. null
// removes the entry, so the member is required.
type activeClientChanged struct {
	ActiveClient ahp.Value `json:"activeClient"`
}

// modern returns the newer action. For null it has no client id, which permit adds.
func (a activeClientChanged) modern() (ahp.Action, error) {
	if a.ActiveClient.Kind() == 'n' {
		return ActiveClientRemoved{}, nil
	}
	var set ActiveClientSet
	if err := ahp.Unmarshal(a.ActiveClient, &set.ActiveClient); err != nil {
		return nil, fmt.Errorf("/activeClient%w", err)
	}
	return set, set.Validate()
}

const fromAnyone = ahp.FromHost | ahp.FromClient

// Actions is the action table of session channels.
var Actions = ahp.NewActionTable(
	ahp.Row[SessionReady](ahp.FromHost),
	ahp.Row[CreationFailed](ahp.FromHost),
	ahp.Row[TitleChanged](fromAnyone),
	ahp.Row[IsReadChanged](fromAnyone),
	ahp.Row[IsArchivedChanged](fromAnyone),
	ahp.Row[ActivityChanged](ahp.FromHost),
	ahp.Row[ServerToolsChanged](ahp.FromHost),
	ahp.Row[ActiveClientSet](fromAnyone),
	ahp.Row[ActiveClientRemoved](fromAnyone),
	ahp.Row[ConfigChanged](fromAnyone),
	ahp.Row[MetaChanged](ahp.FromHost),
	ahp.Row[ChangesetsChanged](ahp.FromHost),
	ahp.Row[ChatAdded](ahp.FromHost),
	ahp.Row[ChatRemoved](ahp.FromHost),
	ahp.Row[ChatUpdated](ahp.FromHost),
	ahp.Row[DefaultChatChanged](ahp.FromHost),
	ahp.Row[CustomizationsChanged](ahp.FromHost),
	ahp.Row[CustomizationUpdated](ahp.FromHost),
	ahp.Row[CustomizationRemoved](ahp.FromHost),
	ahp.Row[CustomizationToggled](fromAnyone),
	ahp.Row[McpServerStateChanged](ahp.FromHost),
	ahp.Row[CanvasesChanged](ahp.FromHost, ahp.Since(ahp.V0_6_0), ahp.Gated(ahp.CapabilityCanvas)),
	ahp.Row[OpenCanvasesChanged](ahp.FromHost, ahp.Since(ahp.V0_6_0), ahp.Gated(ahp.CapabilityCanvas)),
	ahp.AliasRow("session/activeClientChanged", ahp.FromClient, activeClientChanged.modern),
)
