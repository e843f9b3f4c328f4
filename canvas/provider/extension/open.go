package extension

import (
	"context"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// closeTimeout is the timeout for closing a canvas that was opened too late.
const closeTimeout = 5 * time.Second

// Open opens a canvas in the session's process, and starts the process if necessary.
func (x *Extension) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	if err := ctx.Err(); err != nil {
		return canvas.Opened{}, err
	}
	w, err := x.beginOpen(req)
	if err != nil {
		return canvas.Opened{}, err
	}
	defer w.endOpen(req.InstanceID)
	p, err := w.ready(ctx)
	if err != nil {
		return canvas.Opened{}, err
	}
	answer, err := p.open(ctx, req)
	if err != nil {
		return canvas.Opened{}, err
	}
	i, err := w.instanceFor(p, req, h)
	if err != nil {
		return canvas.Opened{}, err
	}
	opened, err := i.showPage(answer)
	if err != nil {
		if i != currentOf(req) { // the host does not close an instance whose open failed
			_ = i.Close(ctx)
		}
		return canvas.Opened{}, err
	}
	return opened, nil
}

// beginOpen records a pending open, which keeps the worker alive until endOpen.
func (x *Extension) beginOpen(req canvas.OpenRequest) (*worker, error) {
	r := x.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	w, err := x.workerFor(req.Session, req.Session == r.opts.Session)
	if err != nil {
		return nil, err
	}
	w.opening[req.InstanceID]++
	if w.idle != nil {
		w.idle.Stop()
		w.idle = nil
	}
	return w, nil
}

// endOpen removes a pending open that beginOpen recorded.
func (w *worker) endOpen(instanceID string) {
	w.ext.runner.mu.Lock()
	defer w.ext.runner.mu.Unlock()
	if w.opening[instanceID]--; w.opening[instanceID] == 0 {
		delete(w.opening, instanceID)
	}
	w.stopIfIdleLocked()
}

// stopIfIdleLocked stops the worker of another session after Options.Idle without an
// open canvas. The caller holds Runner.mu.
func (w *worker) stopIfIdleLocked() {
	r := w.ext.runner
	if w.declares || len(w.open)+len(w.lost)+len(w.opening) > 0 || w.idle != nil {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(r.opts.Idle, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if w.idle == timer { // otherwise an open has canceled this timer
			w.idle, w.leaving = nil, true // beginOpen now creates another worker
			w.stop()
		}
	})
	w.idle = timer
}

// open sends canvas.open. If the response is late, open closes the canvas again, unless
// the instance is open or being opened by then.
func (p *process) open(ctx context.Context, req canvas.OpenRequest) (answer openResult, err error) {
	t := p.target(req)
	late := func(err error) {
		if err == nil && !p.worker.hasOpen(req.InstanceID) {
			ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
			defer cancel()
			_, _ = p.call(ctx, "canvas.close", p.closing(t), nil)
		}
	}
	raw, err := p.call(ctx, "canvas.open", openParams{t, req.Input, hostCapabilities, p.context()}, late)
	if err != nil || raw.Kind() == 'n' {
		return answer, err
	}
	if err := ahp.Unmarshal(raw, &answer); err != nil {
		return answer, canvas.Errorf(canvas.CodeHandlerError, "invalid response to canvas.open: %v", err)
	}
	return answer, nil
}

// hostCapabilities describes this host to extensions: it renders canvases.
var hostCapabilities = hostContext{canvasesCapability{Canvases: true}}

func (p *process) context() sessionContext {
	return sessionContext{p.worker.ext.runner.opts.WorkingDirectory}
}

func (p *process) target(req canvas.OpenRequest) target {
	return target{p.worker.id, p.worker.ext.folder.ID, req.CanvasID, req.InstanceID}
}

func (p *process) closing(t target) closeParams { return closeParams{t, hostCapabilities, p.context()} }

// hasOpen reports whether an instance is open or being opened in the worker.
func (w *worker) hasOpen(instanceID string) bool {
	w.ext.runner.mu.Lock()
	defer w.ext.runner.mu.Unlock()
	return w.open[instanceID] != nil || w.opening[instanceID] > 0
}

// instanceFor returns the instance for a canvas that p has opened: the current one if
// it belongs to p, or a new one.
func (w *worker) instanceFor(p *process, req canvas.OpenRequest, h *canvas.Handle) (*instance, error) {
	r := w.ext.runner
	r.mu.Lock()
	if w.up != p {
		r.mu.Unlock()
		return nil, errLost
	}
	before := w.open[req.InstanceID]
	if i := currentOf(req); i != nil && i == before && i.process == p {
		r.mu.Unlock()
		return i, nil
	}
	i := &instance{process: p, target: p.target(req), handle: h}
	w.open[req.InstanceID] = i
	delete(w.lost, req.InstanceID)
	r.mu.Unlock()
	if before != nil {
		before.release()
	}
	return i, nil
}
