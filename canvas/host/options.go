package host

import (
	"log/slog"
	"net"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// DefaultSession is the session that a host always has, the same over restarts.
const DefaultSession = "ahp-session:/default"

// Options configures a Host. The zero value listens on a free port of loopback
// with fresh tokens.
type Options struct {
	// Listener is what the host serves on; nil listens on 127.0.0.1:0. The host
	// closes it.
	Listener net.Listener
	// Origins are further web origins under which people reach the page, as in
	// https://canvas.example; the listener's own are known.
	Origins []string
	// ContentOrigin is the pattern of the origins that canvases get, as in
	// https://*.canvas.example; loopback needs none.
	ContentOrigin string

	// ViewToken opens the page and AHP, AgentToken those and the agent's door.
	// Empty ones are made up.
	ViewToken, AgentToken string

	// Tokens are further tokens, which may be good for one client id only.
	Tokens []ws.Token

	// MaxConnections is how many AHP connections there are at a time, a relay's
	// lanes included; default 16,384. MaxHTTP is how many connections the listener
	// has beside those; default 1,024. Both keep the process from running out of
	// files, of which each connection is one.
	MaxConnections, MaxHTTP int

	// Version is what clients are told about this host.
	Version string

	// Store keeps sessions, open canvases and what they saved over a restart; nil
	// keeps none. It is the caller's to close, after Serve.
	Store channels.Store

	// Limits bounds what providers, agents and Views may ask for, and Timeouts how
	// long a provider may take; zero fields have the defaults that they name.
	Limits   canvas.Limits
	Timeouts canvas.Timeouts
	// AllowSchemes are URL schemes that canvases may point to in addition to the usual
	// ones, without the colon: "file", "data".
	AllowSchemes []string

	Log    channels.Options // replay buffers
	Server server.Options   // Handshake, Grace, Remember, Peer limits; the rest is filled in
	Drain  time.Duration    // how long Serve waits for what is under way; default 10 s
	NewID  func() string    // default uuid.NewString
	Now    func() time.Time // default time.Now
	Logger *slog.Logger     // nil discards
}
