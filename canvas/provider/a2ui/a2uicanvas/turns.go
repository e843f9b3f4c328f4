package a2uicanvas

import (
	"context"
	"errors"
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
	stateUnreached   = "unreached"
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

// conversation is a panel's side toward its remote agent.
type conversation struct{ *panel }

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

// statusMessage is what a View learns of the last turn, or that the remote agent has not
// been reached; nil without one. mu is held.
func (i *panel) statusMessage() ahp.Value {
	if i.agent == nil {
		return nil
	}
	q := &i.turns
	state := q.state
	if !q.running && !i.p.reached(i.name()) {
		state = stateUnreached
	}
	return ahp.MustMarshal(toView{Kind: "status", Agent: i.name(), State: state, Text: &q.text})
}

var (
	errCanceled = canvas.Errorf(canvas.CodeProviderUnavailable, "the canvas was closed")
	errSilent   = errors.New("the agent does not answer")
)

// sendOn sends what a person did to the remote agent. mu is held.
func (i conversation) sendOn(from canvas.View, c a2ui.Client, models map[string]ahp.Value) {
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
func (i conversation) enqueue(t turn) (*turn, error) {
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
func (i conversation) runTurns() {
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
		t.ContextID, t.TaskID, t.Capabilities = q.contextID, q.taskID, a2ui.Capabilities(i.p.catalogs()...)
		if t.Model == nil {
			t.Model = i.dataModel()
		}
		ctx, cancel := context.WithTimeout(i.p.ctx, turnTimeout)
		q.stop = cancel
		i.setState(stateWorking, "")
		i.showStatus(i.status())
		i.mu.Unlock()
		a := i.runTurn(ctx, t)
		if a.err == nil {
			i.p.SetReached(i.agent.Name(), true)
		}
		t.answer <- a
		cancel()
	}
}

// dataModel is the stored model of the agent's surfaces that sync.
func (i conversation) dataModel() ahp.Value {
	for _, version := range a2ui.Versions() {
		if m := i.surfaces.DataModel(i.agent.Name(), version); m != nil {
			return m
		}
	}
	return nil
}

// runTurn runs one turn. The agent must say something every two minutes.
func (i conversation) runTurn(ctx context.Context, t *turn) answer {
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
