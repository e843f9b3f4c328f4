package mcpapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/process"
)

const (
	maxTools   = 1024
	maxLine    = 32<<20 - 4<<10 // of a message on standard output: above it, its decoder would take 64 MiB more
	maxEvent   = 16 << 20       // of a message over HTTP
	maxPage    = 16 << 20       // of a UI resource
	maxResult  = 16 << 20       // to a View
	logLine    = 4 << 10        // of a server's log message
	extension  = "io.modelcontextprotocol/ui"
	appMIME    = "text/html;profile=mcp-app"
	clientName = "ahp-canvas"
)

// conn is one connection to a server. It is lost when the connection or the program ends.
type conn struct {
	running *Running
	session *sdk.ClientSession
	child   *process.Process // nil with a URL
	ctx     context.Context  // done when the connection is closed
	cancel  context.CancelFunc
	tasks   sync.WaitGroup // goroutines of the connection
	lost    chan struct{}
	losing  sync.Once

	mu     sync.Mutex
	listed []*sdk.Tool          // the tools as listed last, sorted as the server has them
	pages  map[string]*resource // UI resources by URI, until the list changes
	metas  map[string]sdk.Meta  // _meta of listed resources, by URI
}

// connect starts the program if there is one, initializes the session and lists the tools.
func (g *Running) connect(ctx context.Context) (_ *conn, err error) {
	c := &conn{running: g, lost: make(chan struct{}), pages: map[string]*resource{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	early, cancel := context.WithTimeout(c.ctx, g.runner.opts.Start)
	defer cancel()
	transport, err := c.transport()
	if err != nil {
		c.cancel()
		return nil, err
	}
	if c.session, err = c.client().Connect(early, transport, nil); err == nil {
		c.tasks.Go(func() { _ = c.session.Wait(); c.markLost() })
		err = c.list(early)
	}
	if err == nil {
		return c, nil
	}
	if early.Err() != nil && ctx.Err() == nil {
		err = errSlow
	}
	if ended := c.close(); c.child != nil && ended != nil {
		return nil, fmt.Errorf("%s%s", reason(err), ended.Error())
	}
	return nil, errors.New(reason(err))
}

// reason is why a start failed, as a beginning of a text. A program that ended explains
// it better than the pipe that broke.
func reason(err error) string {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return ""
	}
	return err.Error() + ". "
}

// client returns the MCP client of a connection. It has UI and no other capability.
func (c *conn) client() *sdk.Client {
	caps := &sdk.ClientCapabilities{}
	caps.AddExtension(extension, map[string]any{"mimeTypes": []string{appMIME}})
	return sdk.NewClient(&sdk.Implementation{Name: clientName, Version: c.running.runner.opts.Version}, &sdk.ClientOptions{
		Capabilities: caps,
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			c.tasks.Go(func() { c.running.listChanged(c) })
		},
		//lint:ignore SA1019 servers of today log this way, and will for at least a year
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) {
			text := fmt.Sprint(r.Params.Data)
			c.running.log.Note("%s: %s", r.Params.Level, oneLine(text, logLine))
		},
	})
}

// transport starts the program, or prepares the HTTP client.
func (c *conn) transport() (sdk.Transport, error) {
	s := c.running.server
	if s.URL != "" {
		return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: c.http(), MaxRetries: -1, MaxEventSize: maxEvent}, nil
	}
	r := c.running.runner
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Env = r.environment(s)
	child, err := process.Start(cmd, r.starter, c.running.log)
	if err != nil {
		return nil, notStarted(s.Command[0], err)
	}
	c.child = child
	c.running.log.Note("process %d started", child.PID())
	return &sdk.IOTransport{Reader: child.Stdout, Writer: child.Stdin, MaxLineLength: maxLine}, nil
}

// notStarted explains why a program could not be started.
func notStarted(name string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("there is no program %q on the PATH", name)
	}
	return fmt.Errorf("it could not be started: %w", err)
}

// http returns the client for a URL: no proxy, no redirect, and the server's header.
func (c *conn) http() *http.Client {
	out := outbound.New(outbound.Options{Loopback: true, Stream: true})
	context.AfterFunc(c.ctx, func() { _ = out.Close() })
	return &http.Client{
		Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context())
			for name, values := range c.running.server.Header {
				req.Header[http.CanonicalHeaderKey(name)] = values
			}
			return out.Do(req)
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// markLost marks the connection lost: it is not used for further requests.
func (c *conn) markLost() { c.losing.Do(func() { close(c.lost) }) }

// close ends the connection and the program, and waits for both. It returns why the
// program ended, with its last words; nil for a URL.
func (c *conn) close() error {
	c.markLost()
	c.cancel()
	if c.child == nil {
		if c.session != nil {
			_ = c.session.Close()
		}
		c.tasks.Wait()
		return errors.New("the connection was lost")
	}
	ended := make(chan error, 1)
	go func() { ended <- c.child.Wait(nil) }()
	select {
	case <-c.child.Exited():
	default:
		c.child.End(func() {
			if c.session == nil {
				_ = c.child.Stdin.Close()
			} else {
				go func() { _ = c.session.Close() }() // waits for pending calls; ends with the pipes
			}
		})
	}
	err := <-ended
	_ = c.child.Stdin.Close()
	_ = c.child.Stdout.Close()
	if c.session != nil {
		_ = c.session.Close()
	}
	c.tasks.Wait()
	c.child.Release()
	return c.exitError(err)
}

// exitError returns why the program ended, with the end of its output.
func (c *conn) exitError(err error) error {
	text := "it ended"
	if err != nil {
		text = "it ended with " + err.Error()
	}
	if last := c.child.LastWords(); last != "" {
		text += ". Its last output:\n" + last
	}
	return errors.New(strings.TrimSpace(text))
}

// list lists the tools, all pages of them.
func (c *conn) list(ctx context.Context) error {
	var tools []*sdk.Tool
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		if tools = append(tools, tool); len(tools) > maxTools {
			return fmt.Errorf("it lists more than %d tools", maxTools)
		}
	}
	metas := map[string]sdk.Meta{}
	if c.hasResources() {
		for r, err := range c.session.Resources(ctx, nil) {
			if err != nil || len(metas) >= maxTools {
				break // what a listing adds is optional
			}
			metas[r.URI] = r.Meta
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed, c.metas, c.pages = tools, metas, map[string]*resource{}
	return nil
}

// hasResources reports whether the server declared resources.
func (c *conn) hasResources() bool {
	r := c.session.InitializeResult()
	return r != nil && r.Capabilities != nil && r.Capabilities.Resources != nil
}

func (c *conn) tools() []*sdk.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed
}

// tool returns a listed tool, or nil.
func (c *conn) tool(name string) *sdk.Tool {
	for _, t := range c.tools() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// errLostCall is the result of a call whose connection ended before the answer. Nothing
// that was sent is sent again.
var errLostCall = canvas.Errorf(canvas.CodeProviderUnavailable, "the connection was lost; it may have happened")

// errBusy refuses a call above the limit of pending ones.
var errBusy = canvas.Errorf(canvas.CodeLimitExceeded, "the server has %d pending calls, which is the limit", maxCalls)

// call runs one request of the session, unless the server has too many. A request is sent
// once.
func call[R any](ctx context.Context, c *conn, limit time.Duration, fn func(context.Context) (R, error)) (R, error) {
	var none R
	select {
	case c.running.slots <- struct{}{}:
		defer func() { <-c.running.slots }()
	default:
		return none, errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	out, err := fn(ctx)
	if err != nil {
		return none, c.failure(ctx, err)
	}
	if c.ctx.Err() != nil {
		return none, errLostCall // another connection may serve the canvas by now
	}
	return out, nil
}

// failure converts an error of the session. A server over HTTP is lost after a call that
// could not connect, or whose session it does not know.
func (c *conn) failure(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return err
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return canvas.Errorf(canvas.CodeTimeout, "the server did not answer in time")
	}
	var refused *net.OpError
	if c.running.server.URL != "" && (errors.As(err, &refused) || errors.Is(err, sdk.ErrSessionMissing)) {
		c.markLost()
	}
	select {
	case <-c.lost:
		return errLostCall
	default:
	}
	if c.ctx.Err() != nil || errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		return errLostCall
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return canvas.Errorf(canvas.CodeHandlerError, "%s", oneLine(c.running.redact(err.Error()), 300))
}

// callTool calls a tool once. arguments is a JSON object.
func (c *conn) callTool(ctx context.Context, name string, arguments any) (*sdk.CallToolResult, error) {
	return call(ctx, c, c.running.runner.opts.CallTime, func(ctx context.Context) (*sdk.CallToolResult, error) {
		p := &sdk.CallToolParams{Name: name, Arguments: arguments}
		if span := trace.Header(ctx); span != "" {
			p.Meta = sdk.Meta{"traceparent": span}
		}
		return c.session.CallTool(ctx, p)
	})
}
