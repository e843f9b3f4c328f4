package mcpapp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/process"
)

// Service is the part of a host that a Runner uses. host.Host.Canvases returns one.
type Service interface {
	// Register adds the provider of an extension with its declarations.
	Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) (canvas.Registration, error)
}

// Options configures a Runner. Service is required.
type Options struct {
	// Service registers the servers.
	Service Service
	// LogDir gets the servers' logs, which process.ReadLog reads. The default is a folder
	// that Close removes.
	LogDir string
	// Version is the host's version, which servers receive.
	Version string
	// Env is the environment of programs; the default is os.Environ. Variables that begin
	// with AHP_CANVAS_ are removed.
	Env []string
	// Allowed returns the origins that the operator lets a server's pages load from; nil
	// allows none.
	Allowed func(server, canvasID string) []string
	// Start is the time for a server to initialize and to list its tools; default 20 s.
	Start time.Duration
	// OpenWait is how long an open waits for the tool's result; default 10 s.
	OpenWait time.Duration
	// InvokeWait is how long an action waits for its tool's result; default 25 s.
	InvokeWait time.Duration
	// CallTime limits a call of a tool; default 5 min.
	CallTime time.Duration
	// Teardown is how long a close waits for pages; default 1 s.
	Teardown time.Duration
	// Backoff returns the delays between connections; the default is 0.25 s to 10 s.
	Backoff func() backoff.BackOff
	// Logger receives the runner's log, but nothing that servers print; nil discards it.
	Logger *slog.Logger
}

// Server is an MCP server to connect to: a program or a URL.
type Server struct {
	// Name is the id of the extension: [ValidName].
	Name string
	// Command is the program and its arguments; nil for a URL.
	Command []string
	// Env has additional environment variables of the program. They stay out of logs.
	Env map[string]string
	// URL is the address of a streamable HTTP endpoint: https, or http on this machine.
	URL string
	// Header is sent with each request to URL. It stays out of logs.
	Header http.Header
}

// MaxServers is the limit of servers of a Runner.
const MaxServers = 32

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// ValidName reports whether a text can name a server.
func ValidName(name string) bool { return names.MatchString(name) }

// Check rejects servers that nothing can connect to. Its errors quote no command and no URL.
func (s Server) Check() error {
	if !ValidName(s.Name) {
		return fmt.Errorf("server %q: want a name of 1 to 64 lower-case letters, digits, dots, dashes and underscores", s.Name)
	}
	if (len(s.Command) > 0) == (s.URL != "") {
		return fmt.Errorf("server %q: want a command or a URL", s.Name)
	}
	if s.URL == "" {
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Fragment != "" || outbound.New(outbound.Options{Loopback: true}).Allowed(u) != nil {
		return fmt.Errorf("server %q: want an https URL without a user name, or http on this machine", s.Name)
	}
	return nil
}

// secrets returns the texts that must not appear in errors.
func (s Server) secrets() (list []string) {
	for _, v := range s.Env {
		list = append(list, v)
	}
	for _, values := range s.Header {
		list = append(list, values...)
	}
	if len(s.Command) > 1 {
		list = append(list, s.Command[1:]...)
	}
	if u, err := url.Parse(s.URL); err == nil && s.URL != "" {
		list = append(list, s.URL, u.RawQuery)
	}
	return slices.DeleteFunc(list, func(v string) bool { return len(v) < minSecret })
}

// minSecret is the shortest text that redaction replaces: shorter ones, such as "1" or
// "--stdio", are parts of ordinary words.
const minSecret = 8

// Runner connects to the servers of a host. Create it with [New], and call Close after the
// host has stopped serving. It is safe for concurrent use.
type Runner struct {
	opts    Options
	starter *process.Starter
	temp    string // a folder to remove at Close, or ""
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup // the connections' goroutines, and calls that outlive their open

	mu      sync.Mutex
	servers []*Running
	closed  bool
}

// New returns a Runner without servers.
func New(opts Options) (*Runner, error) {
	opts.Start = cmp.Or(opts.Start, 20*time.Second)
	opts.OpenWait = cmp.Or(opts.OpenWait, 10*time.Second)
	opts.InvokeWait = cmp.Or(opts.InvokeWait, 25*time.Second)
	opts.CallTime = cmp.Or(opts.CallTime, 5*time.Minute)
	opts.Teardown = cmp.Or(opts.Teardown, time.Second)
	opts.Version = cmp.Or(opts.Version, "0")
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	if opts.Backoff == nil {
		opts.Backoff = process.NewBackoff
	}
	if opts.Allowed == nil {
		opts.Allowed = func(string, string) []string { return nil }
	}
	r := &Runner{opts: opts}
	if opts.LogDir == "" {
		dir, err := os.MkdirTemp("", "ahp-canvas-mcp-")
		if err != nil {
			return nil, fmt.Errorf("mcp servers: %w", err)
		}
		r.temp, r.opts.LogDir = dir, dir
	} else if err := os.MkdirAll(opts.LogDir, 0o700); err != nil {
		return nil, fmt.Errorf("mcp servers: %w", err)
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.starter = process.NewStarter()
	return r, nil
}

// errEnding is the result of requests after Close.
var errEnding = canvas.Errorf(canvas.CodeProviderUnavailable, "the host is shutting down")

// Add registers a server and begins to connect to it. [Running.WaitStarted] waits for that.
func (r *Runner) Add(s Server) (*Running, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, errEnding
	case len(r.servers) >= MaxServers:
		return nil, fmt.Errorf("server %q: there are %d servers already, which is the limit", s.Name, MaxServers)
	case slices.ContainsFunc(r.servers, func(o *Running) bool { return o.server.Name == s.Name }):
		return nil, fmt.Errorf("server %q: there is a server of that name already", s.Name)
	}
	g := &Running{runner: r, server: s, secrets: s.secrets(), open: map[*instance]bool{}, started: make(chan struct{}), changed: make(chan struct{}), done: make(chan struct{})}
	reg, err := r.opts.Service.Register(canvas.Extension{ID: s.Name, Name: s.Name}, g, g.placeholder())
	if err != nil {
		return nil, err
	}
	g.reg = reg
	g.log = process.OpenLog(r.opts.LogDir, s.Name)
	g.slots = make(chan struct{}, maxCalls)
	r.servers = append(r.servers, g)
	r.running.Go(g.run)
	return g, nil
}

// Close unregisters the servers, ends their programs and connections, and waits for them.
func (r *Runner) Close() {
	r.mu.Lock()
	closed, servers := r.closed, r.servers
	r.closed = true
	r.mu.Unlock()
	if closed {
		return
	}
	for _, g := range servers {
		g.reg.Close()
	}
	r.cancel()
	r.running.Wait()
	r.starter.Close()
	for _, g := range servers {
		g.log.Close()
	}
	if r.temp != "" {
		_ = os.RemoveAll(r.temp)
	}
}

// environment returns the environment of a server's program.
func (r *Runner) environment(s Server) []string {
	env := process.Environment(r.opts.Env)
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// errSlow is why a start is given up.
var errSlow = errors.New("it did not start in time")
