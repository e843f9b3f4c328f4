package aapcanvas

import (
	"context"
	"errors"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// toView is a message to the bridge.
type toView struct {
	Type    string    `json:"type"`
	Ref     string    `json:"ref,omitzero"`
	ID      string    `json:"id,omitzero"`
	Summary string    `json:"summary,omitzero"`
	Error   string    `json:"error,omitzero"`
	Message string    `json:"message,omitzero"`
	Field   string    `json:"field,omitzero"`
	Removed bool      `json:"removed,omitzero"`
	Version string    `json:"version,omitzero"` // of the page
	Note    string    `json:"note,omitzero"`
	Data    ahp.Value `json:"data,omitzero"`
}

// unavailable is the code of a refusal that the bridge tries again.
const unavailable = "unavailable"

// message handles a View's message. It returns when an interaction is on the disk: the
// host queues the next messages meanwhile.
func (i *page) message(ctx context.Context, from canvas.View, payload ahp.Value) {
	switch typeOf(payload) {
	case "aap:load":
		_ = i.Reload(from) // the View has left
		return
	case "aap:shown":
		i.loaded(from, payload)
		return
	}
	in, ok, err := aap.ParseMessage(payload)
	if !ok {
		return
	}
	agent, file := i.shown()
	var rec aap.Record
	if err == nil {
		err = from.MustBePerson()
	}
	if err == nil {
		in.CanvasFile, in.Source = file, i.source()
		rec, err = i.p.store.Submit(ctx, agent.ID, in)
	}
	if in.Ref == "" {
		return // the sender does not wait
	}
	answer := toView{Type: "aap:stored", Ref: in.Ref, ID: rec.ID, Summary: rec.Summary}
	if err != nil {
		answer = refusal(in.Ref, err)
	}
	_ = i.h.PostTo(i.h.Context(), from, ahp.MustMarshal(answer)) // the View has left, and asks again
}

// loaded tells a View whose page is another one by now: the change came while it loaded.
func (i *page) loaded(from canvas.View, payload ahp.Value) {
	var m struct {
		Version string `json:"version"`
	}
	if ahp.Unmarshal(payload, &m) != nil {
		return
	}
	agent, file := i.shown()
	info, err := i.p.store.PageInfo(agent.ID, file)
	if err == nil && versionOf(info) == m.Version {
		return
	}
	_ = i.h.PostTo(i.h.Context(), from, ahp.MustMarshal(changed(info, err))) // the View has left
}

// changed says what a page is now, given what the store knows about it.
func changed(info aap.Page, err error) toView {
	m := toView{Type: "aap:changed", Removed: errors.Is(err, &aap.Error{Code: aap.CodeNotFound})}
	if err == nil {
		m.Version = versionOf(info)
	}
	return m
}

// source names the instance to the provider's own watcher.
func (i *page) source() string { return i.h.Session() + "\x00" + i.h.InstanceID() }

func refusal(ref string, err error) toView {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return toView{Type: "aap:refused", Ref: ref, Error: e.Code, Message: e.Message}
	}
	e, ok := errors.AsType[*aap.Error](err)
	if !ok || e.Code == aap.CodeInternal {
		return toView{Type: "aap:refused", Ref: ref, Error: unavailable, Message: "the host could not store it"}
	}
	return toView{Type: "aap:refused", Ref: ref, Error: e.Code, Message: e.Message, Field: e.Field}
}

// typeOf returns the member type of a payload.
func typeOf(payload ahp.Value) (kind string) {
	var m struct {
		Type ahp.Value `json:"type,omitzero"`
	}
	if payload.Kind() == '{' && ahp.Unmarshal(payload, &m) == nil && m.Type.Kind() == '"' {
		_ = ahp.Unmarshal(m.Type, &kind) // it is a string
	}
	return kind
}

// changed is called by the store for each change. It does not block.
func (p *Provider) changed(c aap.Change) {
	key := pageKey{c.Agent.ID, c.File}
	switch c.Kind {
	case aap.RecordStored:
		p.recorded(c)
	case aap.RecordAcknowledged:
		p.tell(key, toView{Type: "aap:acknowledged", ID: c.Acknowledgment.ID, Note: c.Acknowledgment.Note})
	case aap.PageNew:
		for _, i := range p.showing(key) {
			_ = i.Reload() // its Views show no page with a bridge
		}
		p.enqueue(key)
	case aap.PageChanged, aap.PageGone:
		p.enqueue(key)
	}
	p.refreshLists()
}

// showing returns the instances that show a page.
func (p *Provider) showing(key pageKey) (list []*page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.pages {
		if i.key() == key {
			list = append(list, i)
		}
	}
	return list
}

// tell sends a message to all Views of a page.
func (p *Provider) tell(key pageKey, m toView) {
	for _, i := range p.showing(key) {
		_ = i.h.Post(i.h.Context(), ahp.MustMarshal(m)) // the canvas was closed meanwhile
	}
}

// event is what the agent of a session receives for a record.
type event struct {
	Type        string     `json:"type"`
	AgentID     string     `json:"agentId"`
	AgentName   string     `json:"agentName"`
	Line        string     `json:"line"`
	Interaction aap.Record `json:"interaction"`
	DataOmitted bool       `json:"dataOmitted,omitzero"`
}

const maxEvent = 64 << 10

// recorded raises the events of a record, and notifies its agent.
func (p *Provider) recorded(c aap.Change) {
	line := aap.Line(c.Record)
	e := event{"aap.interaction", c.Agent.ID, c.Agent.Name, line, c.Record, false}
	raw := ahp.MustMarshal(e)
	if len(raw) > maxEvent {
		e.Interaction.Data, e.DataOmitted = nil, true
		raw = ahp.MustMarshal(e)
	}
	p.raise(c, raw)
	status := lastStatus(c.Record.Action, c.Record.Element)
	for _, i := range p.showing(pageKey{c.Agent.ID, c.File}) {
		_ = i.h.SetStatus(i.h.Context(), status) // the canvas was closed meanwhile
	}
	if p.opts.Notify != nil {
		p.opts.Notify(c.Agent, c.Record, line)
	}
}

// raise raises an event once in each session that it concerns.
func (p *Provider) raise(c aap.Change, raw ahp.Value) {
	raised := map[string]bool{}
	for _, i := range p.showing(pageKey{c.Agent.ID, c.File}) {
		if raised[i.h.Session()] || c.Source != "" && c.Source != i.source() {
			continue
		}
		if err := i.h.Raise(raw); err == nil {
			raised[i.h.Session()] = true
		}
	}
	if len(raised) > 0 || p.opts.Raise == nil {
		return
	}
	if err := p.opts.Raise(p.opts.Session, raw); err != nil {
		p.logger.Error("aap: an event could not be raised", "err", err)
	}
}
