package serve

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/look"
	"github.com/ahp-canvas/ahp-canvas/canvas/onefile"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/page"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/listener"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/systemd"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// hosted is a host that is ready to serve, with everything that ends with it.
type hosted struct {
	host     *host.Host
	ln       net.Listener
	endpoint reach.Endpoint
	name     string // for --host of other commands
	folders  folders
	pages    *page.Provider // nil with --no-page
	actions  actionPages
	apps     apps
	aap      *aapAgents
	aam      *aamParts
	bridge   *bridgeEndpoint
	a2ui     *a2uiAgents
	browser  *look.Browser // nil without one
	tracer   *trace.Tracer // nil without --otlp
	unlist   func()        // removes the endpoint file
	uplink   *uplink       // nil without one

	publishing sync.Mutex // guards unlist and published while tokens are replaced
	published  reach.Published
	runtimeDir string

	state   *statedir.State
	store   channels.Store
	awaited []*webApp // to open when they run
	notes   []string  // for the person who started it
}

// starting is what a host needs before it exists.
type starting struct {
	options
	dir, runtimeDir string // for state, and for endpoint files
	version         string
	logger          *slog.Logger
	state           *statedir.State
	others          []reach.Published // hosts that run already
	manager         systemd.Manager
	ln              net.Listener
}

// start makes a host that is ready to serve and publishes its endpoint file. The caller
// must serve it, and then end it.
func start(env *term.Env, o options) (_ *hosted, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := starting{runtimeDir: userdir.Runtime(env.Getenv), dir: o.state, version: env.Version, manager: env.Manager, logger: env.Logger(o.logLevel)}
	if o.limits, err = o.limits.Fit(s.logger); err != nil {
		return nil, err
	}
	s.options = o
	if s.dir == "" {
		if s.dir, err = userdir.State(env.Getenv); err != nil {
			return nil, err
		}
	}
	if s.state, err = statedir.Open(s.dir); err != nil {
		return nil, err
	}
	h, err := s.start()
	if err != nil {
		s.state.Release()
		return nil, err
	}
	h.a2ui.follow(env.Note)
	return h, nil
}

func (s *starting) start() (_ *hosted, err error) {
	h := &hosted{state: s.state}
	if s.others, err = reach.Running(s.runtimeDir); err != nil {
		return nil, err
	}
	var note string
	if s.ln, note, err = s.listen(); err != nil {
		return nil, err
	}
	h.ln = s.ln
	if note != "" {
		h.notes = append(h.notes, note)
	}
	if h.store, err = s.state.OpenStore(s.dir, s.logger); err != nil {
		return nil, errors.Join(err, s.ln.Close())
	}
	tokens, err := s.state.Tokens()
	if err != nil {
		return nil, errors.Join(err, s.ln.Close(), h.store.Close())
	}
	browser, err := s.findBrowser(h)
	if err != nil {
		return nil, errors.Join(err, s.ln.Close(), h.store.Close())
	}
	workspace, err := workspaceURI(s.workspace)
	if err != nil {
		return nil, errors.Join(err, s.ln.Close(), h.store.Close())
	}
	h.tracer, _ = s.otlp.Tracer(s.version, s.logger) // start has checked it
	s.state.EnsureTicketKey()
	opts := s.hostOptions(h, tokens, browser)
	opts.Workspace, opts.Cards = workspace, s.cards
	if h.host, err = host.New(opts); s.state.UseSpare(err) {
		h.host, err = host.New(opts)
	}
	if err == nil {
		err = h.host.SetAddr(s.ln.Addr())
	}
	if err != nil {
		return nil, errors.Join(statedir.StoreError(err), s.ln.Close(), h.store.Close())
	}
	if err := s.furnish(h); err != nil {
		return nil, h.abandon(err)
	}
	if note := s.state.SpareNote(); note != "" {
		h.notes = append(h.notes, note)
	} else {
		s.state.KeepSpare()
	}
	return h, nil
}

func (s *starting) hostOptions(h *hosted, tokens *token.Store, browser host.Browser) host.Options {
	proxies, _ := s.limits.Trusted() // start has checked them
	allowed, _ := s.allowed()        // also checked
	var relayLink func(session string) string
	if s.uplink != nil {
		relayLink = s.uplink.page
	}
	return host.Options{
		Browser:      browser,
		AccessTokens: tokens, Rotated: h.rotated,
		Origins: s.origins, ContentOrigin: s.contentOrigin, ListenerFrames: s.content == reach.ContentListener,
		RelayLink: relayLink,
		ViewToken: s.state.ViewToken, AgentToken: s.state.AgentToken, Version: s.version,
		Document: onefile.Document, TicketKey: []byte(s.state.TicketKey), ListApps: s.mcpApps,
		AllowSchemes: s.schemes, AllowOrigins: allowed,
		Store: h.store, Logger: s.logger, Trace: h.tracer,
		MaxConnections: s.limits.AHP, MaxHTTP: s.limits.HTTP, Memory: int64(s.memory), Proxies: proxies,
	}
}

// findBrowser finds the browser for pictures. It starts none.
func (s *starting) findBrowser(h *hosted) (host.Browser, error) {
	path, err := look.Find(s.browser)
	if err != nil {
		return nil, term.Usagef("--browser: %v", err)
	}
	if path == "" {
		return nil, nil
	}
	h.browser = look.New(path)
	return h.browser, nil
}

// furnish registers what a host offers, and publishes its endpoint file.
func (s *starting) furnish(h *hosted) (err error) {
	if h.folders, err = registerFolders(h.host, s.canvases); err != nil {
		return err
	}
	if h.actions, err = registerActionPages(h.host, s.actionPages, bridgecanvas.FolderOptions{Scripts: s.bridge.scripts}); err != nil {
		return err
	}
	if h.pages, err = s.addPages(h.host); err != nil {
		return err
	}
	if h.apps, err = s.startApps(h.host.Canvases(), h.tracer); err != nil {
		return err
	}
	if h.aap, err = startAAP(h.host, s.aap, s.logger); err != nil {
		return err
	}
	h.notes = append(h.notes, h.aap.notes()...)
	if h.aam, err = startAAM(h.host, s.aam, s.dir, s.logger); err != nil {
		return err
	}
	h.notes = append(h.notes, h.aam.notes()...)
	if h.bridge, err = startBridge(h.host, s.bridge, s.state, s.logger); err != nil {
		return err
	}
	if h.a2ui, err = startA2UI(h.host, s.a2ui, s.logger); err != nil {
		return err
	}
	if err := keepPort(s.ln, s.state, s.others); err != nil {
		return err
	}
	h.endpoint = endpointOf(h.host)
	h.endpoint.ActionsBridge = h.bridge.link()
	if h.name, err = s.hostName(); err != nil {
		return err
	}
	if !listener.IsLoopback(s.ln.Addr()) && !s.behindTLS() {
		h.notes = append(h.notes, "other machines can reach this host, and their connections are not encrypted; unless you trust the network, put a TLS proxy in front of it or use a relay")
	}
	if h.uplink = s.uplink; s.uplink != nil {
		if err := s.uplink.prepare(s.state); err != nil {
			return err
		}
		h.notes = append(h.notes, s.uplink.notes()...)
		h.endpoint.Link = cmp.Or(s.uplink.link(host.DefaultSession), h.endpoint.Link)
	}
	h.runtimeDir = s.runtimeDir
	h.published = reach.Published{Endpoint: h.endpoint, Name: h.name, Started: time.Now(), Content: s.publishedContent()}
	h.unlist, err = reach.Publish(s.runtimeDir, h.published)
	return err
}

// rotated keeps a new token for the next start, and tells the commands on this machine.
func (h *hosted) rotated(role, secret string) error {
	h.publishing.Lock()
	defer h.publishing.Unlock()
	if err := h.state.SetToken(role, secret); err != nil {
		return err
	}
	e := &h.published.Endpoint
	if role == host.RoleAgent {
		e.AgentToken = secret
	} else {
		if e.Link == web.Link(e.Page, e.ViewToken, e.Session) { // not that of a relay
			e.Link = web.Link(e.Page, secret, e.Session)
		} else if h.uplink != nil {
			h.uplink.rotated(secret)
			e.Link = cmp.Or(h.uplink.link(e.Session), e.Link)
		}
		e.ViewToken = secret
	}
	h.unlist()
	unlist, err := reach.Publish(h.runtimeDir, h.published)
	if err != nil {
		unlist = func() {} // the commands do not find this host; it is served nevertheless
	}
	h.unlist = unlist
	return nil
}

// abandon ends a host that will not serve.
func (h *hosted) abandon(err error) error {
	err = errors.Join(err, h.host.Close(), h.ln.Close())
	h.closeCanvases()
	h.apps.close()
	h.aap.close()
	h.aam.close()
	h.bridge.close()
	h.a2ui.close()
	return errors.Join(err, h.store.Close())
}

// end cleans up after a host that has served. It returns once everything is on disk.
func (h *hosted) end() error {
	h.publishing.Lock()
	h.unlist()
	h.publishing.Unlock()
	h.closeCanvases()
	h.apps.close()
	h.aap.close()
	h.aam.close()
	h.bridge.close()
	h.a2ui.close()
	err := h.store.Close()
	h.state.KeepSpare() // the closed store needs less space
	h.state.Release()
	return err
}

// closeCanvases closes the providers that have something open, and the browser.
func (h *hosted) closeCanvases() {
	listener.CloseTracer(h.tracer)
	if h.browser != nil {
		_ = h.browser.Close() // nil
	}
	h.folders.close()
	h.actions.close()
	if h.pages != nil {
		h.pages.Close()
	}
}

func endpointOf(h *host.Host) reach.Endpoint {
	at := h.Endpoints()
	view, agent := h.Tokens()
	return reach.Endpoint{
		Link: h.Link(host.DefaultSession), Page: at.Page, AHP: at.AHP, MCP: at.MCP,
		ViewToken: view, AgentToken: agent, Session: host.DefaultSession, PID: os.Getpid(),
	}
}
