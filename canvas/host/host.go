package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
	"github.com/ahp-canvas/ahp-canvas/canvas/dialect"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/gateway"
	"github.com/ahp-canvas/ahp-canvas/canvas/history"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// The roles of tokens (canvas/PROTOCOL.md section 9.2). All open the page and AHP.
const (
	// RoleRead sees everything and changes nothing.
	RoleRead = access.Read
	// RoleLook is RoleRead for a program that makes pictures of canvases.
	RoleLook = access.Look
	// RoleView is the role of people: they use canvases and can ask for a close.
	RoleView = access.View
	// RoleClient is the role of editors: they also declare canvases, and create sessions.
	RoleClient = access.Client
	// RoleAgent is the role of agents: they may do everything, and use MCP.
	RoleAgent = access.Agent
)

// Host is a host of canvases: an http.Handler that serves the page, AHP and MCP. Make
// it with [New], serve it with [Host.Serve], [Host.ListenAndServe] or an http.Server of
// the program, and end it with [Host.Close]. Its methods may be called concurrently.
type Host struct {
	opts     Options
	log      *channels.Log
	sequence *channels.Sequence
	stuck    <-chan struct{} // closed when the sequence is exhausted
	sessions *session.Service
	canvases *engine.Engine
	history  *history.History // what happened, for people
	server   *server.Server
	tools    *mcp.Server
	apps     *appview.Apps // nil if chats show nothing
	logger   *slog.Logger
	memory   *budget.Ledger
	allowed  allow.Lists // what canvases may load from besides their own origin

	keys      *keys
	invited   invitations
	audit     *audit
	expiring  sync.WaitGroup // the goroutine of expire
	closed    chan struct{}  // ends it
	looks     chan struct{}  // holds one value for each Look that runs
	rotating  sync.Mutex     // held while a token is replaced
	sites     *sites
	endpoints *http.ServeMux // the host's own paths
	extra     *http.ServeMux // patterns of Handle
	gateway   *gateway.Gateway
	served    http.Handler // gateway, with a limit for stalled bodies
	views     *viewServer

	conns    web.ConnLimiter // HTTP connections of Serve's listener
	entering sync.Mutex
	counts   connCounts
	full     atomic.Uint64 // AHP connections over a limit

	closing atomic.Bool
	drained func() error // drains once

	mu  sync.Mutex
	srv *http.Server // of Serve; nil before
}

// New makes a host with the default session. It opens no listener. It reads
// Options.Store: sessions and canvases of a host before it are restored.
func New(opts Options) (*Host, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	opts = opts.withDefaults()
	allowed, err := allow.New(opts.AllowOrigins)
	if err != nil {
		return nil, fmt.Errorf("host: AllowOrigins: %w", err)
	}
	h := &Host{opts: opts, allowed: allowed, logger: opts.Logger, memory: budget.New(opts.Memory), conns: web.ConnLimiter{Max: opts.MaxHTTP, Proxies: opts.Proxies}}
	h.keys, h.audit = newKeys(&h.opts), newAudit(&h.opts)
	h.sites = newSites(&h.opts, allowed, h.keys, http.HandlerFunc(h.serveApp))
	h.closed, h.looks = make(chan struct{}), make(chan struct{}, looksAtOnce)
	h.drained = sync.OnceValue(h.drain)
	if err := h.begin(); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	h.expiring.Go(func() { h.expire(h.closed) })
	return h, nil
}

// begin reads the store and builds the services on it.
func (h *Host) begin() error {
	ctx := context.Background()
	records, err := channels.LoadRecords(ctx, h.opts.Store)
	if err != nil {
		return err
	}
	if h.sequence, err = channels.OpenSequence(ctx, h.opts.Store, records, h.logger); err != nil {
		return err
	}
	h.stuck = h.sequence.Exhausted()
	h.assemble()
	h.route()
	if err = h.restore(ctx, records); err == nil {
		err = h.sites.useOrigins()
	}
	if err != nil {
		h.gateway.Close()
		h.views.close()
		h.sequence.Close()
	}
	return err
}

// restore restores sessions and canvases, and makes the default session.
func (h *Host) restore(ctx context.Context, records channels.Records) error {
	if err := errors.Join(h.canvases.Load(records), h.history.Load(records)); err != nil {
		return err
	}
	if err := h.sessions.Restore(ctx, records, h.server.Expect); err != nil {
		return err
	}
	if err := h.canvases.Restore(ctx); err != nil {
		return err
	}
	h.history.Keep(func(uri string) bool { _, exists := h.log.State(uri); return exists })
	return h.EnsureSession(DefaultSession, "Default session")
}

// assemble makes the services, from the log upwards.
func (h *Host) assemble() {
	lo := h.opts.Log
	lo.Sequence, lo.Memory = h.sequence, h.memory
	h.log = channels.New(lo)
	h.history = history.New(history.Options{Log: h.log, Store: h.opts.Store, Now: h.opts.Now, Logger: h.logger})
	h.canvases = engine.New(engine.Options{
		Log: h.log, Store: h.opts.Store, NewID: h.opts.NewID, Now: h.opts.Now, Logger: h.logger, Caller: caller{h},
		Limits: h.opts.Limits, Timeouts: h.opts.Timeouts, AllowSchemes: h.opts.AllowSchemes, Allowed: h.allowed,
		Memory: h.memory, Files: canvasFiles(), History: h.history, Trace: h.opts.Trace,
		Opened: func(tx *channels.Tx, session, channel string) { chat.Opened(tx, session, channel, h.opts.Now()) },
	})
	h.sessions = session.New(session.Options{
		Log: h.log, Now: h.opts.Now, Logger: h.logger, Store: h.opts.Store, Memory: h.memory,
		Capabilities: func(id string) ahp.Capabilities { return h.server.Capabilities(id) },
		Token:        func(id string) string { return h.server.Token(id) },
		Prepare:      h.prepare, Vet: h.canvases.Clients.Vet, After: h.canvases.Clients.Fold, BeforeDispose: h.canvases.CloseSession,
	})
	h.log.AddKind(chat.Kind(chat.Options{Now: h.opts.Now, Prompt: h.prompted}))
	so := h.opts.Server
	h.openGateway()
	so.Dialects = dialect.New(dialect.Options{Address: h.address, Cards: h.opts.Cards, State: h.log.State, Version: h.opts.Version})
	so.Memory = h.memory
	so.Log, so.Logger, so.Presence, so.Connectivity = h.log, h.logger, h.sessions, h.canvases.Clients
	so.Methods, so.Roles, so.ValidToken, so.MayUse, so.Audit = methods(h.sessions, h.canvases, &people{log: h.log, host: h}, h.history, h.direct), true, h.keys.valid, h.keys.mayUse, h.audit.act
	so.Credentials = shownTokens{h}
	so.Info = &ahp.ServerInfo{Name: "ahp-canvas", Version: h.opts.Version, Title: "Canvas host"}
	h.server = server.New(so)
	h.apps = h.newApps()
	h.tools = mcp.New(h.canvases, mcp.Options{
		Apps: h.apps, List: h.opts.ListApps,
		Session: DefaultSession, Link: h.inviteFor, People: h.People, Present: h.Present, Called: h.audit.tool, Caller: h.caller, Look: h.Look,
		Version: h.opts.Version, Logger: h.logger, HostChecked: true, Refused: web.Refused,
	})
}

// prepare gives a session its canvases, and the default session its folder, also if it was
// stored without it or with another one.
func (h *Host) prepare(tx *channels.Tx, uri string, st session.State) session.State {
	if h.opts.Workspace != "" && uri == DefaultSession {
		st.WorkingDirectory = &h.opts.Workspace
	}
	return h.canvases.Prepare(tx, uri, st)
}

// prompted gives agents what a person wrote in the chat of a session.
func (h *Host) prompted(session, text, clientID string) {
	h.sessions.Used(session)
	event := ahp.MustMarshal(struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
		From string `json:"from"`
	}{"prompt", text, clientID})
	if err := h.canvases.Raise(session, event); err != nil {
		h.logger.Warn("a person's message did not reach the agents", "session", session, "error", err)
	}
}

// canvasFiles returns the files that are content of every instance: the module that
// pages import, for renderers that do not have it.
func canvasFiles() map[string]canvas.Content {
	script := web.CanvasScript("canvas.js")
	etag := fmt.Sprintf("%x", sha256.Sum256(script))
	return map[string]canvas.Content{".ahp/canvas.js": {Data: script, ContentType: "text/javascript; charset=utf-8", ETag: etag}}
}

// EnsureSession makes a session with a title, unless the session exists. Clients make
// sessions over AHP; DefaultSession always exists.
func (h *Host) EnsureSession(uri, title string) error {
	if err := h.sessions.Ensure(uri, title); err != nil {
		return fmt.Errorf("session %q: %w", uri, err)
	}
	return nil
}

// Tokens returns the view token and the agent token.
func (h *Host) Tokens() (view, agent string) { return h.keys.base() }

// caller calls clients through the server, which is made after the services that call.
type caller struct{ h *Host }

func (c caller) Call(ctx context.Context, clientID string, within time.Duration, method string, params any) (ahp.Value, error) {
	return c.h.server.Call(ctx, clientID, within, method, params)
}

func (c caller) Connection(clientID string) *channels.Subscriber {
	return c.h.server.Connection(clientID)
}

func (c caller) Capable(clientID, capability string) bool {
	return c.h.server.Capabilities(clientID).Has(capability)
}
