package extension

import (
	"context"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
)

// Extension is one extension: a canvas.Provider for all sessions.
type Extension struct {
	runner  *Runner
	folder  Folder
	log     *program.Log
	reg     canvas.Registration
	started chan struct{} // closed after the first process has declared or failed

	// Guarded by Runner.mu.
	workers    map[string]*worker // by session URI
	declares   []canvas.Declaration
	known      bool  // the extension has declared at least once
	hasStarted bool  // started is closed
	startFail  error // why the first start failed; nil if it did not
}

// ID returns the extension id.
func (x *Extension) ID() string { return x.folder.ID }

// Extension returns the identity under which [Runner.Add] registers the extension.
func (x *Extension) Extension() canvas.Extension {
	return canvas.Extension{ID: x.folder.ID, Name: x.folder.Name}
}

// Folder returns the folder that the extension was loaded from.
func (x *Extension) Folder() Folder { return x.folder }

// Declarations returns the canvases that the extension has declared, or nil before
// its first start.
func (x *Extension) Declarations() []canvas.Declaration {
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	return x.declares
}

// WaitStarted waits for the first start of the extension: until it has declared its
// canvases, or has failed to. It returns the failure, with the end of the extension's
// standard error. The runner keeps retrying after a failure.
func (x *Extension) WaitStarted(ctx context.Context) error {
	select {
	case <-x.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	if x.startFail != nil {
		return x.unavailable(x.startFail)
	}
	return nil
}

// Err returns why the declaring process does not run, or nil if it runs.
func (x *Extension) Err() error {
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	if w := x.workers[x.runner.opts.Session]; w != nil && w.fail != nil {
		return x.unavailable(w.fail)
	}
	return nil
}

// workerFor returns the worker of a session, and starts one if none is running.
// The caller holds Runner.mu.
func (x *Extension) workerFor(session string, declares bool) (*worker, error) {
	r := x.runner
	if r.closed {
		return nil, errEnding
	}
	previous := x.workers[session]
	if previous != nil && !previous.leaving {
		return previous, nil
	}
	if r.workers >= r.opts.Processes {
		return nil, errLimit(r.workers)
	}
	id := sessionID(session)
	w := &worker{
		ext: x, previous: previous, done: make(chan struct{}), session: session, id: id, workspace: filepath.Join(r.opts.WorkspaceDir, id), declares: declares,
		changed: make(chan struct{}), open: map[string]*instance{}, lost: map[string]*canvas.Handle{}, opening: map[string]int{}, retries: map[string]*retry{},
	}
	ctx, stop := context.WithCancel(r.ctx)
	w.stop = stop
	x.workers[session] = w
	r.workers++
	r.running.Go(func() { w.run(ctx) })
	return w, nil
}

// declare replaces the extension's declarations. A rejected set changes nothing.
func (x *Extension) declare(set []canvas.Declaration) error {
	if err := x.reg.Set(set...); err != nil {
		return err
	}
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	x.declares, x.known = set, true
	return nil
}

// declarePlaceholder declares a placeholder canvas for an extension that has never declared
// anything. Its line for people says why, and what to install; opening it returns the reason.
func (x *Extension) declarePlaceholder(why error) {
	x.runner.mu.Lock()
	known := x.known
	x.runner.mu.Unlock()
	if known {
		return
	}
	err := x.reg.Set(canvas.Declaration{
		CanvasID: x.folder.ID, DisplayName: x.folder.Name,
		Description: "This extension has not started, so its canvases are not known yet. Open this canvas to see the reason.",
		Extra:       ahp.MustMarshal(map[string]any{"_meta": map[string]string{"x-ahp-canvas/summary": reasonText(why)}}),
	})
	if err != nil { // the registration is being closed
		x.runner.opts.Logger.Debug("cannot list the placeholder canvas", "id", x.folder.ID, "err", err)
	}
}

// markStarted gives the callers of WaitStarted the outcome of the first start. Only the
// first call has an effect.
func (x *Extension) markStarted(fail error) {
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	if !x.hasStarted {
		x.hasStarted, x.startFail = true, fail
		close(x.started)
	}
}
