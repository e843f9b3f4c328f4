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

// reply draws a part of an answer.
func (i conversation) reply(t *turn, r a2ui.Reply) {
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
func (i conversation) draw(t *turn, part ahp.Value) {
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
		screen(i).postParts(batches(r.Out))
	}
}

// saveStream saves what has been drawn since the last time. mu is held.
func (i conversation) saveStream() {
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
func (i conversation) setState(state, text string) {
	i.turns.state, i.turns.text = state, text
	i.post(i.statusMessage())
}

// endTurn saves, reports the end, and sends back what the agent sent wrong: once until
// the next act, because two programs must not argue at a person's expense.
func (i conversation) endTurn(t *turn, err, cause error) answer {
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
func (i conversation) turnError(err, cause error) error {
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
func (i conversation) say(ctx context.Context, in input) (any, error) {
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
	return said{a.text, a.state, endpoint(i).infos(i.agent.Name()), fitting(a.errors)}, nil
}

// clipTo cuts a text to a number of code points, from its beginning.
func clipTo(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return s
}
