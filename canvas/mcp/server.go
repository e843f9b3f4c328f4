package mcp

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The defaults of Options.
const (
	DefaultSessionTimeout = 30 * time.Minute
	DefaultMaxSessions    = 256
	DefaultMaxBody        = 1 << 20
	DefaultDrain          = 10 * time.Second
	// The longest wait stays below the 60 s after which common clients give a
	// call up.
	DefaultWait    = 25 * time.Second
	DefaultMaxWait = 50 * time.Second
)

// Options configures a Server; the zero value works.
type Options struct {
	// Session is the URI of the session that a call without one means. The
	// default is "ahp-session:/default".
	Session string
	// Link returns the address at which a person sees a session. It holds a
	// token: it goes into answers, never into a log. Nil gives none.
	Link func(session string) string
	// Version is what clients are told about this host.
	Version string
	// SessionTimeout ends an MCP session without requests; MaxSessions bounds
	// how many there are over HTTP; MaxBody bounds a request's body, in bytes.
	SessionTimeout time.Duration
	MaxSessions    int
	MaxBody        int64
	// Drain bounds how long ServeStdio waits for the calls under way when its
	// context is done; the default is 10 s.
	Drain time.Duration
	// Wait is how long wait_for_canvas_events waits where the call does not say;
	// MaxWait cuts what a call says.
	Wait, MaxWait time.Duration
	// HostChecked says that the Host header was compared with a list before the
	// handler is called. Without it, a listener on loopback answers only to
	// loopback names.
	HostChecked bool
	Logger      *slog.Logger // nil discards
}

// Server is the agent's door, over HTTP ([Handler]) and standard streams
// ([Server.ServeStdio]) at once. It is safe for concurrent use.
type Server struct {
	service Service // nil in a proxy
	opts    Options
	mcp     *sdk.Server
	calls   *gauge
	present present
	base    context.Context // done when Shutdown gives up waiting
	abandon context.CancelFunc
	closing context.Context // done when Shutdown begins
	retire  context.CancelFunc
}

// New returns a door to a service.
func New(service Service, opts Options) *Server {
	s := newServer(opts, &sdk.Implementation{Name: "ahp-canvas", Title: "Canvases of an Agent Host", Version: opts.Version}, instructions)
	s.service = service
	for _, t := range tools {
		s.add(t.describe(s.opts), func(ctx context.Context, args ahp.Value) (*sdk.CallToolResult, error) {
			a, err := t.run(s, ctx, args)
			if err != nil {
				return s.failure(ctx, t.name, err), nil
			}
			return result(a.text, ahp.MustMarshal(a.value), false), nil
		})
	}
	return s
}

// newServer is a door without tools.
func newServer(opts Options, who *sdk.Implementation, words string) *Server {
	opts.fill()
	s := &Server{opts: opts, calls: newGauge(), present: present{calls: map[string]map[*context.CancelFunc]struct{}{}}}
	s.base, s.abandon = context.WithCancel(context.Background())
	s.closing, s.retire = context.WithCancel(context.Background())
	s.mcp = sdk.NewServer(who, &sdk.ServerOptions{
		Instructions: words,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	return s
}

// add adds a tool. The context of a call ends with the client's cancellation or
// leave, and where Shutdown gives up waiting.
func (s *Server) add(t *sdk.Tool, run func(ctx context.Context, args ahp.Value) (*sdk.CallToolResult, error)) {
	s.mcp.AddTool(t, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.base, cancel)()
		defer s.present.enter(req.Session.ID(), cancel)()
		return run(ctx, ahp.Value(req.Params.Arguments))
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

// ServeStdio speaks MCP over a pair of streams, one JSON message a line, until
// in ends. When ctx is done it shuts the server down, which answers the calls
// under way, and returns nil after a clean end.
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
	<-ended // what it says then is only that it was ended
	return err
}

// Connect serves one client over a transport, for programs that embed an agent.
// The session lives until either side closes it.
func (s *Server) Connect(ctx context.Context, t sdk.Transport) (*sdk.ServerSession, error) {
	return s.mcp.Connect(ctx, counted{t, s.calls}, nil)
}

// Shutdown refuses new calls, waits until those under way are answered, and ends
// every session. Calls that wait for events are answered at once. When ctx is done it cancels the calls that are left, waits for
// them without an answer, and returns the context's error.
func (s *Server) Shutdown(ctx context.Context) error {
	var err error
	idle := s.calls.drain()
	s.retire()
	select {
	case <-idle:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.abandon()
	var wg sync.WaitGroup
	for session := range s.mcp.Sessions() {
		wg.Go(func() { _ = session.Close() }) // it says only how the stream ended
	}
	wg.Wait()
	return err
}
