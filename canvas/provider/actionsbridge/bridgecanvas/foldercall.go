package bridgecanvas

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

const (
	// callAction is the action of view/1 with which a page runs a call.
	callAction = "actions.call"
	// callMargin is how long before the host's deadline a call ends, so that the agent
	// receives the protocol's error and not the host's.
	callMargin = 500 * time.Millisecond
	// hostTimeout is the host's deadline if a call has none.
	hostTimeout = 30 * time.Second
	// maxInFlight is the limit of calls of one canvas that no page has answered.
	maxInFlight = 16
	// maxCallSize is the limit of a call's message to a page, in bytes.
	maxCallSize = 60 << 10
)

// folderCalls are the calls of a canvas that no page has answered.
type folderCalls struct {
	mu      sync.Mutex
	running map[string]*folderCall // by id
	ended   bool
	work    sync.WaitGroup // calls that can outlive their Invoke
	ctx     context.Context
	stop    context.CancelFunc // ends ctx, and so those calls
}

// folderCall is a call of a tool.
type folderCall struct {
	id, name string
	began    time.Time
	timeout  time.Duration
	step     string // that the page reported last; guarded by folderCalls.mu
}

// begin counts a call. ok is false if there are too many.
func (s *folderCalls) begin(c *folderCall) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(s.running) >= maxInFlight {
		return false
	}
	s.running[c.id] = c
	return true
}

func (s *folderCalls) leave(c *folderCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, c.id)
}

// start runs fn beside the Invoke; it does not if the canvas has ended.
func (s *folderCalls) start(fn func()) (started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.work.Go(fn)
	}
	return !s.ended
}

// progress records the step of a call.
func (s *folderCalls) progress(item actionsbridge.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.running[item.CallID]; c != nil {
		c.step = item.Phase
	}
}

// end refuses further calls, and ends those that outlive their Invoke.
func (s *folderCalls) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.stop()
}

// callEvidence is what is known of a call that has no answer.
type callEvidence struct {
	Tool      string `json:"tool"`
	ElapsedMs int64  `json:"elapsed_ms"`
	TimeoutMs int64  `json:"timeout_ms"`
	Step      string `json:"step,omitzero"`
}

func (s *folderCalls) evidence(c *folderCall) callEvidence {
	s.mu.Lock()
	defer s.mu.Unlock()
	return callEvidence{c.name, time.Since(c.began).Milliseconds(), c.timeout.Milliseconds(), c.step}
}

// pageCall is the input of callAction.
type pageCall struct {
	Item ahp.Value `json:"item"`
	Tool pageTool  `json:"tool"`
}

// pageTool is what a page needs of a tool beside the call.
type pageTool struct {
	Handler string    `json:"handler,omitzero"`
	State   string    `json:"state,omitzero"`
	Target  ahp.Value `json:"target,omitzero"`
}

// Invoke calls a tool in the page that has had the canvas open for longest.
func (i *folderInstance) Invoke(ctx context.Context, action string, input ahp.Value) (ahp.Value, error) {
	d, err := i.callable(action, input)
	if err != nil {
		return nil, canvasError(err)
	}
	limit := hostTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline)
	}
	t := d.tools[action]
	given := time.Duration(t.X.TimeoutMs) * time.Millisecond
	c := &folderCall{id: i.folder.opts.NewID(), name: action, began: time.Now(), timeout: limit - callMargin}
	long := given > limit+callMargin
	if given > 0 && (long || given < c.timeout) {
		c.timeout = given
	}
	if !i.calls.begin(c) {
		return nil, canvasError(actionsbridge.NewError(actionsbridge.CodeRuntimeNotReady, map[string]int{"in_flight": maxInFlight}, "%d calls of this canvas have no answer yet, which is the limit", maxInFlight))
	}
	if long {
		return i.invokeLong(ctx, c, d, input, limit*5/6)
	}
	defer i.calls.leave(c)
	ctx, stop := context.WithTimeout(ctx, pageTime(c.timeout))
	defer stop()
	return i.ask(ctx, c, d, input)
}

// callable checks a call before it is sent to a page.
func (i *folderInstance) callable(action string, input ahp.Value) (*description, *actionsbridge.Error) {
	d, invalid := i.folder.manifest()
	if invalid != nil {
		return nil, invalid.notReady()
	}
	if err := d.manifest.CheckCallWith(action, input, actionsbridge.CheckOptions{Scripts: i.folder.opts.Scripts}); err != nil {
		return nil, err
	}
	return d, nil
}

// RefuseInput words the host's refusal of arguments. What forbids the call altogether
// comes first.
func (i *folderInstance) RefuseInput(action string, refusal *canvas.Error) *canvas.Error {
	if _, err := i.callable(action, nil); err != nil && err.Code != actionsbridge.CodeInvalidInput {
		return canvasError(err)
	}
	evidence := map[string]string{"tool": action, "path": strings.TrimPrefix(refusal.Path, "/input"), "rule": refusal.Rule}
	e := actionsbridge.NewError(actionsbridge.CodeInvalidInput, evidence, "%s", refusal.Message)
	e.NextStep = "correct the arguments; list_canvas_capabilities has the schema"
	return canvasError(e)
}

// pageTime returns the deadline to give to view/1, which ends a call a little earlier.
func pageTime(timeout time.Duration) time.Duration {
	return min(timeout*20/19, timeout+250*time.Millisecond)
}

// ask sends a call to a page and returns the value of its answer.
func (i *folderInstance) ask(ctx context.Context, c *folderCall, d *description, input ahp.Value) (ahp.Value, error) {
	if input == nil {
		input = ahp.Value("{}")
	}
	t := d.tools[c.name]
	item := actionsbridge.Item{Type: actionsbridge.TypeCall, CallID: c.id, Name: c.name, Arguments: input, TimeoutMs: int(c.timeout.Milliseconds())}
	call := ahp.MustMarshal(pageCall{item.Encode(), pageTool{t.X.Handler, t.state(), t.Target}})
	if len(call) > maxCallSize {
		return nil, i.failed(c, actionsbridge.NewError(actionsbridge.CodeInvalidInput, map[string]any{"tool": c.name, "path": "", "rule": "maxLength"}, "the call has %d bytes, at most %d fit a message to a page", len(call), maxCallSize))
	}
	answer, err := i.files.Invoke(ctx, callAction, call)
	if err != nil {
		return nil, i.unanswered(ctx, c, err)
	}
	reply, malformed := actionsbridge.DecodeItem(answer)
	i.mu.Lock()
	known := malformed == nil && i.hasPage(reply.RuntimeID)
	i.mu.Unlock()
	if !known || reply.CallID != c.id {
		return nil, i.failed(c, actionsbridge.NewError(actionsbridge.CodeHandlerFailed, i.calls.evidence(c), "the runtime's answer cannot be read"))
	}
	value, failure := actionsbridge.Outcome(reply)
	if failure == nil {
		failure = d.manifest.CheckResult(c.name, value)
	}
	if failure != nil {
		failure.RuntimeID = reply.RuntimeID
		return nil, i.failed(c, failure)
	}
	return value, nil
}

// hasPage reports whether a page's runtime has an id. i.mu is held.
func (i *folderInstance) hasPage(id string) bool {
	for _, p := range i.pages {
		if p.id == id {
			return true
		}
	}
	return false
}

// failed returns an error about a call.
func (i *folderInstance) failed(c *folderCall, e *actionsbridge.Error) error {
	e.CallID = c.id
	return canvasError(e)
}

// unanswered returns the error for a call that view/1 did not complete.
func (i *folderInstance) unanswered(ctx context.Context, c *folderCall, err error) error {
	evidence := i.calls.evidence(c)
	refuse := func(code, next, format string, args ...any) error {
		e := actionsbridge.NewError(code, evidence, format, args...)
		if next != "" {
			e.NextStep = next
		}
		return i.failed(c, e)
	}
	ce, ok := errors.AsType[*canvas.Error](err)
	switch {
	case err == view.ErrNoView:
		return refuse(actionsbridge.CodeRuntimeNotReady, "ask the person to open the canvas, then try again", "no page has this canvas open")
	case err == view.ErrSilent:
		return refuse(actionsbridge.CodeHandlerTimeout, "", "the page did not answer within %d ms; the action may have happened", c.timeout.Milliseconds())
	case err == view.ErrLeft:
		return refuse(actionsbridge.CodeTransportFailed, "", "the page was closed before it answered; the action may have happened")
	case ok && ce.Code == canvas.CodeNoHandler:
		return refuse(actionsbridge.CodeRuntimeNotReady, "", "the page does not run the runtime of its actions.json")
	case ok:
		return err // the canvas was closed, or too much is in flight
	}
	return err // the agent gave up
}

// longAnswer is what an agent receives at once of a call that takes longer than the host
// waits.
type longAnswer struct {
	Pending bool   `json:"pending"`
	CallID  string `json:"call_id"`
}

// resultEvent is the outcome of such a call, as an event.
type resultEvent struct {
	Type   string    `json:"type"`
	CallID string    `json:"call_id"`
	Name   string    `json:"name"`
	Output ahp.Value `json:"output,omitzero"`
	Error  ahp.Value `json:"error,omitzero"`
}

// invokeLong runs a call whose time is longer than the host's. If the page has not answered
// after patience, the call continues and its outcome is an event.
func (i *folderInstance) invokeLong(ctx context.Context, c *folderCall, d *description, input ahp.Value, patience time.Duration) (ahp.Value, error) {
	type outcome struct {
		value ahp.Value
		err   error
	}
	run, stop := context.WithTimeout(i.calls.ctx, pageTime(c.timeout))
	answers, pending, dropped := make(chan outcome), make(chan struct{}), make(chan struct{})
	started := i.calls.start(func() {
		defer stop()
		defer i.calls.leave(c)
		v, err := i.ask(run, c, d, input)
		select {
		case answers <- outcome{v, err}:
		case <-pending:
			i.raiseResult(c, v, err)
		case <-dropped:
		}
	})
	if !started {
		stop()
		i.calls.leave(c)
		return nil, canvas.Errorf(canvas.CodeProviderUnavailable, "the canvas is closed")
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case o := <-answers:
		return o.value, o.err
	case <-timer.C:
		close(pending)
		return ahp.MustMarshal(longAnswer{true, c.id}), nil
	case <-ctx.Done(): // the agent gave up
		close(dropped)
		stop()
		return nil, context.Cause(ctx)
	}
}

// raiseResult raises the outcome of a call whose Invoke has answered.
func (i *folderInstance) raiseResult(c *folderCall, v ahp.Value, err error) {
	e := resultEvent{Type: "actions.result", CallID: c.id, Name: c.name, Output: v}
	if err != nil {
		code, message := actionsbridge.CodeTransportFailed, err.Error()
		members := map[string]ahp.Value{}
		if ce, ok := errors.AsType[*canvas.Error](err); ok {
			code, message = ce.Code, ce.Message
			if ce.ValidDetails() != nil {
				_ = ahp.Unmarshal(ce.Details, &members) // an object
			}
		}
		members["code"], members["message"] = ahp.MustMarshal(code), ahp.MustMarshal(message)
		e.Output, e.Error = nil, ahp.MustMarshal(members)
	} else if v == nil {
		e.Output = ahp.Null
	}
	_ = i.h.Raise(ahp.MustMarshal(e)) // fails only if the canvas is closed
}
