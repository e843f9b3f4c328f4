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
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Service is what a Runner needs of a host; host.Host.Canvases returns one.
type Service interface {
	Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) (canvas.Registration, error)
	ListOpen(session string) ([]canvas.OpenCanvas, error)
	Raise(session string, event ahp.Value) error
}

// Options configures a Runner. Service and Session are required.
type Options struct {
	Service Service // registers the extensions
	// Session is the URI of the session whose processes start with the host and
	// declare for all.
	Session string
	// WorkspaceDir gets a folder for each session, which its extensions are told as
	// workspacePath; LogDir their logs, which [ReadLog] reads. "" is a folder
	// that goes with the runner.
	WorkspaceDir, LogDir string
	WorkingDirectory     string // what extensions are told that people work in; "" is the host's
	Version              string // of the host, for extensions

	Node      string   // the program that runs a module; default "node"
	Env       []string // as in os.Environ, which is the default
	Processes int      // at a time; default 64
	// Start is how long a process may take until it has declared its canvases,
	// default 20 s; Idle how long one of another session lives without an open
	// canvas, default 1 min; Steady after how long one that ends begins again
	// without waiting longer than the first time, default 10 s.
	Start, Idle, Steady time.Duration
	Backoff             func() backoff.BackOff // between two starts; the default is 0.25 s to 10 s
	// Direct hands out the extensions' own urls, instead of carrying their pages
	// over the channel.
	Direct bool
	NewID  func() string // of prompts and log lines; the default is random
	Logger *slog.Logger  // nil discards; nothing that an extension says goes there

	newPage pageMaker // tests only
}

// Runner runs the extensions of a host. Make it with New, end it with Close,
// after the host has served. Its methods may be called concurrently.
type Runner struct {
	opts    Options
	starter *starter
	temp    string // a folder to remove; "" where there is none
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup // workers

	mu         sync.Mutex
	extensions []*Extension
	workers    int // each has a process, or will have
	closed     bool
}

// New makes a runner without extensions.
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
		opts.Backoff = newBackoff
	}
	if opts.NewID == nil {
		opts.NewID = rand.Text
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.newPage == nil {
		opts.newPage = newPage(opts.Direct, opts.Logger)
	}
	r := &Runner{opts: opts}
	if err := r.folders(); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.starter = newStarter()
	return r, nil
}

// folders makes the folders that the options name, or leave to the runner.
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

// newBackoff waits a quarter of a second at first and twice as long each time,
// up to ten seconds, each by a fifth more or less. It never gives up: a missing
// dependency may be installed at any time.
func newBackoff() backoff.BackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 250 * time.Millisecond, Multiplier: 2, MaxInterval: 10 * time.Second, RandomizationFactor: 0.2,
	}
}

// Add registers an extension and starts its first process; [Extension.Settled]
// waits for what becomes of it. The error is about the id, which another
// provider has, or the limit of processes.
func (r *Runner) Add(f Folder) (*Extension, error) {
	x := &Extension{runner: r, folder: f, workers: map[string]*worker{}, settled: make(chan struct{})}
	r.mu.Lock()
	taken := slices.ContainsFunc(r.extensions, func(o *Extension) bool { return o.folder.ID == f.ID })
	closed := r.closed
	r.mu.Unlock()
	if closed {
		return nil, errEnding
	}
	if taken {
		return nil, fmt.Errorf("extension: there is an extension %q already: %s needs another name in its package.json", f.ID, f.Dir)
	}
	reg, err := r.opts.Service.Register(x.Extension(), x)
	if err != nil {
		return nil, err
	}
	x.reg = reg
	x.log = newLogbook(logName(r.opts.LogDir, f.ID))
	r.mu.Lock()
	r.extensions = append(r.extensions, x)
	_, err = x.workerOf(r.opts.Session, true)
	r.mu.Unlock()
	if err != nil {
		reg.Close()
		return nil, err
	}
	return x, nil
}

// Close takes the extensions out of the registry, ends their processes and
// waits for it: three seconds at most for one that does not heed SIGTERM.
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

// environment is what processes get, but for SESSION_ID. The host's own tokens
// are not for them.
func (r *Runner) environment() []string {
	return slices.DeleteFunc(slices.Clone(r.opts.Env), func(kv string) bool { return strings.HasPrefix(kv, "AHP_CANVAS_") })
}

// sessionID is what an extension knows a session by: its URI without the scheme,
// as a name that a file may have.
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

func logName(dir, id string) string { return filepath.Join(dir, id+".log") }

// errEnding is what is answered once the runner is closed.
var errEnding = canvas.Errorf(canvas.CodeProviderUnavailable, "the host is shutting down")

// errLimit is the bound on processes (canvas/PROTOCOL.md section 9).
func errLimit(n int) error {
	return canvas.Errorf(canvas.CodeLimitExceeded, "%d extension processes are running, which is the limit: close the canvases of another session first", n)
}

// unavailable says why an extension cannot be asked.
func (x *Extension) unavailable(why error) error {
	if e, ok := errors.AsType[*canvas.Error](why); ok {
		return e
	}
	return canvas.Errorf(canvas.CodeProviderUnavailable, "extension %q does not run: %v", x.folder.ID, why)
}
