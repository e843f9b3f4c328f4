package bridgecanvas

import (
	"io/fs"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// watch handles what the bridge reports. It does not block.
func (p *Provider) watch(e actionsbridge.Event) {
	switch e.Kind {
	case actionsbridge.Signaled:
		p.raise(e.Runtime.ID, browserDOMEvent(e.Item))
		return
	case actionsbridge.EventsDropped:
		p.raise(e.Runtime.ID, ahp.MustMarshal(droppedEvent{"actions.events_dropped", e.Runtime.ID, e.Count}))
	case actionsbridge.Called:
		p.called(e)
	case actionsbridge.Gone:
		p.runtimeChanged(e.Runtime, "gone")
		p.lost(e.Runtime)
	default:
		p.runtimeChanged(e.Runtime, string(e.Runtime.State))
		if usableState(e.Runtime.State) {
			p.returned(e.Runtime)
		} else {
			p.lost(e.Runtime)
		}
	}
	p.update()
}

// browserEvent is a dom_event as the agent receives it: only Payload, Event and URL are of
// the page.
type browserEvent struct {
	Type           string    `json:"type"`
	RuntimeID      string    `json:"runtime_id"`
	Name           string    `json:"name"`
	Event          string    `json:"event"`
	Payload        ahp.Value `json:"payload"`
	URL            string    `json:"url,omitzero"`
	EventID        string    `json:"event_id"`
	PreviousCallID string    `json:"previous_call_id,omitzero"`
	ObservedAt     string    `json:"observed_at,omitzero"`
}

func browserDOMEvent(i actionsbridge.Item) ahp.Value {
	return ahp.MustMarshal(browserEvent{"actions.dom_event", i.RuntimeID, i.Name, i.Event, i.Payload, i.URL, i.EventID, i.PreviousCallID, i.ObservedAt})
}

type droppedEvent struct {
	Type      string `json:"type"`
	RuntimeID string `json:"runtime_id"`
	Count     int    `json:"count"`
}

type runtimeEvent struct {
	Type      string `json:"type"`
	RuntimeID string `json:"runtime_id"`
	Host      string `json:"host"`
	State     string `json:"state"`
}

// raise raises an event of a runtime: once in each session with a card that is bound to it,
// otherwise once in each session with a card of all pages.
func (p *Provider) raise(runtimeID string, event ahp.Value) {
	for _, c := range p.oneEach(func(c *browserCard) bool { return c.runtimeID == runtimeID }) {
		_ = c.h.Raise(event) // the card was closed
	}
}

// oneEach returns a card of each session: those that match, or else, if none does anywhere,
// cards of all pages.
func (p *Provider) oneEach(match func(*browserCard) bool) []*browserCard {
	p.mu.Lock()
	defer p.mu.Unlock()
	pick := func(match func(*browserCard) bool) []*browserCard {
		seen := map[string]bool{}
		var out []*browserCard
		for c := range p.cards {
			if match(c) && !seen[c.h.Session()] {
				seen[c.h.Session()] = true
				out = append(out, c)
			}
		}
		return out
	}
	if out := pick(match); len(out) > 0 {
		return out
	}
	return pick(func(c *browserCard) bool { return !c.isPage })
}

// runtimeChanged raises actions.runtime if the state of a runtime has changed.
func (p *Provider) runtimeChanged(r actionsbridge.Runtime, state string) {
	p.mu.Lock()
	p.arrived = max(p.arrived, r.Connected)
	now := time.Now()
	p.tokens = min(runtimeBurst, p.tokens+now.Sub(p.filled).Seconds()*runtimeEvents)
	p.filled = now
	same := p.reported[r.ID] == state
	if state == "gone" {
		delete(p.reported, r.ID)
	} else {
		p.reported[r.ID] = state
	}
	enough := p.tokens >= 1
	if !same && enough {
		p.tokens--
	}
	p.mu.Unlock()
	if same || !enough {
		return
	}
	event := ahp.MustMarshal(runtimeEvent{"actions.runtime", r.ID, r.Host, state})
	for _, c := range p.oneEach(func(c *browserCard) bool { return !c.isPage }) {
		_ = c.h.Raise(event)
	}
}

// lost marks the cards of a runtime stale.
func (p *Provider) lost(r actionsbridge.Runtime) {
	p.mu.Lock()
	var cards []*browserCard
	for c := range p.cards {
		if c.isPage && c.runtimeID == r.ID {
			cards = append(cards, c)
		}
	}
	p.mu.Unlock()
	for _, c := range cards {
		p.lose(c, r)
	}
}

// lose marks a card stale, and keeps what would make it ready.
func (p *Provider) lose(c *browserCard, r actionsbridge.Runtime) {
	p.mu.Lock()
	delete(p.cards, c)
	p.addStale(c.key(), &staleBinding{binding: c.binding, lost: p.arrived, handle: c.h})
	p.mu.Unlock()
	if err := c.h.MarkStale(); err != nil {
		p.logger.Warn("actions bridge: a card stays ready without its page", "err", err)
	}
	_ = r
}

// returned opens the stale cards again that a runtime is meant for.
func (p *Provider) returned(r actionsbridge.Runtime) {
	var handles []*canvas.Handle
	var reg Registration
	p.mu.Lock()
	for _, s := range p.stale {
		switch {
		case !s.wants(r):
		case s.handle != nil:
			handles = append(handles, s.handle)
		default:
			reg = p.reg
		}
	}
	p.mu.Unlock()
	for _, h := range handles {
		_ = h.Reopen() // the canvas was closed
	}
	if reg != nil {
		reg.SetReachable(true)
	}
}

// called keeps a call for the cards.
func (p *Provider) called(e actionsbridge.Event) {
	entry := browserCall{
		RuntimeID: e.Runtime.ID, Name: lineOf(e.Report.Name, 256), Arguments: lineOf(string(e.Report.Arguments), 200),
		Code: e.Report.Code, Ms: e.Report.Elapsed.Milliseconds(), Host: e.Runtime.Host,
	}
	p.mu.Lock()
	if p.log = append(p.log, entry); len(p.log) > maxBrowserLog {
		p.log = append([]browserCall{}, p.log[1:]...)
	}
	var cards []*browserCard
	for c := range p.cards {
		if c.shows(e.Runtime.ID) {
			cards = append(cards, c)
			c.last = &entry
		}
	}
	p.mu.Unlock()
	message := ahp.MustMarshal(logMessage{"log", entry})
	for _, c := range cards {
		c.post(message)
	}
}

func mustSub(files fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err)
	}
	return sub
}
