package host

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/remote"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
	"github.com/ahp-canvas/ahp-canvas/canvas/dialect"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// DefaultSession is the session that a host always has.
const DefaultSession = "ahp-session:/default"

// DefaultMaxConnections is the default of Options.MaxConnections. A connection takes
// about 11 KiB.
const DefaultMaxConnections = 16384

// Options configures a Host. The zero value is valid: random tokens, nothing stored.
type Options struct {
	// Origins are web origins under which people reach the page, for example
	// https://canvas.example; links name the first. They are needed behind a proxy, or
	// if the program's own server is reached by another name than localhost. The
	// address of [Host.Serve]'s listener is known without them. One can have a path,
	// which a proxy removes before it forwards a request: the page then works under
	// it, and links name it. Other pages of that origin can read the page's token.
	// [EditorOrigin] lets VS Code's desktop windows connect from other machines.
	Origins []string
	// ContentOrigin is the pattern of the origins that canvases get, for example
	// https://*.canvas.example, with wildcard DNS and certificate. On loopback it is
	// not needed; elsewhere, without it, a canvas is a single document.
	ContentOrigin string
	// ListenerFrames has the page show web apps at their addresses on the host's listener
	// (package gateway), where it reaches them, and not through the channel: they then have
	// WebSockets, and storage that lasts. Clients of AHP 1.x have the addresses anyway.
	ListenerFrames bool
	// Ready is called by [Host.Serve] once, with the link of the default session, when
	// the address is known. The link holds the view token: show it to the person, and
	// do not log it.
	Ready func(link string)

	// RelayLink returns the address of a session's page at a relay, or "". Invitations also
	// get a link there. It may be nil.
	RelayLink func(session string) string

	// ViewToken is for people: it opens the page and AHP. If empty, it is random.
	ViewToken string
	// AgentToken is for agents: it opens MCP too. If empty, it is random.
	AgentToken string
	// Tokens are further tokens, which may be limited to one client id. An editor or
	// another client that provides canvases needs one of RoleClient. A role that is none
	// of the host's opens only patterns of [Host.Handle].
	Tokens []ws.Token
	// AccessTokens are tokens that can be listed and revoked, and that expire, also those
	// of browsers that opened an invitation. Nil keeps them in memory; [token.Open] keeps
	// them in a file.
	AccessTokens *token.Store
	// Rotated stores a new view or agent token, before [Host.RotateToken] uses it. Nil
	// means that the program keeps its tokens elsewhere.
	Rotated func(role, secret string) error

	// Workspace is the URI of the working directory of the default session, for example
	// file:///home/ann/project: a window of an editor lists the sessions of its folders. If
	// empty, the session keeps what it has.
	Workspace string
	// Cards says which clients of later versions of AHP show canvases as cards in the chat
	// of a session; the others get links.
	Cards dialect.Cards

	// Browser makes the pictures of [Host.Look]; nil makes none. canvas/look has one. The
	// caller closes it after the host.
	Browser Browser

	// Document makes one text of a canvas's document, with which chats show canvases (MCP
	// Apps); onefile.Document does. If it is nil, a chat shows a card with a link for each
	// canvas.
	Document appview.Document
	// TicketKey is the key of the tickets with which pages in chats show canvases. If it is
	// empty, it is random: a chat of before a restart then shows nothing.
	TicketKey []byte
	// ListApps says which MCP clients see the tools of these pages in lists; mcp.AppsNever
	// means that there are none.
	ListApps mcp.AppList

	// Store keeps sessions, open canvases and their saved data over a restart; nil
	// keeps nothing. The caller closes it after the host.
	Store channels.Store

	// Memory is how many bytes clients can make the host hold: messages that are being
	// read or sent, content, compiled schemas, remembered clients, what they keep in
	// sessions. Above half of it the connections that hold most are closed, and above
	// three quarters new work is refused. The default is a quarter of the machine's memory
	// or of the process's control group, at most 2 GiB; the least is 64 MiB. It is not a
	// limit of the process, see [runtime/debug.SetMemoryLimit].
	Memory int64
	// MaxConnections limits AHP connections, those through a relay included. The
	// default is [DefaultMaxConnections].
	MaxConnections int
	// MaxHTTP limits the other connections of Serve's listener; default 1,024.
	MaxHTTP int
	// Proxies are the proxies whose X-Forwarded-For counts, for limits by address
	// ([web.ConnLimiter]). Without them all clients of a proxy are one address.
	Proxies remote.Proxies
	// Limits limits what providers, agents and Views can use.
	Limits canvas.Limits
	// Timeouts limits how long a provider can take.
	Timeouts canvas.Timeouts
	// Log limits the replay buffers. The host sets FirstSeq and Sequence.
	Log channels.Options
	// Server limits AHP connections. The host sets Log, Methods, Presence,
	// Connectivity, Info and Logger.
	Server server.Options
	// AllowSchemes are further URL schemes that canvases can point to, for example
	// "file", without the colon.
	AllowSchemes []string
	// AllowOrigins are origins that canvases may load from besides their own, by the id of a
	// canvas or of an extension: {"notes": {"https://cdn.example", "wss://*.example.org"}}.
	// They count for canvases of this host's own providers. The page names them on the card.
	AllowOrigins map[string][]string
	// Drain is how long Close waits for active requests; default 10 s.
	Drain time.Duration

	// Version is the program's version for clients.
	Version string
	// Trace records what agents and people do with canvases; nil records nothing.
	Trace *trace.Tracer
	// Logger receives refused requests and failures, never a token. Nil discards them.
	Logger *slog.Logger
	// NewID makes unique ids, for tests; the default is uuid.NewString.
	NewID func() string
	// Now is the clock, for tests; the default is time.Now.
	Now func() time.Time

	lookToken string // for the page of Browser
}

// check refuses members of nested options that the host sets itself.
func (o *Options) check() error {
	s := &o.Server
	switch {
	case o.Log.FirstSeq != 0 || o.Log.Sequence != nil:
		return errors.New("the host sets FirstSeq and Sequence of Options.Log: leave them empty")
	case o.Memory < 0 || o.Memory > 0 && o.Memory < budget.Least:
		return fmt.Errorf("Options.Memory is %d bytes: the host needs at least %d", o.Memory, budget.Least)
	case s.Memory != nil || o.Log.Memory != nil:
		return errors.New("the host sets Memory of Options.Log and Options.Server: set Options.Memory")
	case s.Log != nil || s.Methods != nil || s.Presence != nil || s.Connectivity != nil || s.Info != nil || s.Logger != nil:
		return errors.New("the host sets Log, Methods, Presence, Connectivity, Info and Logger of Options.Server: leave them empty")
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.ViewToken = cmp.Or(o.ViewToken, rand.Text())
	o.AgentToken = cmp.Or(o.AgentToken, rand.Text())
	o.lookToken = rand.Text()
	o.Drain = cmp.Or(o.Drain, 10*time.Second)
	o.Memory = cmp.Or(o.Memory, budget.OfMachine())
	o.MaxConnections = cmp.Or(o.MaxConnections, DefaultMaxConnections)
	if o.AccessTokens == nil {
		o.AccessTokens = token.New()
	}
	if o.Store == nil {
		o.Store = channels.NoStore
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
