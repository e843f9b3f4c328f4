package testcases_test

import (
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases/wire"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// payloads make the members of an action, by type. Members that can be cleared
// are sometimes null or absent.
var payloads = map[string]func(random) object{
	"root/agentsChanged":         func(r random) object { return object{"agents": repeat(r, 2, r.agent)} },
	"root/activeSessionsChanged": func(r random) object { return object{"activeSessions": r.Int64()} },
	"root/terminalsChanged": func(r random) object {
		return object{"terminals": repeat(r, 2, func() any { return r.opaque(1) })}
	},
	"root/configChanged": changeConfig,

	"session/ready":               func(random) object { return object{} },
	"session/creationFailed":      func(r random) object { return object{"error": r.opaque(2)} },
	"session/titleChanged":        func(r random) object { return object{"title": r.text()} },
	"session/isReadChanged":       func(r random) object { return object{"isRead": r.bool()} },
	"session/isArchivedChanged":   func(r random) object { return object{"isArchived": r.bool()} },
	"session/activityChanged":     func(r random) object { return r.clearing("activity", r.text()) },
	"session/serverToolsChanged":  func(r random) object { return object{"tools": repeat(r, 2, r.tool)} },
	"session/activeClientSet":     func(r random) object { return object{"activeClient": r.client()} },
	"session/activeClientRemoved": func(r random) object { return object{"clientId": r.id()} },
	"session/configChanged":       changeConfig,
	"session/metaChanged":         func(r random) object { return r.clearing("_meta", r.opaque(2)) },
	"session/changesetsChanged": func(r random) object {
		return r.clearing("changesets", repeat(r, 2, func() any { return r.opaque(1) }))
	},
	"session/chatAdded":             func(r random) object { return object{"summary": r.chat()} },
	"session/chatRemoved":           func(r random) object { return object{"chat": r.id()} },
	"session/chatUpdated":           updateChat,
	"session/defaultChatChanged":    func(r random) object { return r.clearing("defaultChat", r.id()) },
	"session/customizationsChanged": func(r random) object { return object{"customizations": repeat(r, 4, r.customization)} },
	"session/customizationUpdated":  func(r random) object { return object{"customization": r.customization()} },
	"session/customizationRemoved":  func(r random) object { return object{"id": r.maybeID()} },
	"session/customizationToggled":  func(r random) object { return object{"id": r.maybeID(), "enabled": r.bool()} },
	"session/mcpServerStateChanged": func(r random) object {
		m := r.clearing("channel", r.text())
		m["id"], m["state"] = r.maybeID(), r.opaque(2)
		return m
	},
	"session/canvasesChanged":     func(r random) object { return object{"canvases": repeat(r, 3, r.declaration)} },
	"session/openCanvasesChanged": func(r random) object { return object{"openCanvases": repeat(r, 3, r.openCanvas)} },

	"canvas/updated": func(r random) object {
		m := object{}
		for _, name := range []string{"title", "status", "url"} {
			maps.Copy(m, r.clearing(name, r.text()))
		}
		if r.bool() {
			m["availability"] = pick(r, "ready", "stale")
		}
		maps.Copy(m, r.clearing("input", r.opaque(2)))
		return m
	},
	"canvas/closeRequested": func(random) object { return object{} },
	"canvas/message":        func(r random) object { return object{"payload": r.opaque(2)} },
}

// maybeID returns an id, possibly of a customization that has none.
func (r random) maybeID() string { return pick(r, r.id(), r.id(), "") }

// clearing returns an object in which a member is present, null or absent.
func (r random) clearing(name string, value any) object {
	return pick(r, object{name: value}, object{name: value}, object{name: nil}, object{})
}

func changeConfig(r random) object {
	return r.with(object{"config": r.members(2)}, object{"replace": r.bool()})
}

func updateChat(r random) object {
	changes := r.with(object{}, object{"title": r.text(), "status": r.Uint32(), "activity": pick[any](r, nil, r.text()), "resource": r.id(), "later": r.opaque(2)})
	maps.Copy(changes, r.members(1))
	return object{"chat": r.id(), "changes": changes}
}

// action returns an action of the kind or, sometimes, of a type that the kind
// does not have.
func (r random) action(kind string) ahp.Value {
	rows := wire.Tables()[kind].Rows()
	row := pick(r, rows...)
	tag := row.Type
	var m object
	switch payload := payloads[tag]; {
	case row.Alias || r.IntN(16) == 0:
		tag, m = pick(r, kind+"/later", "x-mine/did", "session/Ready", "toString"), r.members(2)
	default:
		m = r.with(payload(r), nil)
	}
	m["type"] = tag
	return ahp.MustMarshal(m)
}

// sequence returns a random case: a kind, a state and actions.
func (r random) sequence() (kind string, initial ahp.Value, actions []ahp.Value) {
	kind = pick(r, "root", "session", "session", "session", "canvas")
	return kind, ahp.MustMarshal(r.state(kind)), repeat(r, 20, func() ahp.Value { return r.action(kind) })
}
