package extension

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
)

// worker runs an extension in one session. It owns one process at a time, starts the
// next one after a loss, and tracks the open instances.
type worker struct {
	ext       *Extension
	session   string // URI
	id        string // SESSION_ID
	workspace string
	declares  bool // declares for all sessions, and lives as long as the runner
	stop      context.CancelFunc
	previous  *worker       // the ending worker of the same session, or nil
	done      chan struct{} // closed after the worker's last process is over

	// Guarded by Runner.mu.
	up      *process      // the process that serves requests, or nil
	fail    error         // why up is nil; nil while a process is starting
	changed chan struct{} // closed, and replaced, when up or fail changes
	open    map[string]*instance
	lost    map[string]*canvas.Handle // open but stale instances, by id
	opening map[string]int            // number of pending opens, by instance id
	retries map[string]*retry         // for instances whose page server is unreachable
	idle    *time.Timer
	leaving bool // the worker was idle and is ending
}

// errSlow is why the host ends a process that does not declare its canvases in time.
var errSlow = errors.New("it did not declare its canvases in time")

// run is the worker's goroutine.
func (w *worker) run(ctx context.Context) {
	defer w.release()
	if w.previous != nil {
		<-w.previous.done // at most one process per session
		w.previous = nil
	}
	opts := w.ext.runner.opts
	program.Restart(ctx, opts.Backoff(), opts.Steady, func() bool {
		err := w.runProcess(ctx)
		return ctx.Err() == nil && w.handleFailure(err)
	})
}

// runProcess runs one process until it is over, and returns why it ended.
func (w *worker) runProcess(ctx context.Context) error {
	if err := os.MkdirAll(w.workspace, 0o700); err != nil {
		return err
	}
	w.setState(nil, nil)
	p, err := w.launch()
	if err != nil {
		w.ext.log.Note("%v", err)
		return err
	}
	timer := time.NewTimer(w.ext.runner.opts.Start)
	defer timer.Stop()
	select {
	case <-p.declared:
		w.becomeReady(p)
		select {
		case <-p.lost:
		case <-ctx.Done():
		}
		w.becomeStale(ctx)
	case <-timer.C:
		p.markLost(errSlow)
	case <-p.lost:
	case <-ctx.Done():
	}
	p.end()
	return p.exitError()
}

// setState sets the current process or failure, and wakes the callers of ready.
func (w *worker) setState(up *process, fail error) {
	r := w.ext.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	w.up, w.fail = up, fail
	close(w.changed)
	w.changed = make(chan struct{})
}

// becomeReady makes p the current process, and reopens the instances of the previous one.
func (w *worker) becomeReady(p *process) {
	w.setState(p, nil)
	w.ext.markStarted(nil)
	handles := w.staleHandles()
	w.stopIfIdle()
	for _, h := range handles {
		h.MarkStale() // again: its open might have been published after the first call
		h.Reopen()
	}
}

// stopIfIdle stops the worker later if it has no open instance.
func (w *worker) stopIfIdle() {
	w.ext.runner.mu.Lock()
	defer w.ext.runner.mu.Unlock()
	w.stopIfIdleLocked()
}

// staleHandles returns the handles of instances that wait for a process. It removes
// instances that were closed meanwhile: the host closes a stale instance without
// calling the provider.
func (w *worker) staleHandles() []*canvas.Handle {
	r := w.ext.runner
	list, _ := r.opts.Service.ListOpen(w.session) // a deleted session has no open instances
	still := map[string]bool{}
	for _, o := range list {
		still[o.InstanceID] = o.ExtensionID == w.ext.folder.ID
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var handles []*canvas.Handle
	for id, h := range w.lost {
		if !still[id] {
			delete(w.lost, id)
			continue
		}
		handles = append(handles, h)
	}
	return handles
}

// becomeStale marks the open instances stale at once.
func (w *worker) becomeStale(ctx context.Context) {
	r := w.ext.runner
	w.setState(nil, nil)
	r.mu.Lock()
	open := w.open
	w.open = map[string]*instance{}
	for id, i := range open {
		w.lost[id] = i.handle
	}
	r.mu.Unlock()
	for _, i := range open {
		if ctx.Err() == nil { // otherwise the registration's Close does it, or the session was deleted
			i.handle.MarkStale()
		}
		i.release()
	}
}

// handleFailure records why the process ended, and reports whether to start another:
// always for the declaring worker, otherwise only if a stale instance waits for it.
func (w *worker) handleFailure(err error) bool {
	r := w.ext.runner
	if w.declares {
		w.ext.declarePlaceholder(err)
	}
	w.setState(nil, err)
	if w.declares {
		w.ext.markStarted(err)
		return true
	}
	w.staleHandles()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(w.lost) > 0 {
		return true
	}
	w.removeLocked()
	return false
}

// removeLocked removes the worker from its extension. The caller holds Runner.mu.
func (w *worker) removeLocked() {
	if w.ext.workers[w.session] == w {
		delete(w.ext.workers, w.session)
	}
}

// release runs at the end of run. It releases the worker and wakes all waiting callers.
func (w *worker) release() {
	w.stop()
	close(w.done)
	if w.declares {
		w.ext.markStarted(errEnding)
	}
	r := w.ext.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	w.removeLocked()
	r.workers--
	if w.idle != nil {
		w.idle.Stop()
	}
	for _, next := range w.retries {
		if next.timer != nil {
			next.timer.Stop()
		}
	}
	if w.up = nil; w.fail == nil {
		w.fail = errEnding
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// ready waits for a starting process. It returns the reason if the last one failed.
func (w *worker) ready(ctx context.Context) (*process, error) {
	r := w.ext.runner
	for {
		r.mu.Lock()
		up, fail, changed := w.up, w.fail, w.changed
		r.mu.Unlock()
		if up != nil {
			return up, nil
		}
		if fail != nil {
			return nil, w.ext.unavailable(fail)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
