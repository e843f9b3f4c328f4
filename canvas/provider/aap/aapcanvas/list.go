package aapcanvas

import (
	"context"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// Limits of a state, which must fit a message of 64 KiB.
const (
	stateRecords = 50
	recordsBytes = 28 << 10
	pagesBytes   = 20 << 10
	agentsBytes  = 8 << 10
	maxViews     = 1024
)

var listFiles = sample.Files(sample.MustPage(files))

// list is an open aap-pages.
type list struct {
	*view.Pages
	p *Provider
	h *canvas.Handle

	// p.mu guards these.
	agent string                     // of the input; "" is the first agent
	views map[canvas.View]listedView // Views that said hello
}

// listedView is what one View looks at.
type listedView struct{ agent string }

// listInput is the input of aap-pages.
type listInput struct {
	Agent string `json:"agent,omitzero"`
}

func (p *Provider) openList(req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	in, err := readInput[listInput](req.Input)
	if err != nil {
		return canvas.Opened{}, err
	}
	title := "Pages"
	if in.Agent != "" {
		agent, err := p.store.Agent(in.Agent)
		if err != nil && req.Saved == nil && req.Current == nil {
			return canvas.Opened{}, canvasError(err)
		}
		title = aap.OneLine("Pages of "+agent.Name, maxText)
	}
	l, isOpen := req.Current.(*list)
	if !isOpen {
		l = &list{p: p, h: h, views: map[canvas.View]listedView{}}
		l.Pages = view.New(view.Options{To: h, OnMessage: l.message})
		if err := h.Save(h.Context(), []byte("{}")); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return canvas.Opened{}, err // later opens accept an agent that is gone
		}
		context.AfterFunc(h.Context(), func() { p.forgetList(l) })
	}
	p.mu.Lock()
	l.agent = in.Agent
	p.lists[l] = struct{}{}
	p.mu.Unlock()
	return canvas.Opened{Instance: l, URL: h.ContentURL("/index.html"), Title: title}, nil
}

func (p *Provider) forgetList(l *list) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lists, l)
}

// Close ends the instance.
func (l *list) Close(ctx context.Context) error {
	l.p.forgetList(l)
	return l.Pages.Close(ctx)
}

// Read serves the list's own page.
func (l *list) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	return canvas.ReadFile(listFiles, req)
}

// Message handles a View's message. A View that says hello in view/1 is one that may only
// watch; it receives the states too.
func (l *list) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	l.Pages.Message(ctx, from, payload)
	var m struct {
		Tag  string `json:"x-ahp"`
		Type string `json:"type"`
	}
	if ahp.Unmarshal(payload, &m) == nil && m.Tag == "view/1" && m.Type == "hello" {
		l.hello(from, "")
	}
}

// ViewGone removes a View.
func (l *list) ViewGone(from canvas.View) {
	l.Pages.ViewGone(from)
	l.p.mu.Lock()
	delete(l.views, from)
	l.p.mu.Unlock()
}

// fromList is a message of the list's page.
type fromList struct {
	Type   string `json:"type"`
	File   string `json:"file,omitzero"`
	Agent  string `json:"agent,omitzero"`
	Before string `json:"before,omitzero"`
}

func (l *list) message(_ context.Context, from canvas.View, payload ahp.Value) {
	var m fromList
	if ahp.Unmarshal(payload, &m) != nil {
		return
	}
	switch m.Type {
	case "aap:hello":
		l.hello(from, "")
	case "aap:agent":
		l.hello(from, m.Agent)
	case "aap:older":
		l.sendState(from, l.agentOf(from), m.Before)
	case "aap:open":
		if agent, err := l.p.agentOrFirst(l.agentOf(from)); err == nil {
			l.p.request(opening{l.h.Session(), pageKey{agent.ID, m.File}})
		}
	}
}

// hello registers a View, and sends it the state of its agent.
func (l *list) hello(from canvas.View, agent string) {
	l.p.mu.Lock()
	if agent == "" {
		agent = l.views[from].agent
	}
	if agent == "" {
		agent = l.agent
	}
	if len(l.views) < maxViews {
		l.views[from] = listedView{agent}
	}
	l.p.mu.Unlock()
	l.sendState(from, agent, "")
}

func (l *list) agentOf(from canvas.View) string {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if v, ok := l.views[from]; ok {
		return v.agent
	}
	return l.agent
}

// agentOrFirst returns the agent of a name, or else the first.
func (p *Provider) agentOrFirst(name string) (aap.Agent, error) {
	if all := p.store.Agents(); name == "" && len(all) > 0 {
		return all[0], nil
	}
	return p.agent(name)
}

// sendStates sends every View of every list its state.
func (p *Provider) sendStates() {
	type target struct {
		l     *list
		to    canvas.View
		agent string
	}
	var targets []target
	p.mu.Lock()
	for l := range p.lists {
		for to, v := range l.views {
			targets = append(targets, target{l, to, v.agent})
		}
	}
	p.mu.Unlock()
	states := map[string]ahp.Value{} // by session and agent
	for _, t := range targets {
		key := t.l.h.Session() + "\x00" + t.agent
		if states[key] == nil {
			states[key] = p.state(t.l.h.Session(), t.agent, "")
		}
		_ = t.l.h.PostTo(t.l.h.Context(), t.to, states[key]) // the View has left
	}
}

func (l *list) sendState(to canvas.View, agent, before string) {
	_ = l.h.PostTo(l.h.Context(), to, l.p.state(l.h.Session(), agent, before)) // the View has left
}

// listState is the message aap:state.
type listState struct {
	Type         string               `json:"type"`
	Protocol     string               `json:"protocol"`
	Agent        aap.Agent            `json:"agent"`
	Agents       []aap.Agent          `json:"agents"`
	Pages        []statePage          `json:"pages"`
	Interactions []ahp.Value          `json:"interactions"`
	Acknowledged map[string]ackOfView `json:"acknowledged"`
	Before       string               `json:"before,omitzero"`
	Older        bool                 `json:"older"`
	Problem      string               `json:"problem,omitzero"`
}

type ackOfView struct {
	Timestamp string `json:"timestamp"`
	Note      string `json:"note,omitzero"`
}

// statePage is a page in a state.
type statePage struct {
	File       string `json:"file"`
	Name       string `json:"name"`
	Bytes      int64  `json:"bytes"`
	ModifiedAt string `json:"modifiedAt"`
	Open       bool   `json:"open"`
	New        bool   `json:"new,omitzero"`
}

// state returns the state of an agent, as the Views of a session see it.
func (p *Provider) state(session, name, before string) ahp.Value {
	st := listState{Type: "aap:state", Protocol: aap.Protocol, Before: before,
		Agents: []aap.Agent{}, Pages: []statePage{}, Interactions: []ahp.Value{}, Acknowledged: map[string]ackOfView{}}
	st.Agents = fit(p.store.Agents(), agentsBytes)
	agent, err := p.agentOrFirst(name)
	if err != nil {
		st.Problem = err.(*aap.Error).Message // the store's errors are all of this type
		return ahp.MustMarshal(st)
	}
	st.Agent = agent
	if before == "" {
		pages, _ := p.store.Pages(agent.ID) // the log has the reason
		st.Pages = fit(p.statePages(session, agent, pages), pagesBytes)
	}
	records, older, err := p.store.List(agent.ID, aap.Query{Limit: stateRecords, Before: before})
	if err == nil {
		for n, r := range records {
			records[n] = trim(r, 0)
		}
		st.Interactions = fit(records, recordsBytes)
		st.Older = older || len(st.Interactions) < len(records)
	}
	for id, ack := range p.store.Acknowledgments(agent.ID, idsOf(st.Interactions)...) {
		st.Acknowledged[id] = ackOfView{ack.Timestamp, aap.OneLine(ack.Note, 80)}
	}
	return ahp.MustMarshal(st)
}

func (p *Provider) statePages(session string, agent aap.Agent, pages []aap.Page) []statePage {
	open := map[string]bool{}
	p.mu.Lock()
	for i := range p.pages {
		if a, file := i.shown(); a.ID == agent.ID && i.h.Session() == session {
			open[file] = true
		}
	}
	out := make([]statePage, 0, len(pages))
	for _, pg := range pages {
		out = append(out, statePage{pg.Path, pg.Name, pg.Size, pg.ModifiedAt.UTC().Format(time.RFC3339), open[pg.Path], p.fresh[pageKey{agent.ID, pg.Path}]})
	}
	p.mu.Unlock()
	return out
}

// fit returns the first items whose encoding has at most limit bytes.
func fit[T any](items []T, limit int) []T {
	out := []T{}
	for _, item := range items {
		if limit -= len(ahp.MustMarshal(item)) + 1; limit < 0 {
			break
		}
		out = append(out, item)
	}
	return out
}
