package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// The roles of tokens (canvas.md section 9).
const (
	RoleView  = "view"
	RoleAgent = "agent"
)

// Host is everything behind one listener. Make it with New, end it by ending
// the context of Serve; a host that is not wanted after all is ended by a Serve
// whose context is done.
type Host struct {
	opts      Options
	addresses addresses
	guard     *ws.Guard
	log       *channels.Log
	numbers   *channels.Sequence
	sessions  *session.Service
	canvases  *engine.Engine
	server    *server.Server
	tools     *mcp.Server
	handler   http.Handler
	crowd     web.ConnLimiter // of the listener's connections that are none of AHP
	logger    *slog.Logger

	entering sync.Mutex
	full     atomic.Uint64 // AHP connections that were too many
}

// New listens, makes the services and the default session. Providers are
// registered with [Host.Canvases] before or after Serve.
func New(opts Options) (*Host, error) {
	if opts.Listener == nil {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("host: %w", err)
		}
		opts.Listener = ln
	}
	opts.ViewToken = cmp.Or(opts.ViewToken, rand.Text())
	opts.AgentToken = cmp.Or(opts.AgentToken, rand.Text())
	opts.Drain = cmp.Or(opts.Drain, 10*time.Second)
	opts.MaxConnections = cmp.Or(opts.MaxConnections, DefaultMaxConnections)
	if opts.NewID == nil {
		opts.NewID = uuid.NewString
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Host{opts: opts, logger: opts.Logger, addresses: addressesOf(opts), crowd: web.ConnLimiter{Max: opts.MaxHTTP}}
	if err := h.begin(); err != nil {
		return nil, errors.Join(err, opts.Listener.Close())
	}
	return h, nil
}

// begin reads what an earlier life has left, and makes the floors on it.
func (h *Host) begin() error {
	if h.opts.Store == nil {
		h.opts.Store = channels.NoStore
	}
	ctx := context.Background()
	records, err := channels.LoadRecords(ctx, h.opts.Store)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if h.numbers, err = channels.OpenSequence(ctx, h.opts.Store, records, h.logger); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	h.assemble()
	if err = h.restore(ctx, records); err == nil {
		err = h.route()
	}
	if err != nil {
		h.numbers.Close()
	}
	return err
}

// restore brings back sessions and canvases, and makes the default session.
func (h *Host) restore(ctx context.Context, records channels.Records) error {
	if err := h.canvases.Load(records); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := h.sessions.Restore(ctx, records, h.server.Expect); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := h.canvases.Restore(ctx); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := h.sessions.Ensure(DefaultSession, "Default session"); err != nil {
		return fmt.Errorf("host: default session: %w", err)
	}
	return nil
}

// assemble makes the floors from the ground up.
func (h *Host) assemble() {
	lo := h.opts.Log
	lo.Sequence = h.numbers
	h.log = channels.New(lo)
	h.canvases = engine.New(engine.Options{
		Log: h.log, Store: h.opts.Store, NewID: h.opts.NewID, Now: h.opts.Now, Logger: h.logger, Caller: caller{h},
		Limits: h.opts.Limits, Timeouts: h.opts.Timeouts, AllowSchemes: h.opts.AllowSchemes,
	})
	h.sessions = session.New(session.Options{
		Log: h.log, Now: h.opts.Now, Logger: h.logger, Store: h.opts.Store,
		Capabilities: func(id string) ahp.Capabilities { return h.server.Capabilities(id) },
		Prepare:      h.canvases.Prepare, Vet: h.canvases.Clients.Vet, After: h.canvases.Clients.Fold, BeforeDispose: h.canvases.CloseSession,
	})
	so := h.opts.Server
	so.Log, so.Logger, so.Presence, so.Connectivity = h.log, h.logger, h.sessions, h.canvases.Clients
	so.Methods = methods(h.sessions, h.canvases)
	so.Info = &ahp.ServerInfo{Name: "ahp-canvas", Version: h.opts.Version, Title: "Canvas host"}
	h.server = server.New(so)
}

// route makes the HTTP side: the page by host name, and the three doors.
func (h *Host) route() error {
	h.guard = &ws.Guard{
		Hosts: h.addresses.hosts, Origins: h.addresses.origins,
		// Under a name of its own it stands behind a proxy, which logs addresses.
		QueryToken: h.addresses.loopback && len(h.opts.Origins) == 0,
		Tokens: append([]ws.Token{
			{Secret: h.opts.ViewToken, Role: RoleView},
			{Secret: h.opts.AgentToken, Role: RoleAgent},
		}, h.opts.Tokens...),
	}
	h.tools = mcp.New(h.canvases, mcp.Options{
		Session: DefaultSession, Link: h.Link, Version: h.opts.Version, Logger: h.logger, HostChecked: true,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/ahp", h.serveAHP)
	mux.Handle("/mcp", h.guarded(mcp.Handler(h.tools), RoleAgent))
	mux.HandleFunc("GET "+proof.Path, h.serveProof)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	page, err := web.New(web.Options{AppOrigins: h.addresses.origins, ContentOrigin: h.opts.ContentOrigin, App: mux})
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	h.handler = page
	return nil
}

func (h *Host) serveAHP(w http.ResponseWriter, r *http.Request) {
	socket, grant, err := ws.Accept(w, r, ws.AcceptOptions{Guard: h.guard})
	if err != nil {
		h.logger.Info("connection refused", "err", err)
		return
	}
	h.ServeSocket(socket, grant.ClientID)
}

// guarded asks for a token of a role before a handler sees the request.
func (h *Host) guarded(next http.Handler, role string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, refusal := h.guard.Check(r, role); refusal != nil {
			h.logger.Info("request refused", "status", refusal.Status, "err", refusal)
			refusal.Write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Canvases is the canvas service: where providers are registered, and the Go
// API of the agent's door.
func (h *Host) Canvases() *Canvases { return &Canvases{h.canvases} }

// Sessions is the session service.
func (h *Host) Sessions() *session.Service { return h.sessions }

// Tools is the agent's door, to be served over something else than /mcp too.
func (h *Host) Tools() *mcp.Server { return h.tools }

// Log is the log under both, for a program that publishes actions of its own.
func (h *Host) Log() *channels.Log { return h.log }

// Serve serves until ctx is done and then drains; it returns nil after a clean
// drain. It is called once.
func (h *Host) Serve(ctx context.Context) error {
	srv := &http.Server{
		Handler:           h.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(h.logger.Handler(), slog.LevelDebug),
	}
	h.crowd.Watch(srv)
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(h.opts.Listener) }()
	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("host: %w", err), h.drain(srv))
	case <-h.numbers.Exhausted():
		err := h.drain(srv)
		<-failed
		return errors.Join(fmt.Errorf("host: %w: mend what the log says of the store, and start again", channels.ErrSequenceExhausted), err)
	case <-ctx.Done():
		err := h.drain(srv)
		<-failed
		return err
	}
}

// drain stops listening, answers what was accepted over AHP and MCP, and closes
// what is left.
func (h *Host) drain(srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), h.opts.Drain)
	defer cancel()
	var wg sync.WaitGroup
	var closed, answered, stopped error
	wg.Go(func() { stopped = srv.Shutdown(ctx) })
	wg.Go(func() { closed = h.server.Close(ctx) })
	wg.Go(func() { answered = h.tools.Shutdown(ctx) })
	wg.Wait()
	err := errors.Join(closed, answered, stopped, h.canvases.Shutdown(ctx), h.sessions.Shutdown(ctx), srv.Close())
	h.numbers.Close()
	return err
}

// caller reaches clients through the server, which is made after the services
// that call.
type caller struct{ h *Host }

func (c caller) Call(ctx context.Context, clientID string, within time.Duration, method string, params any) (ahp.Value, error) {
	return c.h.server.Call(ctx, clientID, within, method, params)
}

func (c caller) Capable(clientID, capability string) bool {
	return c.h.server.Capabilities(clientID).Has(capability)
}
