package extension

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// Service is the part of a host that a Runner uses. host.Host.Canvases returns one.
type Service interface {
	// Register adds the provider of an extension with its declarations.
	Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) (canvas.Registration, error)
	// ListOpen returns the open canvases of a session.
	ListOpen(session string) ([]canvas.OpenCanvas, error)
	// Raise publishes an event to the agent of a session.
	Raise(session string, event ahp.Value) error
}

// Options configures a Runner. Service and Session are required.
type Options struct {
	// Service registers the extensions.
	Service Service
	// Session is the URI of the session whose processes start with the host and
	// declare for all sessions.
	Session string
	// WorkspaceDir gets a folder for each session, which extensions receive as
	// workspacePath. The default is a folder that Close removes.
	WorkspaceDir string
	// LogDir gets the extensions' logs, which process.ReadLog reads. The default is a folder
	// that Close removes.
	LogDir string
	// WorkingDirectory is the user's working directory, which extensions receive as
	// workingDirectory. The default is the host's.
	WorkingDirectory string
	// Version is the host's version, which extensions receive.
	Version string

	// Node is the program that runs a module; the default is "node".
	Node string
	// Env is the environment of processes; the default is os.Environ. Variables that
	// begin with AHP_CANVAS_ are removed.
	Env []string
	// Processes limits how many processes run at a time; the default is 64.
	Processes int
	// Start is the time in which a process must declare its canvases; the default is
	// 20 s.
	Start time.Duration
	// Idle is how long the process of another session runs without an open canvas;
	// the default is 1 min.
	Idle time.Duration
	// Steady is the run time after which the backoff starts over; the default is 10 s.
	Steady time.Duration
	// Backoff returns the delays between starts; the default is 0.25 s to 10 s.
	Backoff func() backoff.BackOff
	// Direct publishes the extensions' own URLs instead of serving their pages over the
	// channel.
	Direct bool
	// NewID returns ids for prompts and log lines; the default is random text.
	NewID func() string
	// Dial connects to the extensions' servers, for example within a limit
	// ([loopback.Sockets]); nil has no limit.
	Dial loopback.DialFunc
	// Trace records the exchanges with the extensions' servers; nil records nothing.
	Trace *trace.Tracer
	// Logger receives the runner's log, but no output of extensions; nil discards it.
	Logger *slog.Logger

	newPage    pageMaker                                           // replaced by tests
	checkOwner func(context.Context, *program.Group, string) error // replaced by tests
}

// Runner runs the extensions of a host. Create it with [New], and call Close after the
// host has stopped serving. It is safe for concurrent use.
type Runner struct {
	opts    Options
	starter *program.Starter
	temp    string // a folder to remove at Close, or ""
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup // the workers' goroutines

	mu         sync.Mutex
	extensions []*Extension
	workers    int // number of workers; each has at most one process
	closed     bool
}

// New returns a runner without extensions.
func New(opts Options) (*Runner, error) {
	opts.Node = cmp.Or(opts.Node, "node")
	opts.Processes = cmp.Or(opts.Processes, 64)
	opts.Start = cmp.Or(opts.Start, 20*time.Second)
	opts.Idle = cmp.Or(opts.Idle, time.Minute)
	opts.Steady = cmp.Or(opts.Steady, 10*time.Second)
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	if opts.Backoff == nil {
		opts.Backoff = program.NewBackoff
	}
	if opts.NewID == nil {
		opts.NewID = rand.Text
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.checkOwner == nil {
		opts.checkOwner = checkOwner
	}
	if opts.newPage == nil {
		opts.newPage = newPage(opts)
	}
	r := &Runner{opts: opts}
	if err := r.folders(); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.starter = program.NewStarter()
	return r, nil
}

// folders creates the folders of the options, and temporary ones for defaults.
func (r *Runner) folders() (err error) {
	o := &r.opts
	if o.WorkspaceDir == "" || o.LogDir == "" {
		if r.temp, err = os.MkdirTemp("", "ahp-canvas-extensions-"); err != nil {
			return fmt.Errorf("extensions: %w", err)
		}
		o.WorkspaceDir = cmp.Or(o.WorkspaceDir, filepath.Join(r.temp, "sessions"))
		o.LogDir = cmp.Or(o.LogDir, filepath.Join(r.temp, "logs"))
	}
	if o.WorkingDirectory == "" {
		if o.WorkingDirectory, err = os.Getwd(); err != nil {
			return fmt.Errorf("extensions: %w", err)
		}
	}
	for _, dir := range []string{o.WorkspaceDir, o.LogDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("extensions: %w", err)
		}
	}
	return nil
}

// Add registers an extension and starts its first process. [Extension.WaitStarted] waits
// for the start. Add fails if another provider has the id, if the limit of processes is
// reached, or after Close.
func (r *Runner) Add(f Folder) (*Extension, error) {
	x := &Extension{runner: r, folder: f, workers: map[string]*worker{}, started: make(chan struct{})}
	r.mu.Lock()
	taken := slices.ContainsFunc(r.extensions, func(o *Extension) bool { return o.folder.ID == f.ID })
	closed := r.closed
	r.mu.Unlock()
	if closed {
		return nil, errEnding
	}
	if taken {
		return nil, fmt.Errorf("extension id %q is already in use: give the extension in %q another name in its package.json", f.ID, f.Dir)
	}
	reg, err := r.opts.Service.Register(x.Extension(), x)
	if err != nil {
		return nil, err
	}
	x.reg = reg
	x.log = program.OpenLog(r.opts.LogDir, f.ID)
	r.mu.Lock()
	r.extensions = append(r.extensions, x)
	_, err = x.workerFor(r.opts.Session, true)
	r.mu.Unlock()
	if err != nil {
		reg.Close()
		return nil, err
	}
	return x, nil
}

// Close unregisters the extensions, ends their processes and waits for them to exit. A
// process that ignores SIGTERM takes at most three seconds.
func (r *Runner) Close() {
	r.mu.Lock()
	closed := r.closed
	r.closed = true
	extensions := r.extensions
	r.mu.Unlock()
	if closed {
		return
	}
	for _, x := range extensions {
		x.reg.Close()
	}
	r.cancel()
	r.running.Wait()
	r.starter.Close()
	for _, x := range extensions {
		x.log.Close()
	}
	if r.temp != "" {
		_ = os.RemoveAll(r.temp)
	}
}

// environment returns the environment of processes, without SESSION_ID. It removes
// the AHP_CANVAS_ variables, because they can contain the host's tokens.
func (r *Runner) environment() []string {
	return program.Environment(r.opts.Env)
}

// sessionID returns the id of a session for extensions: its URI without the scheme,
// escaped so that it is a valid file name.
func sessionID(uri string) string {
	_, rest, ok := strings.Cut(uri, ":")
	if !ok {
		rest = uri
	}
	id := url.PathEscape(strings.TrimPrefix(rest, "/"))
	if strings.Trim(id, ".") == "" {
		id = "session" + id
	}
	return id
}

// errEnding is the result of requests after Close.
var errEnding = canvas.Errorf(canvas.CodeProviderUnavailable, "the host is shutting down")

// errLimit reports that the limit of processes is reached (canvas/PROTOCOL.md section 9).
func errLimit(n int) error {
	return canvas.Errorf(canvas.CodeLimitExceeded, "%d extension processes are running, which is the limit: close canvases in another session first", n)
}

// unavailable returns the error for requests to an extension that does not run.
func (x *Extension) unavailable(why error) error {
	if e, ok := errors.AsType[*canvas.Error](why); ok {
		return e
	}
	text := why.Error()
	if h := hint(why); h != "" {
		text += "\n" + h + "."
	}
	return canvas.Errorf(canvas.CodeProviderUnavailable, "extension %q does not run: %v", x.folder.ID, text)
}
