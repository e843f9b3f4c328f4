package testcases_test

import (
	"math/rand/v2"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// random makes states and actions that a host could send: valid, with any
// optional member present or absent, ids that often coincide, and opaque values
// that are hard to preserve. The same seed makes the same case.
type random struct{ *rand.Rand }

type object = map[string]any

func newRandom(seed, n uint64) random { return random{rand.New(rand.NewPCG(seed, n))} }

func pick[T any](r random, from ...T) T { return from[r.IntN(len(from))] }

// numbers are ones that a float64 or a careless encoder changes, and harmless
// ones.
var numbers = []string{
	"0", "-0", "1", "-7", "1.0", "1.50", "1e400", "1E+2", "0.1", "9007199254740992", "9007199254740993", "-9223372036854775808",
	"18446744073709551616", "123456789012345678901234567890", "0.1000000000000000055511151231257827", "1e-7", "0.0000001",
}

// names and texts, some of which have a meaning in JavaScript or JSON.
var names = []string{"a", "b", "later", "null", "", "__proto__", "constructor", "toString", "length", "0", "é", "e\u0301", "\u2028", "😀", "a/b~c", "\"\\", "\x00"}

func (r random) number() ahp.Value { return ahp.Value(pick(r, numbers...)) }
func (r random) text() string      { return pick(r, names...) + pick(r, names...) }
func (r random) id() string        { return pick(r, "a", "b", "c", "__proto__") }
func (r random) bool() bool        { return r.IntN(2) == 0 }

// opaque returns any JSON value, including null.
func (r random) opaque(depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return r.bool()
	case n == 2:
		return r.text()
	case n < 5 || depth == 0:
		return r.number()
	case n == 5:
		return repeat(r, 3, func() any { return r.opaque(depth - 1) })
	}
	return r.members(depth - 1)
}

func (r random) members(depth int) object {
	m := object{}
	for range r.IntN(4) {
		m[pick(r, names...)] = r.opaque(depth)
	}
	return m
}

// present returns an opaque value that is not null: hosts omit an optional
// member instead of sending null.
func (r random) present() any {
	if v := r.opaque(2); v != nil {
		return v
	}
	return object{}
}

func repeat[T any](r random, most int, one func() T) []T {
	list := make([]T, 0, most)
	for range r.IntN(most + 1) {
		list = append(list, one())
	}
	return list
}

// with adds each optional member with probability one half, and sometimes an
// unknown one.
func (r random) with(m, optional object) object {
	for _, name := range sorted(optional) {
		if r.bool() {
			m[name] = optional[name]
		}
	}
	if r.IntN(4) == 0 {
		m["x-"+strconv.Itoa(r.IntN(3))] = r.opaque(2)
	}
	return m
}

func (r random) tool() object {
	return r.with(object{"name": r.id()}, object{"inputSchema": r.opaque(2)})
}
func (r random) agent() object {
	return r.with(object{"provider": r.id(), "displayName": r.text(), "description": r.text(), "models": repeat(r, 2, func() any { return r.opaque(1) })}, nil)
}

func (r random) config() object {
	return r.with(object{"schema": r.present(), "values": r.members(2)}, nil)
}

func (r random) client() object {
	return r.with(object{"clientId": r.id(), "tools": repeat(r, 2, r.tool)},
		object{"displayName": r.text(), "customizations": r.present(), "canvasProviders": repeat(r, 2, r.clientDeclaration)})
}

func (r random) chat() object {
	return r.with(object{"resource": r.id(), "title": r.text(), "status": r.Uint32(), "modifiedAt": r.text()}, object{"activity": r.text()})
}

// customization has any type, with or without an id, and is often a container.
func (r random) customization() object {
	c := r.with(object{"type": pick(r, "plugin", "mcpServer", "x-later")}, object{"id": r.id(), "enabled": r.bool(), "state": r.opaque(1), "channel": r.text()})
	if r.bool() {
		c["children"] = repeat(r, 2, func() object {
			return r.with(object{"type": pick(r, "skill", "mcpServer")}, object{"id": r.id(), "channel": r.text()})
		})
	}
	return c
}

func (r random) canvasAction() object {
	return r.with(object{"name": r.id()}, object{"description": "d", "inputSchema": r.present()})
}

func (r random) clientDeclaration() object {
	return r.with(object{"canvasId": r.id(), "displayName": r.text(), "description": r.text()},
		object{"inputSchema": r.present(), "actions": repeat(r, 2, r.canvasAction)})
}

func (r random) source() object {
	return pick(r, object{"kind": "server"}, object{"kind": "client", "clientId": r.id()})
}

func (r random) declaration() object {
	d := r.clientDeclaration()
	d["extensionId"], d["source"] = r.id(), r.source()
	return r.with(d, object{"extensionName": "E"})
}

func (r random) openCanvas() object {
	return r.with(object{"instanceId": r.id(), "channel": r.text(), "canvasId": r.id(), "extensionId": r.id(), "availability": pick(r, "ready", "stale")},
		object{"extensionName": "E", "title": r.text()})
}

// state returns a state of a channel kind.
func (r random) state(kind string) object {
	switch kind {
	case "root":
		return r.with(object{"agents": repeat(r, 2, r.agent)}, object{
			"activeSessions": r.Int64(), "terminals": repeat(r, 2, func() any { return r.opaque(1) }), "config": r.config(), "_meta": r.present(),
		})
	case "canvas":
		return r.with(object{"instanceId": r.id(), "canvasId": r.id(), "extensionId": r.id(), "availability": pick(r, "ready", "stale"), "provider": r.source()}, object{
			"extensionName": "E", "displayName": "D", "input": r.present(), "title": r.text(), "status": r.text(), "url": r.text(), "_meta": r.present(),
		})
	}
	return r.with(object{
		"provider": r.id(), "title": r.text(), "status": r.Uint32(), "lifecycle": pick(r, "creating", "ready", "creationFailed"),
		"activeClients": repeat(r, 3, r.client), "chats": repeat(r, 3, r.chat),
	}, object{
		"activity": r.text(), "project": r.present(), "workingDirectory": r.text(), "creationError": r.present(), "serverTools": repeat(r, 2, r.tool), "defaultChat": r.id(),
		"config": r.config(), "customizations": repeat(r, 4, r.customization), "changesets": repeat(r, 2, func() any { return r.opaque(1) }), "_meta": r.present(),
		"inputNeeded": r.present(), "canvases": repeat(r, 2, r.declaration), "openCanvases": repeat(r, 2, r.openCanvas),
	})
}
