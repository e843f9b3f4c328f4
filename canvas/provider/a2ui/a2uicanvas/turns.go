package a2uicanvas

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// Limits of turns with a remote agent.
const (
	maxWaiting  = 8 // turns of an instance that wait for the running one
	turnTimeout = 10 * time.Minute
	idleTimeout = 120 * time.Second      // without a word of the agent
	saveEvery   = 500 * time.Millisecond // while an answer streams
	sayTimeout  = 5 * time.Second
	maxReply    = 4000 // code points of an agent's text
)

// States of a turn beside those of A2A.
const (
	stateWorking     = "working"
	stateCompleted   = "completed"
	stateCanceled    = "canceled"
	stateSilent      = "silent"
	stateUnavailable = "unavailable"
)

// turn is a turn with what becomes of it.
type turn struct {
	a2ui.Turn
	person bool // an act of a person or of the session's agent, and not the host's answer to an error
	say    bool // the session's agent waits for the answer
	answer chan answer
	state  string
	text   string
	errors []a2ui.Failure
	result *answer // once it has ended
}

// answer is how a turn ended.
type answer struct {
	state, text string
	errors      []a2ui.Failure
	err         error
}

// turns are the turns of an instance. The panel's mu guards it.
type turns struct {
	waiting           []*turn
	running           bool
	idle              chan struct{} // closed while nothing runs
	stop              context.CancelFunc
	contextID, taskID string
	corrected         bool // the host has answered errors since the last act
	state, text       string
	unsaved           bool
}

func (q *turns) init() {
	q.idle = make(chan struct{})
	close(q.idle)
	q.stop = func() {}
}

// cancel ends the running turn and drops the others.
func (q *turns) cancel() {
	for _, t := range q.waiting {
		t.answer <- answer{state: stateCanceled, err: errCanceled}
	}
	q.waiting = nil
	q.stop()
}

// wait waits until nothing runs.
func (q *turns) wait(ctx context.Context) {
	select {
	case <-q.idle:
	case <-ctx.Done():
	}
}

// statusMessage is what a View learns of the last turn; nil if there was none.
func (q *turns) statusMessage(agent string) ahp.Value {
	if agent == "" {
		return nil
	}
	return ahp.MustMarshal(toView{Kind: "status", Agent: agent, State: q.state, Text: &q.text})
}

var (
	errCanceled = canvas.Errorf(canvas.CodeProviderUnavailable, "the canvas was closed")
	errSilent   = errors.New("the agent does not answer")
)

// sendOn sends what a person did to the remote agent. mu is held.
func (i *panel) sendOn(from canvas.View, c a2ui.Client, models map[string]ahp.Value) {
	t := turn{Turn: a2ui.Turn{Text: c.Text}, person: true}
	for _, m := range c.Messages {
		f, _ := i.surfaces.Surface(m.SurfaceID) // check has found it
		t.Messages = append(t.Messages, clientMessage{Version: f.Version, Action: m.Action, Error: m.Error}.encode())
	}
	if own := i.owned(models, i.agent.Name()); own != nil {
		t.Model = ahp.MustMarshal(struct {
			Version  string               `json:"version"`
			Surfaces map[string]ahp.Value `json:"surfaces"`
		}{c.ModelVersion, own})
	}
	if _, err := i.enqueue(t); err != nil {
		i.refuse(from, err)
	}
}

// clientMessage is a message from a renderer to an agent.
type clientMessage struct {
	Version string    `json:"version"`
	Action  ahp.Value `json:"action,omitzero"`
	Error   ahp.Value `json:"error,omitzero"`
}

func (m clientMessage) encode() ahp.Value { return ahp.MustMarshal(m) }

// enqueue adds a turn and starts the turns if none runs. mu is held.
func (i *panel) enqueue(t turn) (*turn, error) {
	q := &i.turns
	if i.ended {
		return nil, errCanceled
	}
	if len(q.waiting) >= maxWaiting {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%s is still busy, and %d requests wait; try again when it has answered", i.agent.Name(), len(q.waiting))
	}
	t.answer = make(chan answer, 1)
	if t.person {
		q.corrected = false
	}
	q.waiting = append(q.waiting, &t)
	if !q.running {
		q.running, q.idle = true, make(chan struct{})
		i.p.done.Go(i.runTurns)
	}
	return &t, nil
}

// runTurns runs turns one after the other until none waits.
func (i *panel) runTurns() {
	for {
		i.mu.Lock()
		q := &i.turns
		if len(q.waiting) == 0 || i.ended {
			q.running = false
			close(q.idle)
			i.showStatus(i.status())
			i.mu.Unlock()
			return
		}
		t := q.waiting[0]
		q.waiting = q.waiting[1:]
		t.ContextID, t.TaskID = q.contextID, q.taskID
		if t.Model == nil {
			t.Model = i.dataModel()
		}
		ctx, cancel := context.WithTimeout(i.p.ctx, turnTimeout)
		q.stop = cancel
		i.setState(stateWorking, "")
		i.showStatus(i.status())
		i.mu.Unlock()
		t.answer <- i.runTurn(ctx, t)
		cancel()
	}
}

// dataModel is the stored model of the agent's surfaces that sync.
func (i *panel) dataModel() ahp.Value {
	for _, version := range a2ui.Versions() {
		if m := i.surfaces.DataModel(i.agent.Name(), version); m != nil {
			return m
		}
	}
	return nil
}

// runTurn runs one turn. The agent must say something every two minutes.
func (i *panel) runTurn(ctx context.Context, t *turn) answer {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(idleTimeout, func() { cancel(errSilent) })
	defer idle.Stop()
	save := time.NewTicker(saveEvery)
	defer save.Stop()
	done := make(chan error, 1)
	go func() {
		done <- i.agent.Send(ctx, t.Turn, func(r a2ui.Reply) {
			idle.Reset(idleTimeout)
			i.reply(t, r)
		})
	}()
	for {
		select {
		case err := <-done:
			return i.endTurn(t, err, context.Cause(ctx))
		case <-save.C:
			i.mu.Lock()
			i.saveStream()
			i.mu.Unlock()
		}
	}
}

// reply draws a part of an answer.
func (i *panel) reply(t *turn, r a2ui.Reply) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		return
	}
	if r.ContextID != "" {
		i.turns.contextID = r.ContextID
	}
	if r.TaskID != "" {
		i.turns.taskID = r.TaskID
	}
	if finalState(r.State) {
		i.turns.taskID = "" // an agent refuses messages for a task that has ended
	}
	for _, p := range r.Parts {
		i.draw(t, p)
	}
	if r.Text != "" {
		t.text = clipTo(strings.TrimSpace(t.text+"\n"+r.Text), maxReply)
	}
	if r.State != "" {
		t.state = r.State
	}
	if r.State != "" || r.Text != "" {
		i.setState(t.state, t.text)
	}
	if r.Ignored > 0 {
		i.p.logger.Info("a2ui: parts that are neither text nor A2UI", "count", r.Ignored)
	}
}

// finalState reports whether a task with this state has ended.
func finalState(state string) bool {
	return state == stateCompleted || state == stateCanceled || state == "failed" || state == "rejected"
}

// draw applies one part.
func (i *panel) draw(t *turn, part ahp.Value) {
	list, err := a2ui.Messages(part)
	if err != nil {
		f := a2ui.Failure{Code: a2ui.CodeValidationFailed, Message: err.Error()}
		if e, ok := errors.AsType[*a2ui.Error](err); ok {
			f.Code, f.Path, f.Message = e.Code, e.Path, e.Message
		}
		t.errors = append(t.errors, f)
		return
	}
	next := i.surfaces.Clone()
	r := next.Apply(i.agent.Name(), list)
	if len(t.errors) < maxErrors {
		t.errors = append(t.errors, r.Errors...)
	}
	if r.Applied > 0 {
		i.surfaces, i.turns.unsaved = next, true
		i.postParts(batches(r.Out))
	}
}

// saveStream saves what has been drawn since the last time. mu is held.
func (i *panel) saveStream() {
	if !i.turns.unsaved || i.ended {
		return
	}
	i.turns.unsaved = false
	if err := i.commit(i.h.Context(), i.surfaces, 0); err != nil {
		i.turns.unsaved = true
		i.p.logger.Warn("a2ui: surfaces not saved", "err", err)
	}
}

// setState shows all Views what a turn is doing. mu is held.
func (i *panel) setState(state, text string) {
	i.turns.state, i.turns.text = state, text
	i.post(i.turns.statusMessage(i.agent.Name()))
}

// endTurn saves, reports the end, and sends back what the agent sent wrong: once until
// the next act, because two programs must not argue at a person's expense.
func (i *panel) endTurn(t *turn, err, cause error) answer {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.turns.unsaved = true // the conversation's ids
	i.saveStream()
	a := answer{state: t.state, text: t.text, errors: t.errors, err: i.turnError(err, cause)}
	switch e, _ := errors.AsType[*canvas.Error](a.err); {
	case a.err == nil && (a.state == "" || a.state == stateWorking || a.state == "submitted"):
		a.state = stateCompleted
	case a.err == nil:
	case e != nil && e.Code == a2ui.CodeAgentSilent:
		a.state = stateSilent
	case e != nil && e.Code == canvas.CodeProviderUnavailable:
		a.state = stateCanceled
	default:
		a.state = stateUnavailable
	}
	i.setState(a.state, t.text)
	if len(t.errors) > 0 && !i.turns.corrected && !i.ended && a.err == nil {
		correction := turn{}
		for _, f := range t.errors[:min(len(t.errors), maxErrorEvents)] {
			correction.Messages = append(correction.Messages, failureMessage(f))
		}
		if _, err := i.enqueue(correction); err == nil {
			i.turns.corrected = true
		}
	}
	t.result = &a
	if t.say {
		i.raiseFor(sessionAgent, event{Type: "a2ui.reply", Agent: i.agent.Name(), Text: t.text, State: a.state})
	}
	return a
}

// turnError returns the error of a turn for agents, nil if it ended well.
func (i *panel) turnError(err, cause error) error {
	switch {
	case errors.Is(cause, errSilent):
		return canvas.Errorf(a2ui.CodeAgentSilent, "%s has not answered for %d seconds", i.agent.Name(), int(idleTimeout.Seconds()))
	case i.ended:
		return errCanceled
	case err == nil:
		return nil
	}
	if e, ok := errors.AsType[*a2ui.Error](err); ok {
		return canvas.Errorf(e.Code, "%s", e.Message)
	}
	return canvas.Errorf(a2ui.CodeAgentUnavailable, "%s could not be asked", i.agent.Name())
}

// failureMessage returns the error message of A2UI for what an agent sent wrong. Its path
// is relative to the update's body.
func failureMessage(f a2ui.Failure) ahp.Value {
	body := struct {
		Code      string `json:"code"`
		SurfaceID string `json:"surfaceId"`
		Path      string `json:"path,omitzero"`
		Message   string `json:"message"`
	}{f.Code, f.SurfaceID, "", f.Message}
	if f.Code == a2ui.CodeValidationFailed {
		body.Path = "/"
		if at := strings.Index(strings.TrimPrefix(f.Path, "/"), "/"); at >= 0 {
			body.Path = f.Path[at+1:]
		}
	}
	return clientMessage{Version: a2ui.V09, Error: ahp.MustMarshal(body)}.encode()
}

// said is the value of say.
type said struct {
	Text     string         `json:"text"`
	State    string         `json:"state"`
	Surfaces []surfaceInfo  `json:"surfaces"`
	Errors   []a2ui.Failure `json:"errors"`
}

// say sends a text to the remote agent, and returns its answer, or after 5 s that it works.
func (i *panel) say(ctx context.Context, in input) (any, error) {
	i.mu.Lock()
	t, err := i.enqueue(turn{Turn: a2ui.Turn{Text: in.Text}, person: true})
	i.mu.Unlock()
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(sayTimeout)
	defer timer.Stop()
	a := answer{state: stateWorking}
	select {
	case a = <-t.answer:
	case <-timer.C:
	case <-ctx.Done():
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if t.result != nil {
		a = *t.result // it may have ended at the last moment
	} else if a.err == nil {
		t.say = true
	}
	if a.err != nil {
		return nil, a.err
	}
	return said{a.text, a.state, i.infos(i.agent.Name()), fitting(a.errors)}, nil
}

// clipTo cuts a text to a number of code points, from its beginning.
func clipTo(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return s
}
