package a2uicanvas

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// Limits of answers.
const (
	maxErrors   = 50
	errorsBytes = 32 << 10
	answerBytes = 60 << 10
	askTimeout  = 3 * time.Second // for a page to say what is entered
)

// input is the input of every action. The host has validated it against the action's
// schema.
type input struct {
	Messages  ahp.Value `json:"messages,omitzero"`
	Component string    `json:"component,omitzero"`
	CatalogID string    `json:"catalogId,omitzero"`
	SurfaceID string    `json:"surfaceId,omitzero"`
	Text      string    `json:"text,omitzero"`
}

// endpoint is a panel's side toward the agents of the session.
type endpoint struct{ *panel }

// Invoke runs an action of the session's agent.
func (i *panel) Invoke(ctx context.Context, action string, raw ahp.Value) (ahp.Value, error) {
	var in input
	if raw != nil {
		if err := ahp.Unmarshal(raw, &in); err != nil {
			return nil, canvas.Errorf(canvas.CodeInputInvalid, "the input does not fit: %v", err)
		}
	}
	var value any
	var err error
	switch {
	case i.agent != nil && action == "say":
		value, err = conversation{i}.say(ctx, in)
	case i.agent != nil:
		return nil, canvas.Errorf(canvas.CodeNoHandler, "this canvas has no action %q", action)
	case action == "apply":
		value, err = endpoint{i}.apply(ctx, in)
	case action == "get_catalog":
		value, err = i.p.getCatalog(in)
	case action == "get_data_model":
		value, err = endpoint{i}.getDataModel(ctx, in)
	case action == "get_surfaces":
		value, err = endpoint{i}.getSurfaces(ctx, in)
	default:
		return nil, canvas.Errorf(canvas.CodeNoHandler, "this canvas has no action %q", action)
	}
	if err != nil {
		return nil, err
	}
	return ahp.Marshal(value)
}

// surfaceInfo describes a surface for an agent.
type surfaceInfo struct {
	SurfaceID     string `json:"surfaceId"`
	Components    int    `json:"components"`
	SendDataModel bool   `json:"sendDataModel"`
}

// applied is the value of apply.
type applied struct {
	Applied  int            `json:"applied"`
	Errors   []a2ui.Failure `json:"errors"`
	Warnings []a2ui.Failure `json:"warnings"`
	Surfaces []surfaceInfo  `json:"surfaces"`
	Pages    int            `json:"pages"`
}

// apply applies messages, and answers when they are saved.
func (i endpoint) apply(ctx context.Context, in input) (any, error) {
	list, err := a2ui.Messages(in.Messages)
	if err != nil {
		return nil, inputError(err, "/input/messages")
	}
	owner := i.owner(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	next := i.surfaces.Clone()
	r := next.Apply(owner, list)
	if err := resultError(r, len(list)); err != nil {
		return nil, err
	}
	if r.Applied > 0 {
		parts := batches(r.Out)
		if err := i.commit(ctx, next, len(parts)); err != nil {
			return nil, err
		}
		screen(i).postParts(parts)
		i.showStatus(refusedStatus(len(r.Errors), i.status()))
	}
	return applied{r.Applied, fitting(r.Errors), fitting(r.Warnings), i.infos(owner), len(i.seats)}, nil
}

// infos describes an owner's surfaces.
func (i endpoint) infos(owner string) []surfaceInfo {
	all := []surfaceInfo{}
	for _, f := range i.surfaces.List() {
		if f.Owner == owner {
			all = append(all, surfaceInfo{f.ID, f.Components, f.SendDataModel})
		}
	}
	return all
}

// catalogSummary is the value of get_catalog without a component.
type catalogSummary struct {
	a2ui.Summary
	Catalogs []string `json:"catalogs,omitzero"` // ids of all, if there are others
}

// getCatalog describes a catalog, the basic one unless the input names another.
func (p *Provider) getCatalog(in input) (any, error) {
	catalogs, at := p.catalogs(), 0
	if in.CatalogID != "" {
		at = slices.IndexFunc(catalogs, func(c *a2ui.Catalog) bool { return c.ID() == in.CatalogID })
	}
	var ids []string
	for _, c := range catalogs {
		ids = append(ids, c.ID())
	}
	if at < 0 {
		e := canvas.Errorf(canvas.CodeInputInvalid, "there is no catalog %q; there are: %s", clip(in.CatalogID), strings.Join(ids, ", "))
		e.Path = "/input/catalogId"
		return nil, e
	}
	c := catalogs[at]
	if in.Component == "" {
		all := catalogSummary{Summary: c.Summary()}
		if len(ids) > 1 {
			all.Catalogs = ids
		}
		return all, nil
	}
	schema, ok := c.Component(in.Component)
	if !ok {
		e := canvas.Errorf(canvas.CodeInputInvalid, "the catalog %s has no %q; components: %s; functions: %s", c.ID(), clip(in.Component),
			strings.Join(c.Components(), ", "), strings.Join(c.Functions(), ", "))
		e.Path = "/input/component"
		return nil, e
	}
	return struct {
		CatalogID string    `json:"catalogId"`
		Name      string    `json:"name"`
		Schema    ahp.Value `json:"schema"`
	}{c.ID(), in.Component, schema}, nil
}

// models is the value of get_data_model.
type models struct {
	Surfaces  map[string]ahp.Value `json:"surfaces"`
	Live      bool                 `json:"live"`
	NotSynced []string             `json:"notSynced"`
}

// getDataModel returns what is entered now in the caller's surfaces that sync, from a page,
// or else what was sent last.
func (i endpoint) getDataModel(ctx context.Context, in input) (any, error) {
	owner := i.owner(ctx)
	i.mu.Lock()
	if f, ok := i.surfaces.Surface(in.SurfaceID); in.SurfaceID != "" && (!ok || f.Owner != owner) {
		i.mu.Unlock()
		return nil, notFound(in.SurfaceID)
	}
	someone := len(i.seats) > 0
	i.mu.Unlock()
	live := someone && i.ask(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	out := models{map[string]ahp.Value{}, live, []string{}}
	size := 0
	for _, f := range i.surfaces.List() {
		switch {
		case f.Owner != owner, in.SurfaceID != "" && in.SurfaceID != f.ID:
		case !f.SendDataModel:
			out.NotSynced = append(out.NotSynced, f.ID)
		default:
			out.Surfaces[f.ID] = i.surfaces.Model(f.ID)
			size += len(out.Surfaces[f.ID])
		}
	}
	if size > answerBytes {
		return nil, canvas.Errorf(a2ui.CodeTooLarge, "the data models have %d bytes together; ask for one surfaceId", size)
	}
	if live {
		i.post(ahp.MustMarshal(toView{Kind: "read"}))
	}
	return out, nil
}

// ask asks a page for what is entered, and keeps it. It reports whether a page answered.
func (i endpoint) ask(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	v, err := i.Pages.Invoke(ctx, "a2ui.model", ahp.Value("{}"))
	if err != nil {
		return false
	}
	var answer struct {
		Surfaces map[string]ahp.Value `json:"surfaces"`
		Extra    ahp.Value            `json:",embed"`
	}
	if ahp.Unmarshal(v, &answer) != nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	next, changed := i.surfaces.Clone(), false
	for id, model := range answer.Surfaces {
		f, ok := next.Surface(id)
		if !ok || model.Kind() != '{' {
			continue
		}
		_, c := next.Sync(map[string]ahp.Value{id: model}, f.Version)
		changed = changed || c
	}
	if changed {
		if err := i.commit(ctx, next, 0); err != nil {
			i.surfaces = next // it is what the person sees
		}
	}
	return true
}

// getSurfaces returns the messages that draw the caller's surfaces.
func (i endpoint) getSurfaces(ctx context.Context, in input) (any, error) {
	owner := i.owner(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	list, size := []ahp.Value{}, 0
	found := in.SurfaceID == ""
	for _, f := range i.surfaces.List() {
		if f.Owner != owner || in.SurfaceID != "" && in.SurfaceID != f.ID {
			continue
		}
		found = true
		for _, batch := range i.surfaces.ReplaySurface(f.ID) {
			for _, m := range batch {
				list, size = append(list, m), size+len(m)+1
			}
		}
	}
	if !found {
		return nil, notFound(in.SurfaceID)
	}
	if size > answerBytes {
		hint := "ask for one surfaceId at a time"
		if in.SurfaceID != "" {
			hint = "an answer has no space for this surface; send it again if you need it"
		}
		return nil, canvas.Errorf(a2ui.CodeTooLarge, "the messages have %d bytes, at most %d fit an answer; %s", size, answerBytes, hint)
	}
	return struct {
		Messages []ahp.Value   `json:"messages"`
		Surfaces []surfaceInfo `json:"surfaces"`
	}{list, i.infos(owner)}, nil
}
