package bridgecanvas

import (
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// The limits of a page's events.
const (
	eventRate     = 20 // a second
	eventBurst    = 50
	droppedNotice = 5 * time.Second // at most one notice of dropped events in this time
)

// domEvent is a page's event as the agent receives it: what the page says is in payload.
type domEvent struct {
	Type           string    `json:"type"`
	RuntimeID      string    `json:"runtime_id"`
	Name           string    `json:"name"`
	Event          string    `json:"event,omitzero"`
	Payload        ahp.Value `json:"payload"`
	EventID        string    `json:"event_id"`
	PreviousCallID string    `json:"previous_call_id,omitzero"`
	ObservedAt     string    `json:"observed_at,omitzero"`
	Role           string    `json:"role,omitzero"` // of the page's connection, if it is no person's
}

// eventsDropped tells the agent that events were too many.
type eventsDropped struct {
	Type      string `json:"type"`
	RuntimeID string `json:"runtime_id"`
	Count     int    `json:"count"`
}

// roleOf returns the role of a connection that is no person's, so that an agent does not take
// its own words for a person's; "" for a person's.
func roleOf(v canvas.View) string {
	if v.Person() {
		return ""
	}
	return v.Role
}

// event raises a declared event of a page.
func (i *folderInstance) event(from canvas.View, item actionsbridge.Item) {
	d, invalid := i.folder.manifest()
	name, declared := d.manifest.Signal(item)
	i.mu.Lock()
	page := i.page(from, item.RuntimeID)
	i.mu.Unlock()
	if invalid != nil || !declared || page == nil || item.EventID == "" {
		return
	}
	payload := item.Payload
	if payload == nil {
		payload = ahp.Null
	}
	page.events.pass(item.RuntimeID, domEvent{"actions.dom_event", item.RuntimeID, name, item.Event, payload, item.EventID, item.PreviousCallID, item.ObservedAt, roleOf(from)})
}

// troubleEvent is an error of a page that no call caused, such as a check that does not hold
// any more.
type troubleEvent struct {
	Type      string    `json:"type"`
	RuntimeID string    `json:"runtime_id"`
	Error     ahp.Value `json:"error"`
	Role      string    `json:"role,omitzero"` // as in domEvent
}

// trouble raises an error of a page's runtime. The errors of calls are their answers.
func (i *folderInstance) trouble(from canvas.View, item actionsbridge.Item) {
	_, failure := actionsbridge.Outcome(item)
	i.mu.Lock()
	page := i.page(from, item.RuntimeID)
	i.mu.Unlock()
	if page == nil || item.CallID != "" {
		return
	}
	page.events.pass(item.RuntimeID, troubleEvent{"actions.error", item.RuntimeID, failure.Object(), roleOf(from)})
}

// eventLimit passes on as many events as an agent can use.
type eventLimit struct {
	raise func(event any)

	mu      sync.Mutex
	tokens  float64
	last    time.Time // when tokens was computed; zero at first
	dropped int
	of      string      // the runtime of the dropped events
	notice  *time.Timer // nil if none is due
	ended   bool
}

// pass raises an event, or counts it. Events are raised in order.
func (l *eventLimit) pass(runtimeID string, event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	now := time.Now()
	if l.last.IsZero() {
		l.tokens = eventBurst
	} else {
		l.tokens = min(eventBurst, l.tokens+now.Sub(l.last).Seconds()*eventRate)
	}
	l.last = now
	if l.tokens >= 1 {
		l.tokens--
		l.raise(event)
		return
	}
	l.dropped++
	l.of = runtimeID
	if l.notice == nil {
		l.notice = time.AfterFunc(droppedNotice, l.report)
	}
}

// report tells how many events were dropped since the last notice.
func (l *eventLimit) report() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.dropped == 0 {
		return
	}
	l.raise(eventsDropped{"actions.events_dropped", l.of, l.dropped})
	l.dropped, l.notice = 0, nil
}

// end ends the notices.
func (l *eventLimit) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.notice != nil {
		l.notice.Stop()
	}
}
