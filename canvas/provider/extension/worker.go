package extension

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// worker is an extension in one session: it owns one process at a time, starts
// the next when that is lost, and knows what is open in it.
type worker struct {
	ext       *Extension
	session   string // URI
	id        string // SESSION_ID
	workspace string
	declares  bool // for all sessions, and lives as long as the runner
	stop      context.CancelFunc
	before    *worker       // of the same session, which is ending; nil is none
	done      chan struct{} // closed when its last process is over

	// Guarded by Runner.mu.
	up      *process      // the one that can be asked; nil while there is none
	fail    error         // why there is none, until the next is started
	turn    chan struct{} // closed, and replaced, when up or fail changes
	open    map[string]*instance
	lost    map[string]*canvas.Handle // open, but stale until there is a process
	opening map[string]int            // opens under way
	retries map[string]*retry         // of pages whose server was lost
	idle    *time.Timer
	leaving bool // it was idle, and ends
}

// errSlow is why a process is ended that does not declare its canvases.
var errSlow = errors.New("it did not declare its canvases in time")

// run is the worker's goroutine.
func (w *worker) run(ctx context.Context) {
	defer w.gone()
	if w.before != nil {
		<-w.before.done // one process a session
		w.before = nil
	}
	b := w.ext.runner.opts.Backoff()
	b.Reset()
	for {
		begun := time.Now()
		err := w.once(ctx)
		if ctx.Err() != nil || !w.failed(err) {
			return
		}
		if time.Since(begun) > w.ext.runner.opts.Steady {
			b.Reset()
		}
		wait := b.NextBackOff()
		if wait == backoff.Stop {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// once runs one process to its end, and returns why it ended.
func (w *worker) once(ctx context.Context) error {
	if err := os.MkdirAll(w.workspace, 0o700); err != nil {
		return err
	}
	w.set(nil, nil)
	p, err := w.launch()
	if err != nil {
		w.ext.log.note("%v", err)
		return err
	}
	timer := time.NewTimer(w.ext.runner.opts.Start)
	defer timer.Stop()
	select {
	case <-p.declared:
		w.rises(p)
		select {
		case <-p.lost:
		case <-ctx.Done():
		}
		w.falls(ctx)
	case <-timer.C:
		p.breaks(errSlow)
	case <-p.lost:
	case <-ctx.Done():
	}
	p.end()
	return p.obituary()
}

// set says whether there is a process, and lets those look who wait.
func (w *worker) set(up *process, fail error) {
	r := w.ext.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	w.up, w.fail = up, fail
	close(w.turn)
	w.turn = make(chan struct{})
}

// rises opens again what was open in the process before.
func (w *worker) rises(p *process) {
	w.set(p, nil)
	w.ext.isSettled()
	handles := w.stale()
	w.settle()
	for _, h := range handles {
		h.MarkStale() // where its open was not published yet when the process was lost
		h.Reopen()
	}
}

// settle lets the worker end where nothing is open in it.
func (w *worker) settle() {
	w.ext.runner.mu.Lock()
	defer w.ext.runner.mu.Unlock()
	w.rest()
}

// stale are the handles that wait for a process. What was closed meanwhile,
// nobody told the worker.
func (w *worker) stale() []*canvas.Handle {
	r := w.ext.runner
	list, _ := r.opts.Service.ListOpen(w.session) // in a session that is gone, nothing is open
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

// falls makes what is open stale, at once.
func (w *worker) falls(ctx context.Context) {
	r := w.ext.runner
	w.set(nil, nil)
	r.mu.Lock()
	open := w.open
	w.open = map[string]*instance{}
	for id, i := range open {
		w.lost[id] = i.handle
	}
	r.mu.Unlock()
	for _, i := range open {
		if ctx.Err() == nil { // else the registration says it of all, or the session is gone
			i.handle.MarkStale()
		}
		i.leave()
	}
}

// failed says why there is no process, and reports whether there is to be
// another: always where it declares, else where something waits for it.
func (w *worker) failed(err error) bool {
	r := w.ext.runner
	if w.declares {
		w.ext.failed()
	}
	w.set(nil, err)
	if w.declares {
		w.ext.isSettled()
		return true
	}
	w.stale()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(w.lost) > 0 {
		return true
	}
	w.forget()
	return false
}

// forget takes the worker out of its extension. Runner.mu is held.
func (w *worker) forget() {
	if w.ext.workers[w.session] == w {
		delete(w.ext.workers, w.session)
	}
}

// gone is the end of run: whoever waits is told.
func (w *worker) gone() {
	w.stop()
	close(w.done)
	if w.declares {
		w.ext.isSettled()
	}
	r := w.ext.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	w.forget()
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
	close(w.turn)
	w.turn = make(chan struct{})
}

// ready waits for the process that is starting. Where the last one failed, it
// says why.
func (w *worker) ready(ctx context.Context) (*process, error) {
	r := w.ext.runner
	for {
		r.mu.Lock()
		up, fail, turn := w.up, w.fail, w.turn
		r.mu.Unlock()
		if up != nil {
			return up, nil
		}
		if fail != nil {
			return nil, w.ext.unavailable(fail)
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
