package aamcanvas

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/sample"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// agentsPause is the time between two states: an agent that calls often must not fill its
// owner's connection.
const agentsPause = 300 * time.Millisecond

var pageFiles = sample.Files(sample.MustPage(files))

// agentsHub sends the state of the site to every open aam-agents.
type agentsHub struct {
	site *site.Site
	pin  PIN

	collecting atomic.Bool // a batch of payments is being collected

	mu       sync.Mutex
	opened   map[*agents]struct{}
	revision int64

	kick  chan struct{}
	ctx   context.Context
	end   context.CancelFunc
	watch func()
	done  sync.WaitGroup
}

// agents is an open aam-agents.
type agents struct {
	*view.Pages
	hub  *agentsHub
	h    *canvas.Handle
	keys sealKeys
}

func (b *agentsHub) start(o Options) {
	b.site, b.pin, b.opened = o.Agents, o.PIN, map[*agents]struct{}{}
	b.kick, b.revision = make(chan struct{}, 1), time.Now().UnixMilli() // a page outlives a restart
	b.ctx, b.end = context.WithCancel(context.Background())
	b.watch = b.site.Watch(b.changed)
	b.done.Go(b.run)
}

func (b *agentsHub) stop() {
	b.watch()
	b.mu.Lock()
	b.end()
	b.mu.Unlock()
	b.done.Wait()
}

// background runs fn in a goroutine that stop waits for, unless stop was called.
func (b *agentsHub) background(fn func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() == nil {
		b.done.Go(fn)
	}
}

func (b *agentsHub) changed() {
	select {
	case b.kick <- struct{}{}:
	default:
	}
}

// run sends states until stop. Requests end without a change, so it looks once a minute.
func (b *agentsHub) run() {
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	for {
		select {
		case <-b.kick:
		case <-minute.C:
		case <-b.ctx.Done():
			return
		}
		b.sendAll()
		pause := time.NewTimer(agentsPause)
		select {
		case <-pause.C:
		case <-b.ctx.Done():
			pause.Stop()
			return
		}
	}
}

// sendAll sends the state to all Views, in the order of revisions.
func (b *agentsHub) sendAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.opened) == 0 {
		return
	}
	state, status := b.state()
	for a := range b.opened {
		ctx := a.h.Context()
		_ = a.h.Post(ctx, state) // the canvas was closed meanwhile
		_ = a.h.SetStatus(ctx, status)
		_ = a.h.Attention(b.waits())
	}
}

// open opens the canvas.
func (b *agentsHub) open(req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	a, isOpen := req.Current.(*agents)
	if !isOpen {
		a = &agents{hub: b, h: h}
		a.Pages = view.New(view.Options{To: h, OnMessage: a.message})
		context.AfterFunc(h.Context(), func() { b.forget(a) })
	}
	b.mu.Lock()
	b.opened[a] = struct{}{}
	_, status := b.state()
	_ = h.Attention(b.waits()) // a client's canvas has none
	b.mu.Unlock()
	return canvas.Opened{Instance: a, URL: h.ContentURL("/agents.html"), Title: "Agents", Status: status}, nil
}

func (b *agentsHub) forget(a *agents) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.opened, a)
}

// Close implements canvas.Instance.
func (a *agents) Close(ctx context.Context) error {
	a.hub.forget(a)
	return a.Pages.Close(ctx)
}

// Read serves the page.
func (a *agents) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	return canvas.ReadFile(pageFiles, req)
}

// ViewGone forgets a View's key.
func (a *agents) ViewGone(from canvas.View) {
	a.Pages.ViewGone(from)
	a.keys.gone(from)
}

// Message handles a View's message. A View that says hello in view/1 is one that may only
// watch; it receives the state too.
func (a *agents) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	a.Pages.Message(ctx, from, payload)
	var m struct {
		Tag  string    `json:"x-ahp,omitzero"`
		Type string    `json:"type,omitzero"`
		Rest ahp.Value `json:",embed"`
	}
	if ahp.Unmarshal(payload, &m) == nil && m.Tag == "view/1" && m.Type == "hello" {
		a.sendState(from)
	}
}

// fromAgents is a message of the page.
type fromAgents struct {
	AAM     string    `json:"aam"`
	Ref     ahp.Value `json:"ref,omitzero"`
	Request string    `json:"request,omitzero"`
	Actions []string  `json:"actions,omitzero"`
	PerCall string    `json:"perCall,omitzero"`
	PerDay  int       `json:"perDay,omitzero"`
	Days    int       `json:"days,omitzero"`
	ID      string    `json:"id,omitzero"`
	Sealed  *Sealed   `json:"sealed,omitzero"`
	PIN     ahp.Value `json:"pin,omitzero"`
	Rest    ahp.Value `json:",embed"`
}

// answer answers a message of a page.
type answer struct {
	AAM     string    `json:"aam"` // "done", "refused" or "grant"
	Ref     ahp.Value `json:"ref,omitzero"`
	Code    string    `json:"code,omitzero"`
	Message string    `json:"message,omitzero"`
	// Collected is what a batch of payments has done.
	Collected *site.Collected `json:"collected,omitzero"`
}

func (a *agents) message(_ context.Context, from canvas.View, payload ahp.Value) {
	var m fromAgents
	if ahp.Unmarshal(payload, &m) != nil {
		return
	}
	switch m.AAM {
	case "hello":
		a.sendState(from)
		a.sendKey(from)
	case "grant", "refuse", "revoke", "collect":
		a.decide(from, m)
	}
}

// decide does what a person has decided, and answers the View.
func (a *agents) decide(from canvas.View, m fromAgents) {
	out := answer{AAM: "done", Ref: m.Ref}
	var err error
	switch {
	case !from.Person():
		err = from.MustBePerson()
	case m.AAM == "grant":
		out.AAM = "grant"
		out.Code, err = a.grant(from, m)
	case m.AAM == "refuse":
		err = a.hub.site.Refuse(m.Request)
	case m.AAM == "collect":
		if err = a.collect(from, m.Ref); err == nil {
			return // it answers when the batch has ended
		}
	default:
		err = a.hub.site.Revoke(m.ID)
	}
	a.reply(from, out, err)
	if m.AAM == "grant" {
		a.sendKey(from)
	}
}

// reply answers a View with out, or with an error.
func (a *agents) reply(to canvas.View, out answer, err error) {
	if err != nil {
		code, message := spoken(err)
		out = answer{AAM: "refused", Ref: out.Ref, Code: code, Message: message}
	}
	_ = a.h.PostTo(a.h.Context(), to, ahp.MustMarshal(out)) // the View has left
}

// spoken returns an error's code and its words for a person.
func spoken(err error) (code, message string) {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code, e.Message
	}
	if e, ok := errors.AsType[*aam.Error](err); ok {
		return e.Code, e.Message
	}
	return canvas.CodeHandlerError, err.Error()
}

// sendKey gives a View the key for its next secret.
func (a *agents) sendKey(to canvas.View) {
	if !to.Person() {
		return
	}
	key, err := a.keys.fresh(to)
	if err != nil {
		return // the page says that it has no key
	}
	_ = a.h.PostTo(a.h.Context(), to, ahp.MustMarshal(key)) // the View has left
}

func (a *agents) sendState(to canvas.View) {
	a.hub.mu.Lock()
	defer a.hub.mu.Unlock()
	state, _ := a.hub.state()
	_ = a.h.PostTo(a.h.Context(), to, state) // the View has left
}
