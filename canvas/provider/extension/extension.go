package extension

import (
	"context"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Extension is one extension: a canvas.Provider for all sessions.
type Extension struct {
	runner  *Runner
	folder  Folder
	log     *logbook
	reg     canvas.Registration
	settled chan struct{} // closed when the first process has declared or failed

	// Guarded by Runner.mu.
	workers  map[string]*worker // by session URI
	declares []canvas.Declaration
	known    bool // it has declared once
	first    bool // settled is closed
}

// ID is the extension id.
func (x *Extension) ID() string { return x.folder.ID }

// Extension identifies the extension in a host's registry. [Runner.Add] registers it.
func (x *Extension) Extension() canvas.Extension {
	return canvas.Extension{ID: x.folder.ID, Name: x.folder.Name}
}

// Folder is where the extension comes from.
func (x *Extension) Folder() Folder { return x.folder }

// Declarations are the canvases that the extension has declared; none before it
// has started once.
func (x *Extension) Declarations() []canvas.Declaration {
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	return x.declares
}

// Settled waits until the extension has declared its canvases, or has failed to
// for the first time, and returns why, in its own words. It goes on trying.
func (x *Extension) Settled(ctx context.Context) error {
	select {
	case <-x.settled:
		return x.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Err says why the process that declares does not run; nil where it does.
func (x *Extension) Err() error {
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	if w := x.workers[x.runner.opts.Session]; w != nil && w.fail != nil {
		return x.unavailable(w.fail)
	}
	return nil
}

// workerOf returns the worker of a session, and starts it where there is none.
// Runner.mu is held.
func (x *Extension) workerOf(session string, declares bool) (*worker, error) {
	r := x.runner
	if r.closed {
		return nil, errEnding
	}
	before := x.workers[session]
	if before != nil && !before.leaving {
		return before, nil
	}
	if r.workers >= r.opts.Processes {
		return nil, errLimit(r.workers)
	}
	id := sessionID(session)
	w := &worker{
		ext: x, before: before, done: make(chan struct{}), session: session, id: id, workspace: filepath.Join(r.opts.WorkspaceDir, id), declares: declares,
		turn: make(chan struct{}), open: map[string]*instance{}, lost: map[string]*canvas.Handle{}, opening: map[string]int{}, retries: map[string]*retry{},
	}
	ctx, stop := context.WithCancel(r.ctx)
	w.stop = stop
	x.workers[session] = w
	r.workers++
	r.running.Go(func() { w.run(ctx) })
	return w, nil
}

// declare replaces what the extension declares. A set that is refused changes
// nothing.
func (x *Extension) declare(set []canvas.Declaration) error {
	if err := x.reg.Set(set...); err != nil {
		return err
	}
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	x.declares, x.known = set, true
	return nil
}

// failed lists, for an extension that never declared anything, a canvas that
// says why when it is opened.
func (x *Extension) failed() {
	x.runner.mu.Lock()
	known := x.known
	x.runner.mu.Unlock()
	if known {
		return
	}
	err := x.reg.Set(canvas.Declaration{
		CanvasID: x.folder.ID, DisplayName: x.folder.Name,
		Description: "This extension has not started yet, so its canvases are not known. Opening this says why.",
	})
	if err != nil { // it is being closed
		x.runner.opts.Logger.Debug("extension not listed", "id", x.folder.ID, "err", err)
	}
}

// isSettled lets those go on who wait for the first process.
func (x *Extension) isSettled() {
	x.runner.mu.Lock()
	defer x.runner.mu.Unlock()
	if !x.first {
		x.first = true
		close(x.settled)
	}
}
