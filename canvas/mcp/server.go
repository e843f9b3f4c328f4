package mcp

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
)

// The defaults of Options.
const (
	// DefaultSessionTimeout is the default of Options.SessionTimeout.
	DefaultSessionTimeout = 30 * time.Minute
	// DefaultMaxSessions is the default of Options.MaxSessions.
	DefaultMaxSessions = 256
	// DefaultMaxBody is the default of Options.MaxBody.
	DefaultMaxBody = 1 << 20
	// DefaultDrain is the default of Options.Drain.
	DefaultDrain = 10 * time.Second
	// DefaultWait is the default of Options.Wait.
	DefaultWait = 25 * time.Second
	// DefaultMaxWait is the default of Options.MaxWait. It is below the 60 s after
	// which common clients give up.
	DefaultMaxWait = 50 * time.Second
)

// Options configures a Server. The zero value is valid.
type Options struct {
	// Session is the URI of the default session, "ahp-session:/default" if empty.
	Session string
	// Link returns the address at which a person can see a session, or "" if a person
	// sees it already. It should be an invitation, which is good once, because the agent
	// keeps it in its context; it appears in results and never in a log. If Link is nil,
	// results have no link.
	Link func(session string) string
	// People returns how many people look at a session. If it is nil, results do not say.
	People func(session string) int
	// Present returns the people who look at a session, with the names that they chose. If
	// it is nil, results have no names.
	Present func(session string) []canvas.Person
	// Called is called after each call of a tool, with the instance or the canvas that it
	// named. It must return at once. It may be nil.
	Called func(ctx context.Context, tool, target string, err error)
	// Caller returns the name of a request's token, "" if it has none. It is nil if the
	// endpoint does not tell agents apart.
	Caller func(ctx context.Context) string
	// Look returns what people see of a canvas. If it is nil, there is no tool for it.
	Look func(ctx context.Context, args canvas.LookArgs) (canvas.Look, error)
	// Apps shows canvases in chats (MCP Apps). If it is nil, clients get links only.
	Apps *appview.Apps
	// List says which clients see the tools of Apps in a list; the default is AppsAuto.
	List AppList
	// Version is the host's version for clients.
	Version string
	// SessionTimeout is how long an MCP session can be without requests before it ends.
	SessionTimeout time.Duration
	// MaxSessions is the limit of MCP sessions over HTTP. At the limit a new one replaces
	// the one without an active call that was used least recently.
	MaxSessions int
	// MaxBody is the limit of a request's body, in bytes.
	MaxBody int64
	// Drain is how long ServeStdio waits for active calls when its context is canceled.
	Drain time.Duration
	// Wait is the default timeout of wait_for_canvas_events.
	Wait time.Duration
	// MaxWait is the limit of that timeout; a longer one is reduced to it.
	MaxWait time.Duration
	// HostChecked declares that the Host header is checked before the handler is
	// called. Otherwise a listener on loopback accepts only loopback names.
	HostChecked bool
	// Refused is called before a request is refused because there are too many. It may wait,
	// so that a client that asks again at once costs little. It may be nil.
	Refused func(*http.Request)
	// Logger receives unexpected failures; nil discards them.
	Logger *slog.Logger
}

// Server is the agent's endpoint, over HTTP ([Handler]) and standard streams
// ([Server.ServeStdio]). It is safe for concurrent use.
type Server struct {
	service      Service // nil in a proxy
	opts         Options
	mcp          *sdk.Server
	calls        *inFlight
	sessionCalls sessionCalls
	uses         sessionUse
	singles      atomic.Int64    // active requests without a session
	base         context.Context // done when Shutdown gives up waiting
	cancelCalls  context.CancelFunc
	closing      context.Context // done when Shutdown begins
	stopWaits    context.CancelFunc
}

// New returns a Server with the tools of a service.
func New(service Service, opts Options) *Server {
	if opts.List == AppsNever {
		opts.Apps = nil
	}
	s := newServer(opts, &sdk.Implementation{Name: "ahp-canvas", Title: "Canvases of an Agent Host", Version: opts.Version}, instructions, opts.Apps != nil)
	s.service = service
	for _, t := range tools {
		if t.name == ToolLook && opts.Look == nil {
			continue
		}
		s.add(t.describe(s.opts), func(ctx context.Context, args ahp.Value) (*sdk.CallToolResult, error) {
			a, err := t.run(s, ctx, args)
			s.called(ctx, t.name, args, err)
			if err != nil {
				return s.failure(ctx, t.name, err), nil
			}
			r := withPicture(result(a.text, ahp.MustMarshal(a.value), false), a.value)
			r.Meta = a.meta
			return r, nil
		})
	}
	if opts.Apps != nil {
		s.addApps()
	}
	return s
}

// called reports a call that is not read-only to Options.Called.
func (s *Server) called(ctx context.Context, tool string, args ahp.Value, err error) {
	if s.opts.Called == nil || tool == ToolList || tool == ToolListOpen || tool == ToolWait {
		return
	}
	var what struct {
		InstanceID string `json:"instanceId,omitzero"`
		CanvasID   string `json:"canvasId,omitzero"`
	}
	_ = ahp.Unmarshal(args, &what) // arguments that cannot be read were refused
	s.opts.Called(ctx, tool, cmp.Or(what.InstanceID, what.CanvasID), err)
}

// newServer returns a Server without tools. apps says whether it shows canvases in chats.
func newServer(opts Options, who *sdk.Implementation, words string, apps bool) *Server {
	opts.fill()
	s := &Server{opts: opts, calls: newInFlight(), sessionCalls: sessionCalls{calls: map[string]map[*context.CancelFunc]struct{}{}}, uses: sessionUse{used: map[string]*use{}}}
	s.base, s.cancelCalls = context.WithCancel(context.Background())
	s.closing, s.stopWaits = context.WithCancel(context.Background())
	can := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}
	if apps {
		can.Resources = &sdk.ResourceCapabilities{}
		can.AddExtension(appsExtension, appsSettings())
	}
	s.mcp = sdk.NewServer(who, &sdk.ServerOptions{Instructions: words, Capabilities: can})
	if apps {
		s.mcp.AddReceivingMiddleware(s.listForClient)
	}
	return s
}

// add adds a tool. A call's context is canceled if the client cancels the call or ends
// its session, and when Shutdown stops waiting.
func (s *Server) add(t *sdk.Tool, run func(ctx context.Context, args ahp.Value) (*sdk.CallToolResult, error)) {
	s.mcp.AddTool(t, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.base, cancel)()
		defer s.sessionCalls.enter(req.Session.ID(), cancel)()
		return run(withMeta(withCaller(withProgress(ctx, req), req), req), ahp.Value(req.Params.Arguments))
	})
}

func (o *Options) fill() {
	if o.Session == "" {
		o.Session = "ahp-session:/default"
	}
	if o.Link == nil {
		o.Link = func(string) string { return "" }
	}
	if o.SessionTimeout <= 0 {
		o.SessionTimeout = DefaultSessionTimeout
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Drain <= 0 {
		o.Drain = DefaultDrain
	}
	if o.MaxWait <= 0 {
		o.MaxWait = DefaultMaxWait
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	o.Wait = min(o.Wait, o.MaxWait)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// ServeStdio serves MCP over a pair of streams, one JSON message per line, until in
// ends. When ctx is canceled it shuts the server down: active calls are answered within
// Options.Drain. It returns nil after a clean shutdown.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	session, err := s.Connect(context.WithoutCancel(ctx), &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: int(s.opts.MaxBody)})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Drain)
	defer cancel()
	err = s.Shutdown(drain)
	<-ended // its error only says that the session was closed
	return err
}

// Connect serves one client over a transport, for programs that embed an agent. The
// session lasts until either side closes it.
func (s *Server) Connect(ctx context.Context, t sdk.Transport) (*sdk.ServerSession, error) {
	return s.mcp.Connect(ctx, countingTransport{t, s.calls}, nil)
}

// Shutdown refuses new calls, waits until active calls are answered, and ends all
// sessions. Calls that wait for events return at once. When ctx is canceled, Shutdown
// cancels the remaining calls, which get no answer, waits for them, and returns the
// context's error.
func (s *Server) Shutdown(ctx context.Context) error {
	var err error
	idle := s.calls.drain()
	s.stopWaits()
	select {
	case <-idle:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.cancelCalls()
	var wg sync.WaitGroup
	for session := range s.mcp.Sessions() {
		wg.Go(func() { _ = session.Close() }) // the error only says how the stream ended
	}
	wg.Wait()
	return err
}
