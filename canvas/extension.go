package canvas

import (
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/session"
)

// Extension identifies who provides canvases.
type Extension struct {
	// ID names a server-side provider: 1 to 256 bytes without a colon. It is ignored
	// for a client, whose id is "client:" and its ClientID.
	ID string
	// Name is for people; "" is none.
	Name string
	// ClientID is the id of the client that provides the canvases; "" means that the
	// host does.
	ClientID string
	// Session is the only session that it serves; "" serves all.
	Session string
}

// Source returns where declarations of the extension come from (the Canvas proposal
// (#297), section 2).
func (x Extension) Source() session.CanvasProviderSource {
	if x.ClientID != "" {
		return session.CanvasProviderSource{Kind: session.SourceClient, ClientID: x.ClientID}
	}
	return session.CanvasProviderSource{Kind: session.SourceServer}
}

// Resolve checks the extension's names and returns it with the id that it has in
// the registry.
func (x Extension) Resolve() (Extension, error) {
	if !utf8.ValidString(x.ID + x.Name + x.ClientID) {
		return x, Errorf(CodeInputInvalid, "extension %q: id, name and client id must be valid UTF-8", x.ID)
	}
	if x.ClientID != "" {
		x.ID = "client:" + x.ClientID
		return x, nil
	}
	if x.ID == "" || len(x.ID) > MaxName || strings.Contains(x.ID, ":") {
		return x, Errorf(CodeInputInvalid, "extension id %q: want 1 to %d bytes and no colon", x.ID, MaxName)
	}
	return x, nil
}

// MaxName bounds extension ids, canvas ids and action names, in bytes.
const MaxName = 256

// Registration is a provider's entry in a host's registry. Its methods may be
// called concurrently.
type Registration interface {
	// Set replaces what the provider declares. One bad declaration refuses the set.
	// Instances of a canvas that is no longer declared become stale; stale instances
	// of declared canvases are opened again.
	Set(set ...Declaration) error
	// SetReachable reports whether the provider can be asked. While it cannot, its
	// instances are stale and calls to it fail at once; what it declared stays listed.
	// When it is reachable again, its stale instances are opened again with the input
	// that they had.
	SetReachable(reachable bool)
	// Close removes the provider and its declarations. Its instances stay, stale,
	// until they are closed.
	Close()
}

// Declaration is a canvas that a provider offers: its name for people, its description
// for agents, the JSON Schema of its input, and its actions.
type Declaration = session.ClientCanvasDeclaration

// Action is an action of a canvas. Its name may not begin with "canvas.".
type Action = session.SessionCanvasAction
