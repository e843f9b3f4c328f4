package a2uicanvas

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// What the status says.
const (
	statusWaits   = "Waits for you"
	statusWorking = "Working…"
	statusCannot  = "A page cannot draw this"
	statusAway    = "Not reached yet"
)

// panel is an open canvas: the surfaces of the session's agents, or of one remote agent.
type panel struct {
	*view.Pages
	p     *Provider
	h     *canvas.Handle
	agent a2ui.Agent // nil for the agents of the session

	mu       sync.Mutex
	surfaces *a2ui.Surfaces
	rev      int64 // of what Views have
	input    string
	kept     ahp.Value
	title    string
	seats    map[channels.ConnID]*seat
	ended    bool
	pictures pictures
	turns    turns
}

// record is what an instance keeps.
type record struct {
	Surfaces  ahp.Value `json:"surfaces"`
	Rev       int64     `json:"rev"`
	Input     string    `json:"input,omitzero"` // the hash of the last input
	Kept      ahp.Value `json:"kept,omitzero"`  // what the host keeps as the input
	Title     string    `json:"title,omitzero"`
	ContextID string    `json:"contextId,omitzero"` // of a remote agent's conversation
	TaskID    string    `json:"taskId,omitzero"`
}

func newPanel(p *Provider, h *canvas.Handle, agent a2ui.Agent) *panel {
	i := &panel{p: p, h: h, agent: agent, surfaces: a2ui.NewSurfaces(p.opts.Limits, p.catalogs()...), seats: map[channels.ConnID]*seat{}}
	i.Pages = view.New(view.Options{To: h, OnMessage: i.message, NewID: p.opts.NewID})
	i.turns.init()
	return i
}

// restore reads what the instance has kept.
func (i *panel) restore(saved []byte) error {
	if saved == nil {
		return nil
	}
	var r record
	err := ahp.Unmarshal(saved, &r)
	if err == nil {
		err = i.surfaces.Load(r.Surfaces)
	}
	if err != nil {
		return fmt.Errorf("the saved data of the canvas cannot be read: %w", err)
	}
	i.rev, i.input, i.kept, i.title = r.Rev, r.Input, r.Kept, r.Title
	i.turns.contextID, i.turns.taskID = r.ContextID, r.TaskID
	if i.agent != nil {
		i.rev += streamed // pages can have revisions that were not saved
	}
	return nil
}

// streamed is above the number of revisions between two saves of a stream.
const streamed = 1 << 20

// openInput is the input of both kinds of canvases.
type openInput struct {
	Title    string    `json:"title,omitzero"`
	Messages ahp.Value `json:"messages,omitzero"`
	Text     string    `json:"text,omitzero"`
}

// open applies an input, unless it was applied before.
func (i *panel) open(ctx context.Context, req canvas.OpenRequest) (canvas.Opened, error) {
	var in openInput
	if req.Input != nil {
		if err := ahp.Unmarshal(req.Input, &in); err != nil {
			return canvas.Opened{}, canvas.Errorf(canvas.CodeInputInvalid, "the input does not fit: %v", err)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	hash := hashOf(req.Input)
	again := i.input == hash || req.Current == nil && i.input != "" && (req.Input == nil || ahp.Equal(req.Input, i.kept))
	if !again {
		if err := i.begin(ctx, in, hash); err != nil {
			return canvas.Opened{}, err
		}
	}
	o := canvas.Opened{Instance: i, URL: i.h.ContentURL("/"), Links: true, Input: i.kept,
		Title: cmp.Or(i.title, i.name(), "A2UI"), Status: i.status()}
	return o, nil
}

// begin begins with another input: the caller's surfaces go, and the messages are applied.
// mu is held.
func (i *panel) begin(ctx context.Context, in openInput, hash string) error {
	owner := i.owner(ctx)
	next := i.surfaces.Clone()
	next.Clear(owner)
	var result a2ui.Result
	if in.Messages != nil && i.agent == nil {
		list, err := a2ui.Messages(in.Messages)
		if err != nil {
			return inputError(err, "/input/messages")
		}
		result = next.Apply(owner, list)
		if err := resultError(result, len(list)); err != nil {
			return err
		}
	}
	before := *i.keep()
	i.input, i.title, i.kept = hash, in.Title, ahp.Value("{}")
	if in.Title != "" {
		i.kept = ahp.MustMarshal(openInput{Title: in.Title})
	}
	if err := i.commit(ctx, next, 1); err != nil {
		i.input, i.title, i.kept = before.Input, before.Title, before.Kept
		return err
	}
	screen{i}.replayAll()
	i.raiseErrors(owner, result.Errors)
	if i.agent != nil && in.Text != "" {
		_, err := conversation{i}.enqueue(turn{Turn: a2ui.Turn{Text: in.Text}, person: true})
		return err
	}
	return nil
}

func hashOf(input ahp.Value) string {
	if input == nil {
		input = ahp.Value("{}")
	}
	sum := sha256.Sum256(input)
	return hex.EncodeToString(sum[:])
}

// keep returns what is saved. mu is held.
func (i *panel) keep() *record {
	return &record{i.surfaces.Save(), i.rev, i.input, i.kept, i.title, i.turns.contextID, i.turns.taskID}
}

// commit saves surfaces and a number of further revisions, and then replaces the ones that
// are shown. On an error nothing has changed. mu is held.
func (i *panel) commit(ctx context.Context, next *a2ui.Surfaces, revisions int) error {
	before := i.surfaces
	i.surfaces = next
	i.rev += int64(revisions)
	err := i.h.Save(ctx, ahp.MustMarshal(i.keep()))
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		i.surfaces = before
		i.rev -= int64(revisions)
		return err
	}
	i.rev -= int64(revisions) // posting counts them
	return nil
}

// name is the remote agent's, "" for the agents of the session.
func (i *panel) name() string {
	if i.agent == nil {
		return ""
	}
	return i.agent.Name()
}

// sessionAgent is the owner for agents that use the host's agent token.
const sessionAgent = "Agent"

// owner is who owns what a call draws: the remote agent, or the name of the caller's token.
func (i *panel) owner(ctx context.Context) string {
	if i.agent != nil {
		return i.agent.Name()
	}
	switch name := canvas.Caller(ctx); name {
	case "":
		return sessionAgent
	case sessionAgent:
		return name + " (token)" // another one than the session's
	default:
		return name
	}
}

// caller is the inverse of owner: the name for Handle.RaiseFor.
func caller(owner string) string {
	switch owner {
	case sessionAgent:
		return ""
	case sessionAgent + " (token)":
		return sessionAgent
	}
	return owner
}

// status is the card's line. mu is held.
func (i *panel) status() string {
	switch {
	case i.turns.running:
		return statusWorking
	case !i.p.reached(i.name()):
		return statusAway
	case len(i.surfaces.List()) > 0:
		return statusWaits
	}
	return ""
}

// showStatus updates the card's line. mu is held.
func (i *panel) showStatus(words string) {
	if err := i.h.SetStatus(i.h.Context(), words); err != nil && i.h.Context().Err() == nil {
		i.p.logger.Warn("a2ui: status not updated", "err", err)
	}
	work := ""
	if i.turns.running {
		work = i.name() + " works on it"
	}
	_ = i.h.Progress(0, 0, work) // of a turn only its end is known
}

// Close ends the instance. A turn of a remote agent is canceled.
func (i *panel) Close(ctx context.Context) error {
	i.end()
	i.turns.wait(ctx)
	return i.Pages.Close(ctx)
}

// reachedChanged shows that the remote agent has been reached, or that it has not.
func (i *panel) reachedChanged() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		return
	}
	if i.turns.state == stateUnavailable && i.p.reached(i.name()) {
		i.turns.state = ""
	}
	i.showStatus(i.status())
	i.post(i.statusMessage())
}

// end stops what works for the instance.
func (i *panel) end() {
	i.p.track(i, false)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	i.turns.cancel()
	for conn, s := range i.seats {
		s.stop()
		delete(i.seats, conn)
	}
}
