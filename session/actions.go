package session

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The actions of a session channel (ahp-host.md section 3c), by payload.
type (
	// SessionReady says that the session can be used.
	SessionReady struct{}
	// CreationFailed says why it never will be.
	CreationFailed struct {
		Error ahp.Value `json:"error"`
	}
	// TitleChanged sets the title.
	TitleChanged struct {
		Title string `json:"title"`
	}
	// IsReadChanged sets or clears bit 32 of the status.
	IsReadChanged struct {
		IsRead bool `json:"isRead"`
	}
	// IsArchivedChanged sets or clears bit 64 of the status.
	IsArchivedChanged struct {
		IsArchived bool `json:"isArchived"`
	}
	// ActivityChanged sets what the session is doing; absent clears.
	ActivityChanged struct {
		Activity *string `json:"activity,omitzero"`
	}
	// ServerToolsChanged replaces the host's tools.
	ServerToolsChanged struct {
		Tools []ToolDefinition `json:"tools"`
	}
	// ActiveClientSet adds or replaces the sender's own entry.
	ActiveClientSet struct {
		ActiveClient SessionActiveClient `json:"activeClient"`
	}
	// ActiveClientRemoved removes the sender's own entry.
	ActiveClientRemoved struct {
		ClientID string `json:"clientId"`
	}
	// ConfigChanged merges values by name, or replaces all of them; null is a
	// value like any other. Without a config it changes nothing.
	ConfigChanged struct {
		Config  map[string]ahp.Value `json:"config"`
		Replace bool                 `json:"replace,omitzero"`
	}
	// MetaChanged replaces _meta; absent clears.
	MetaChanged struct {
		Meta ahp.Value `json:"_meta,omitzero"`
	}
	// ChangesetsChanged replaces the changeset catalogue; absent clears.
	ChangesetsChanged struct {
		Changesets []ahp.Value `json:"changesets,omitzero"`
	}
	// ChatAdded adds or replaces a chat of the catalogue.
	ChatAdded struct {
		Summary ChatSummary `json:"summary"`
	}
	// ChatRemoved removes a chat, and the default where it was that.
	ChatRemoved struct {
		Chat string `json:"chat"`
	}
	// ChatUpdated changes members of a chat: null clears one, an object replaces
	// the whole of the one before. Its resource never changes.
	ChatUpdated struct {
		Chat    string               `json:"chat"`
		Changes map[string]ahp.Value `json:"changes"`
	}
	// DefaultChatChanged sets the default chat; absent clears.
	DefaultChatChanged struct {
		DefaultChat *string `json:"defaultChat,omitzero"`
	}
	// CustomizationsChanged replaces all customizations.
	CustomizationsChanged struct {
		Customizations []Customization `json:"customizations"`
	}
	// CustomizationUpdated adds a top-level customization, or replaces the whole
	// of the one with that id.
	CustomizationUpdated struct {
		Customization Customization `json:"customization"`
	}
	// CustomizationRemoved removes the customization of an id: the one at the top
	// level, or, where there is none, each that is a child. Whatever has children
	// is a container, but for an MCP server.
	CustomizationRemoved struct {
		ID string `json:"id"`
	}
	// CustomizationToggled switches a top-level customization on or off.
	CustomizationToggled struct {
		ID      string `json:"id"`
		Enabled bool   `json:"enabled"`
	}
	// McpServerStateChanged sets the state of an MCP server and its channel, which
	// clears where it is absent. Its id finds it as CustomizationRemoved does; what
	// is no MCP server stays as it is.
	McpServerStateChanged struct {
		ID      string    `json:"id"`
		State   ahp.Value `json:"state"`
		Channel *string   `json:"channel,omitzero"`
	}
	// CanvasesChanged replaces the canvas registry (#297 section 7).
	CanvasesChanged struct {
		Canvases []SessionCanvasDeclaration `json:"canvases"`
	}
	// OpenCanvasesChanged replaces the catalogue of open canvases.
	OpenCanvasesChanged struct {
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

// Validate refuses an empty client id: nobody has it.
func (a ActiveClientSet) Validate() error {
	return notEmpty("/activeClient/clientId", a.ActiveClient.ClientID)
}

// Validate refuses an empty client id.
func (a ActiveClientRemoved) Validate() error { return notEmpty("/clientId", a.ClientID) }

func notEmpty(place, s string) error {
	if s == "" {
		return errors.New(place + ": must not be empty")
	}
	return nil
}

// activeClientChanged is #297's older spelling of two actions: null removes, so
// the member must be there.
type activeClientChanged struct {
	ActiveClient ahp.Value `json:"activeClient"`
}

// modern returns the newer action. Whose entry null removes only Permit can
// say, so the id stays empty until then.
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

// Actions is the table of the session channel.
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
