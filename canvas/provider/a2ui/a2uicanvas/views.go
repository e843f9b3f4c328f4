package a2uicanvas

import (
	"context"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// Limits of what goes to Views.
const (
	eventBytes     = 64 << 10
	replayInterval = time.Second // between replays to one View
	partBytes      = 60 << 10
)

// seat is a View that said hello.
type seat struct {
	last  time.Time   // of its last replay
	timer *time.Timer // of the next one; nil if none is due
}

func (s *seat) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// Message handles a View's message. A View that cannot send a hello of A2UI, because it
// only looks, gets a replay for the hello of view/1.
func (i *panel) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	i.Pages.Message(ctx, from, payload)
	var m struct {
		Tag   string    `json:"x-ahp,omitzero"`
		Type  string    `json:"type,omitzero"`
		Extra ahp.Value `json:",embed"`
	}
	if payload.Kind() != '{' || ahp.Unmarshal(payload, &m) != nil || m.Tag != "view/1" || m.Type != "hello" {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if from.ReadOnly() {
		screen{i}.hello(from)
		return
	}
	i.seat(from)
	i.postTo(from, screen{i}.part(nil, "")) // one that is behind asks for a replay
}

// ViewGone forgets a View.
func (i *panel) ViewGone(from canvas.View) {
	i.mu.Lock()
	if s := i.seats[from.Conn]; s != nil {
		s.stop()
		delete(i.seats, from.Conn)
	}
	i.mu.Unlock()
	i.Pages.ViewGone(from)
}

func (i *panel) seat(v canvas.View) *seat {
	s := i.seats[v.Conn]
	if s == nil {
		s = &seat{}
		i.seats[v.Conn] = s
	}
	return s
}

// message handles an envelope of A2UI.
func (i *panel) message(_ context.Context, from canvas.View, payload ahp.Value) {
	c, err := a2ui.ReadClient(payload)
	i.mu.Lock()
	defer i.mu.Unlock()
	if err != nil {
		i.refuse(from, err)
		return
	}
	if c.Hello {
		i.checkCatalogs(c)
		screen{i}.hello(from)
		return
	}
	if err := i.check(from, c); err != nil {
		i.refuse(from, err)
		return
	}
	models := i.sync(c)
	if len(c.Messages) == 0 && c.Text == "" {
		return
	}
	if i.agent != nil {
		conversation{i}.sendOn(from, c, models)
		return
	}
	i.raise(c, models)
}

// check checks what a person did against the surfaces.
func (i *panel) check(from canvas.View, c a2ui.Client) error {
	if !from.Person() {
		return canvas.ErrNotAPerson
	}
	for _, m := range c.Messages {
		if _, ok := i.surfaces.Surface(m.SurfaceID); !ok {
			return a2ui.Errorf(a2ui.CodeSurfaceNotFound, "this canvas has no surface %q", clip(m.SurfaceID))
		}
		if m.Action != nil && !i.surfaces.Has(m.SurfaceID, m.Component) {
			return a2ui.Errorf(a2ui.CodeValidationFailed, "the surface %q has no component %q", clip(m.SurfaceID), clip(m.Component))
		}
	}
	return nil
}

// sync takes the models of an envelope over and saves them. It returns those that count:
// of surfaces that exist here, sync, and have the version.
func (i *panel) sync(c a2ui.Client) map[string]ahp.Value {
	next := i.surfaces.Clone()
	dropped, changed := next.Sync(c.Models, c.ModelVersion)
	if c.BadModel {
		dropped++
	}
	if dropped > 0 {
		i.p.logger.Info("a2ui: data models dropped", "count", dropped)
	}
	if changed {
		if err := i.commit(i.h.Context(), next, 0); err != nil {
			i.p.logger.Warn("a2ui: data model not saved", "err", err)
			i.surfaces = next // the agent gets what the person sees
		}
	}
	models := map[string]ahp.Value{}
	for id, v := range c.Models {
		if f, ok := i.surfaces.Surface(id); ok && f.SendDataModel && ahp.Equal(i.surfaces.Model(id), v) {
			models[id] = v
		}
	}
	return models
}

// owned returns the models of one owner's surfaces.
func (i *panel) owned(models map[string]ahp.Value, owner string) map[string]ahp.Value {
	if len(models) == 0 {
		return nil
	}
	whole := ahp.MustMarshal(struct {
		Surfaces map[string]ahp.Value `json:"surfaces"`
	}{models})
	var left struct {
		Surfaces map[string]ahp.Value `json:"surfaces"`
	}
	if ahp.Unmarshal(i.surfaces.Owners().Strip(whole, owner), &left) != nil || len(left.Surfaces) == 0 {
		return nil
	}
	return left.Surfaces
}

// event is an event for the agent of a session.
type event struct {
	Type          string               `json:"type"`
	Version       string               `json:"version,omitzero"`
	Action        ahp.Value            `json:"action,omitzero"`
	Error         ahp.Value            `json:"error,omitzero"`
	Agent         string               `json:"agent,omitzero"`
	Text          string               `json:"text,omitzero"`
	State         string               `json:"state,omitzero"`
	DataModel     map[string]ahp.Value `json:"dataModel,omitzero"`
	DataModelLost bool                 `json:"dataModelLost,omitzero"`
}

// raise raises the events of an envelope, each for the agent that owns the surface. A text
// goes to each agent that has drawn something.
func (i *panel) raise(c a2ui.Client, models map[string]ahp.Value) {
	acted := false
	for _, m := range c.Messages {
		f, _ := i.surfaces.Surface(m.SurfaceID) // check has found it
		e := event{Type: "a2ui.action", Version: f.Version, Action: m.Action, DataModel: i.owned(models, f.Owner)}
		if m.Error != nil {
			e.Type, e.Error, e.DataModel = "a2ui.error", m.Error, nil
		}
		acted = acted || m.Error == nil
		i.raiseFor(f.Owner, e)
	}
	if c.Text != "" {
		for _, owner := range i.listeners() {
			i.raiseFor(owner, event{Type: "a2ui.text", Text: c.Text, DataModel: i.owned(models, owner)})
		}
		acted = true
	}
	if acted {
		i.showStatus(statusWorking)
	}
}

// listeners are the agents that a person's text is for.
func (i *panel) listeners() (owners []string) {
	for _, f := range i.surfaces.List() {
		if !slices.Contains(owners, f.Owner) {
			owners = append(owners, f.Owner)
		}
	}
	if len(owners) == 0 {
		return []string{sessionAgent}
	}
	return owners
}

// raiseFor raises an event for one agent, without the models if it would be too large.
func (i *panel) raiseFor(owner string, e event) {
	raw := ahp.MustMarshal(e)
	if len(raw) > eventBytes {
		e.DataModel, e.DataModelLost = nil, true
		raw = ahp.MustMarshal(e)
	}
	if err := i.h.RaiseFor(caller(owner), raw); err != nil && i.h.Context().Err() == nil {
		i.p.logger.Warn("a2ui: event not raised", "type", e.Type, "err", err)
	}
}

// maxErrorEvents limits the events for the messages of an open that were not applied.
const maxErrorEvents = 5

// raiseErrors reports what an open did not apply, for which its answer has no place.
func (i *panel) raiseErrors(owner string, failures []a2ui.Failure) {
	for _, f := range failures[:min(len(failures), maxErrorEvents)] {
		i.raiseFor(owner, event{Type: "a2ui.error", Version: a2ui.V09, Error: ahp.MustMarshal(f)})
	}
}

// refusal and notices of the host, to one View or all.
type toView struct {
	Kind    string  `json:"a2ui"`
	Code    string  `json:"code,omitzero"`
	Message string  `json:"message,omitzero"`
	Agent   string  `json:"agent,omitzero"`
	State   string  `json:"state,omitzero"`
	Text    *string `json:"text,omitzero"`
}

// refuse answers an envelope that was refused.
func (i *panel) refuse(to canvas.View, err error) {
	code, message := canvas.CodeInputInvalid, err.Error()
	switch e := err.(type) {
	case *a2ui.Error:
		code, message = e.Code, e.Message
		if e.Path != "" {
			message = e.Path + ": " + message
		}
	case *canvas.Error:
		code, message = e.Code, e.Message
	}
	i.p.logger.Info("a2ui: message of a View refused", "code", code)
	i.postTo(to, ahp.MustMarshal(toView{Kind: "refused", Code: code, Message: message}))
}

// checkCatalogs notes a View that cannot draw what is here.
func (i *panel) checkCatalogs(c a2ui.Client) {
	used := i.surfaces.Catalogs()
	if c.Catalogs == nil || len(used) == 0 {
		return
	}
	for _, id := range used {
		ids := []string{id}
		if id == a2ui.BasicCatalogID {
			ids = a2ui.BasicCatalogIDs()
		}
		if !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(c.Catalogs, id) }) {
			i.showStatus(statusCannot)
			return
		}
	}
}

func clip(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
