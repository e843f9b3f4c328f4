package ahp

import "slices"

// CapabilityCanvas is the name of the Canvas capability (the Canvas proposal
// (#297), section 1).
const CapabilityCanvas = "canvas"

// CapabilityChat lets a connection see the chats of sessions. Clients cannot declare it:
// the host adds it to connections of a later version.
const CapabilityChat = "x-ahp-canvas/chat"

// CapabilityMove lets the host ask a client to move to another connection, without failing
// what is under way (ahp/PROTOCOL.md section 2h).
const CapabilityMove = "x-ahp-canvas/move"

// MethodMove is the notification with which a host asks a client to move: the relay that
// forwards its connection is about to end.
const MethodMove = "x-ahp-canvas/move"

// MetaMoved is the member of reconnect's _meta, true, with which a client that moves asks the
// host to keep its other connection until everything on it is answered.
const MetaMoved = "x-ahp-canvas/moved"

// Moves reports whether a _meta has MetaMoved.
func Moves(meta map[string]Value) bool {
	var moved bool
	raw, ok := meta[MetaMoved]
	return ok && Unmarshal(raw, &moved) == nil && moved
}

// ClientCapabilities is the capabilities member of initialize. A capability is
// declared if its member is an object. Unknown names are ignored, whatever their
// values, because a later version might define them.
type ClientCapabilities map[string]Value

// Set returns the declared names, sorted. A value that is not an object declares
// nothing. For a known name it is an InvalidParams error, unless it is null.
func (c ClientCapabilities) Set() (Capabilities, error) {
	var names Capabilities
	for name, v := range c {
		switch {
		case name == CapabilityChat:
		case v.Kind() == '{':
			names = append(names, name)
		case v.Kind() != 'n' && name == CapabilityCanvas:
			return nil, Errorf(CodeInvalidParams, "/capabilities/%s: want an object, have %s", name, kindName(v.Kind(), "an object"))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Capabilities is a sorted set of capability names.
type Capabilities []string

// Has reports whether name was declared. Every connection has the empty name.
func (c Capabilities) Has(name string) bool {
	return name == "" || slices.Contains(c, name)
}
