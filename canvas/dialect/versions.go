package dialect

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// Supported are the versions that a host reports if it speaks none of the offered ones.
var Supported = []string{"1.0.0", "0.10.0", "0.9.0", "0.6.0", "0.5.1"}

// row is a range of versions that this package speaks.
type row struct {
	speaks   func(v ahp.Version) bool
	canvases bool // the dialect has canvases
	chats    bool // a session's summary names its chats
	marks    bool // clients know that a chat can be read and archived
}

// rows are the dialects. A later version is one more row.
var rows = []row{
	{speaks: func(v ahp.Version) bool { return v.Major == 1 }, canvases: true, chats: true, marks: true},
	{speaks: func(v ahp.Version) bool { return v.Major == 0 && v.Minor == 10 }, canvases: true, marks: true},
	{speaks: func(v ahp.Version) bool { return v.Major == 0 && v.Minor == 9 }},
}

// Options configures the dialects of a host.
type Options struct {
	// Address returns the http or https URL at which a client can show an open canvas, or "".
	// nil has none. grant is that of the client's connection. It is called without locks, for
	// canvases that are ready, and must return at once. Its answers can change with the time:
	// each state that a client is sent has the answer of its moment.
	Address func(channel string, state canvas.CanvasState, grant ws.Grant) string
	// State returns the state of a channel of the host, for the links and cards of turns.
	// It is called without locks. nil has no channels.
	State func(channel string) (channels.State, bool)
	// Cards says which clients show canvases as cards.
	Cards Cards
	// Version is the host's version.
	Version string
}

// New returns the dialects for server.Options.Dialects. The log must have the kind of
// package session/chat.
func New(opts Options) server.Dialects { return &dialects{opts} }

type dialects struct{ opts Options }

// initializeParams are the members of initialize that choose a dialect.
type initializeParams struct {
	ProtocolVersions []string `json:"protocolVersions"`
	ClientInfo       struct {
		Name string `json:"name"`
	} `json:"clientInfo,omitzero"`
	Meta         map[string]ahp.Value `json:"_meta,omitzero"`
	Capabilities map[string]ahp.Value `json:"capabilities,omitzero"`
}

// direct reports whether the client declares capabilities.canvas.direct.
func (p initializeParams) direct() bool {
	var declared object
	raw, ok := p.Capabilities[ahp.CapabilityCanvas]
	return ok && ahp.Unmarshal(raw, &declared) == nil && string(declared["direct"]) == "true"
}

// choose returns the row of the highest offered version, and that version as it was
// offered. malformed is an offered string that is no version, if another one is a version
// from 0.9 on.
func choose(offered []string) (of *row, exact, malformed string) {
	var best ahp.Version
	later := false
	for _, text := range offered {
		v, ok := ahp.ParseVersion(text)
		if !ok {
			malformed = text
			continue
		}
		later = later || v.Compare(ahp.Version{Minor: 9}) >= 0
		if i := slices.IndexFunc(rows, func(r row) bool { return r.speaks(v) }); i >= 0 && (of == nil || v.Compare(best) > 0) {
			best, of, exact = v, &rows[i], text
		}
	}
	if !later {
		malformed = ""
	}
	return of, exact, malformed
}

// Negotiate implements [server.Dialects]. The highest offered version wins.
func (d *dialects) Negotiate(params ahp.Value) (server.Dialect, error) {
	var p initializeParams
	if ahp.Unmarshal(params, &p) != nil {
		return nil, nil // the handshake reports it
	}
	of, exact, malformed := choose(p.ProtocolVersions)
	_, _, own := ahp.Negotiate(p.ProtocolVersions)
	switch {
	case malformed != "":
		return nil, ahp.Errorf(ahp.CodeInvalidParams, "initialize: /protocolVersions: %.64q is not a version", malformed)
	case of != nil:
	case !own && len(p.ProtocolVersions) > 0:
		return nil, ahp.Errorf(ahp.CodeUnsupportedProtocolVersion, "unsupported protocol version").
			With(ahp.UnsupportedVersionData{SupportedVersions: Supported})
	case p.direct():
		return direct{d}, nil
	default:
		return nil, nil
	}
	_, uris := p.Meta["vscode.ahpSessionUris"]
	name := p.ClientInfo.Name
	return &dialect{
		dialects: d, row: of, exact: exact, cards: d.opts.Cards.showTo(name),
		legacy: strings.HasPrefix(name, "vscode-") && !uris,
	}, nil
}

// dialect is what a client negotiated.
type dialect struct {
	*dialects
	*row
	exact  string // as the client offered it
	legacy bool   // sessions are canvas:/ID
	cards  bool   // turns show canvases as cards

	// unnumbered counts the entries of chats, and the second forms of entries, that the client
	// was sent, also on earlier connections. They have no number in the host's sequence, so
	// every number that the client is sent is higher by it.
	unnumbered atomic.Int64
}

// Capabilities implements [server.Dialect].
func (d *dialect) Capabilities() []string {
	if d.canvases {
		return []string{ahp.CapabilityCanvas, chat.Capability}
	}
	return []string{chat.Capability}
}

// Translator implements [server.Dialect].
func (d *dialect) Translator(grant ws.Grant) server.Translator {
	return &translator{
		dialect: d, grant: grant, answers: map[string]translate{}, replaced: map[int64]ahp.Value{}, wanted: map[string]bool{},
		sessions: map[string]*mirror{}, instances: map[string]instance{},
	}
}
