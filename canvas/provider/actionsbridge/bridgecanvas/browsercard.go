package bridgecanvas

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/view"
)

// maxBrowserViews bounds the Views of a card that are sent its state.
const maxBrowserViews = 1024

// browserCard is an open browser or browser-page.
type browserCard struct {
	*view.Pages
	p *Provider
	h *canvas.Handle

	// p.mu guards these.
	isPage bool
	binding
	runtimeID string // of a page
	views     map[canvas.View]bool
	last      *browserCall // of this card
}

func (p *Provider) newCard(h *canvas.Handle) *browserCard {
	c := &browserCard{p: p, h: h, views: map[canvas.View]bool{}}
	c.Pages = view.New(view.Options{To: h, OnMessage: c.message})
	p.mu.Lock()
	p.cards[c] = struct{}{}
	p.mu.Unlock()
	context.AfterFunc(h.Context(), func() { p.forget(c) })
	return c
}

func (p *Provider) forget(c *browserCard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.cards, c)
}

func (c *browserCard) key() instanceKey { return instanceKey{c.h.Session(), c.h.InstanceID()} }

// bind binds a browser-page to a runtime.
func (c *browserCard) bind(b binding) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.isPage, c.binding, c.runtimeID, c.last = true, b, b.RuntimeID, nil
	c.p.cards[c] = struct{}{}
}

func (c *browserCard) bound() binding {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	return c.binding
}

// shows reports whether a card is about a runtime. The caller holds p.mu.
func (c *browserCard) shows(runtimeID string) bool { return !c.isPage || c.runtimeID == runtimeID }

// Close ends the instance.
func (c *browserCard) Close(ctx context.Context) error {
	c.p.forget(c)
	c.p.mu.Lock()
	c.p.unstale(c.key())
	c.p.mu.Unlock()
	return c.Pages.Close(ctx)
}

// Read serves the card's page.
func (c *browserCard) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	return canvas.ReadFile(browserPage, req)
}

// Message handles a View's message. A View that may only watch says hello in view/1.
func (c *browserCard) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	c.Pages.Message(ctx, from, payload)
	var m struct {
		Tag  string `json:"x-ahp,omitzero"`
		Type string `json:"type,omitzero"`
	}
	if ahp.Unmarshal(payload, &m) == nil && m.Tag == "view/1" && m.Type == "hello" {
		c.hello(from)
	}
}

// ViewGone removes a View.
func (c *browserCard) ViewGone(from canvas.View) {
	c.Pages.ViewGone(from)
	c.p.mu.Lock()
	delete(c.views, from)
	c.p.mu.Unlock()
}

// fromCard is a message of a card's page.
type fromCard struct {
	Actions   string `json:"actions,omitzero"`
	RuntimeID string `json:"runtime_id,omitzero"`
	Scripts   bool   `json:"scripts,omitzero"`
}

// verdictMessages are the decisions of a person.
var verdictMessages = map[string]actionsbridge.Verdict{
	"allow": actionsbridge.Allow, "refuse": actionsbridge.Refuse, "disconnect": actionsbridge.Disconnect,
}

func (c *browserCard) message(_ context.Context, from canvas.View, payload ahp.Value) {
	var m fromCard
	if ahp.Unmarshal(payload, &m) != nil {
		return
	}
	verdict, decides := verdictMessages[m.Actions]
	switch {
	case m.Actions == "hello":
		c.hello(from)
	case decides:
		if m.Scripts && verdict == actionsbridge.Allow {
			verdict = actionsbridge.AllowScripts
		}
		c.decide(from, m.RuntimeID, verdict)
	}
}

// decide applies a person's decision, and answers with the reason if it cannot.
func (c *browserCard) decide(from canvas.View, runtimeID string, v actionsbridge.Verdict) {
	c.p.mu.Lock()
	mine := c.shows(runtimeID)
	c.p.mu.Unlock()
	var err error
	switch {
	case !from.Person():
		err = from.MustBePerson()
	case !mine:
		err = fmt.Errorf("this card is about another page")
	default:
		err = c.p.bridge.Judge(runtimeID, v)
	}
	if err != nil {
		m := refusedMessage{Actions: "refused", RuntimeID: runtimeID, Message: err.Error()}
		if e, ok := errors.AsType[*canvas.Error](err); ok {
			m.Code, m.Message = e.Code, e.Message
		}
		_ = c.h.PostTo(c.h.Context(), from, ahp.MustMarshal(m)) // the View has left
		return
	}
	c.p.update()
}

type refusedMessage struct {
	Actions   string `json:"actions"`
	RuntimeID string `json:"runtime_id"`
	Code      string `json:"code,omitzero"`
	Message   string `json:"message"`
}

// hello registers a View, and sends it the state.
func (c *browserCard) hello(from canvas.View) {
	c.p.mu.Lock()
	if len(c.views) < maxBrowserViews {
		c.views[from] = true
	}
	c.p.mu.Unlock()
	_ = c.h.PostTo(c.h.Context(), from, c.state()) // the View has left
}

// post sends a message to the Views that said hello.
func (c *browserCard) post(message ahp.Value) {
	c.p.mu.Lock()
	views := make([]canvas.View, 0, len(c.views))
	for v := range c.views {
		views = append(views, v)
	}
	c.p.mu.Unlock()
	for _, v := range views {
		_ = c.h.PostTo(c.h.Context(), v, message) // the View has left
	}
}

// summary is the status of the card of all pages.
func (p *Provider) summary() string {
	ready, waiting := 0, 0
	for _, r := range p.bridge.Runtimes() {
		switch {
		case r.State == actionsbridge.Waiting:
			waiting++
		case usableState(r.State):
			ready++
		}
	}
	text := fmt.Sprintf("%d pages", ready)
	if ready == 1 {
		text = "1 page"
	}
	if waiting > 0 {
		text += fmt.Sprintf(", %d waiting for you", waiting)
	}
	return text
}

// update asks the goroutine to update the cards.
func (p *Provider) update() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// run updates the cards at most twice a second.
func (p *Provider) run() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.kick:
		}
		p.updateCards()
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(updateEvery):
		}
	}
}

func (p *Provider) updateCards() {
	p.mu.Lock()
	cards := make([]*browserCard, 0, len(p.cards))
	for c := range p.cards {
		cards = append(cards, c)
	}
	p.mu.Unlock()
	summary, waits := p.summary(), p.waits()
	for _, c := range cards {
		c.post(c.state())
		p.updateTitle(c, summary)
		_ = c.h.Attention(c.waits(waits)) // the canvas was closed meanwhile
	}
}

// waits names the page that waits for the person's decision; "" if none does.
func (p *Provider) waits() string {
	for _, r := range p.bridge.Runtimes() {
		if r.State == actionsbridge.Waiting {
			return cardTitle(r) + " asks to be used by the agent"
		}
	}
	return ""
}

// waits returns why the card waits for the person: the card of one page only if that page
// does.
func (c *browserCard) waits(any string) string {
	c.p.mu.Lock()
	isPage, id := c.isPage, c.runtimeID
	c.p.mu.Unlock()
	if !isPage {
		return any
	}
	if r, ok := c.p.bridge.Runtime(id); ok && r.State == actionsbridge.Waiting {
		return "This page asks to be used by the agent"
	}
	return ""
}

// updateTitle sets the title and the status of a card.
func (p *Provider) updateTitle(c *browserCard, summary string) {
	p.mu.Lock()
	isPage, id, last := c.isPage, c.runtimeID, c.last
	p.mu.Unlock()
	u := canvas.Update{Status: ahp.Set(summary)}
	if isPage {
		r, ok := p.bridge.Runtime(id)
		if !ok {
			return
		}
		u = canvas.Update{Title: ahp.Set(cardTitle(r)), Status: ahp.Set(cardStatus(r))}
		if last != nil {
			u.Status = ahp.Set(last.line())
		}
	}
	if err := c.h.Update(p.ctx, u); err != nil && c.h.Context().Err() == nil {
		p.logger.Warn("actions bridge: a card's title was not updated", "err", err)
	}
}

func (c *browserCall) line() string {
	if c.Code != "" {
		return c.Name + ": " + c.Code
	}
	return fmt.Sprintf("%s: done in %d ms", c.Name, c.Ms)
}
