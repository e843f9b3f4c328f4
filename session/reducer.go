package session

import (
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Reduce applies an action to a session's state (ahp/PROTOCOL.md section 3c). It is
// pure. An action that changes nothing is applied too.
func Reduce(state channels.State, action ahp.Action) (channels.State, channels.Outcome, error) {
	s := state.(State)
	switch a := action.(type) {
	case SessionReady:
		s.Lifecycle = LifecycleReady
	case CreationFailed:
		s.Lifecycle, s.CreationError = LifecycleCreationFailed, a.Error
	case TitleChanged:
		s.Title = a.Title
	case IsReadChanged:
		s.Status = s.Status.With(StatusIsRead, a.IsRead)
	case IsArchivedChanged:
		s.Status = s.Status.With(StatusIsArchived, a.IsArchived)
	case ActivityChanged:
		s.Activity = a.Activity
	case ServerToolsChanged:
		s.ServerTools = a.Tools
	case ActiveClientSet:
		s.ActiveClients = upsert(s.ActiveClients, a.ActiveClient, SessionActiveClient.key)
	case ActiveClientRemoved:
		s.ActiveClients = without(s.ActiveClients, a.ClientID, SessionActiveClient.key)
	case ConfigChanged:
		s.Config = s.Config.changed(a.Config, a.Replace)
	case MetaChanged:
		s.Meta = present(a.Meta)
	case ChangesetsChanged:
		s.Changesets = a.Changesets
	case CanvasesChanged:
		s.Canvases = a.Canvases
	case OpenCanvasesChanged:
		s.OpenCanvases = a.OpenCanvases
	default:
		return reduceCatalogs(s, action)
	}
	return s, channels.Applied, nil
}

// reduceCatalogs reduces the actions for chats and customizations.
func reduceCatalogs(s State, action ahp.Action) (channels.State, channels.Outcome, error) {
	switch a := action.(type) {
	case ChatAdded:
		s.Chats = upsert(s.Chats, a.Summary, ChatSummary.key)
	case ChatRemoved:
		s.Chats = without(s.Chats, a.Chat, ChatSummary.key)
		if s.DefaultChat != nil && *s.DefaultChat == a.Chat {
			s.DefaultChat = nil
		}
	case ChatUpdated:
		chats, err := updateChat(s.Chats, a)
		if err != nil {
			return s, channels.Signal, err
		}
		s.Chats = chats
	case DefaultChatChanged:
		s.DefaultChat = a.DefaultChat
	case CustomizationsChanged:
		s.Customizations = a.Customizations
	case CustomizationUpdated:
		s.Customizations = upsert(s.Customizations, a.Customization, Customization.ID)
	case CustomizationRemoved:
		s.Customizations = editByID(s.Customizations, a.ID, func(c Customization) (Customization, bool) { return c, false })
	case CustomizationToggled:
		// Only at the top level: toggling children came after 0.5.1.
		s.Customizations, _ = editTop(s.Customizations, a.ID, func(c Customization) (Customization, bool) {
			return c.with("enabled", ahp.MustMarshal(a.Enabled)), true
		})
	case McpServerStateChanged:
		s.Customizations = editByID(s.Customizations, a.ID, a.apply)
	}
	return s, channels.Applied, nil
}

// apply sets the state and channel of an MCP server. Other customizations do not change.
func (a McpServerStateChanged) apply(c Customization) (Customization, bool) {
	if c.text("type") != customizationTypeMCP {
		return c, true
	}
	c = c.with("state", a.State)
	if a.Channel == nil {
		return c.with("channel", nil), true
	}
	return c.with("channel", ahp.MustMarshal(*a.Channel)), true
}

func (c SessionActiveClient) key() string { return c.ClientID }
func (c ChatSummary) key() string         { return c.Resource }

// upsert replaces the element with the key of v, or appends v.
func upsert[T any](list []T, v T, key func(T) string) []T {
	if i := slices.IndexFunc(list, func(o T) bool { return key(o) == key(v) }); i >= 0 {
		return replaceAt(list, i, v)
	}
	return append(slices.Clip(list), v)
}

// without returns the list without the element with a key.
func without[T any](list []T, id string, key func(T) string) []T {
	i := slices.IndexFunc(list, func(o T) bool { return key(o) == id })
	if i < 0 {
		return list
	}
	return slices.Delete(slices.Clone(list), i, i+1)
}

// updateChat merges changes into the JSON object of a chat, so that unknown members are
// changed too. null clears a member, and resource is ignored. updateChat returns an error
// if the result is not a valid summary.
func updateChat(chats []ChatSummary, a ChatUpdated) ([]ChatSummary, error) {
	i := slices.IndexFunc(chats, func(c ChatSummary) bool { return c.Resource == a.Chat })
	if i < 0 {
		return chats, nil
	}
	var members map[string]ahp.Value
	if err := ahp.Unmarshal(ahp.MustMarshal(chats[i]), &members); err != nil {
		return nil, err
	}
	for name, v := range a.Changes {
		switch {
		case name == "resource":
		case v.Kind() == 'n':
			delete(members, name)
		default:
			members[name] = v
		}
	}
	var updated ChatSummary
	if err := ahp.Unmarshal(ahp.MustMarshal(members), &updated); err != nil {
		return nil, err
	}
	return replaceAt(chats, i, updated), nil
}

// changed returns the config with values merged or replaced, or nil if c is nil.
func (c *Config) changed(values map[string]ahp.Value, replace bool) *Config {
	if c == nil {
		return nil
	}
	next := *c
	next.Values = map[string]ahp.Value{}
	if !replace {
		maps.Copy(next.Values, c.Values)
	}
	maps.Copy(next.Values, values)
	return &next
}

// present returns v, or nil if it is null.
func present(v ahp.Value) ahp.Value {
	if v.Kind() == 'n' {
		return nil
	}
	return v
}
