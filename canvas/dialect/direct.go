package dialect

import (
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// direct is the dialect of a client of the host's version that declares
// capabilities.canvas.direct: the url of a canvas that is ready is the http or https address
// at which the client can show it. Everything else is unchanged.
type direct struct{ *dialects }

// Capabilities implements [server.Dialect].
func (d direct) Capabilities() []string { return nil }

// Translator implements [server.Dialect].
func (d direct) Translator(grant ws.Grant) server.Translator {
	return &directTranslator{dialects: d.dialects, grant: grant, states: map[string]canvas.CanvasState{}}
}

// directTranslator translates one connection.
type directTranslator struct {
	*dialects
	grant  ws.Grant
	states map[string]canvas.CanvasState // by channel, as the host has them; of the goroutine that sends

	mu    sync.Mutex
	ended []string // channels that the client has left
}

// Receive implements [server.Translator]. A reconnect is answered with snapshots: an address
// in an older entry might be gone.
func (t *directTranslator) Receive(m server.Message) (server.Message, error) {
	params := object{}
	if m.Params == nil || ahp.Unmarshal(m.Params, &params) != nil {
		return m, nil // the method reports it
	}
	switch m.Method {
	case ahp.Unsubscribe.Name:
		t.mu.Lock()
		t.ended = append(t.ended, params.text("channel"))
		t.mu.Unlock()
	case ahp.Reconnect.Name:
		if _, ok := params["lastSeenServerSeq"]; ok { // its absence is an error that the host reports
			params.set("lastSeenServerSeq", neverSeen)
			m.Params = ahp.MustMarshal(params)
		}
	}
	return m, nil
}

// forget drops the states of channels that the client has left.
func (t *directTranslator) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, channel := range t.ended {
		delete(t.states, channel)
	}
	t.ended = nil
}

// Send implements [server.Translator].
func (t *directTranslator) Send(text []byte) [][]byte {
	t.forget()
	return [][]byte{t.translate(text)}
}

func (t *directTranslator) translate(text []byte) []byte {
	var m object
	if ahp.Unmarshal(text, &m) != nil {
		return text
	}
	member, change := "result", t.result
	if m.text("method") == ahp.ActionNotification.Name {
		member, change = "params", t.entry
	}
	var o object
	if raw, ok := m[member]; !ok || ahp.Unmarshal(raw, &o) != nil || o == nil || !change(o) {
		return text
	}
	m.set(member, o)
	return ahp.MustMarshal(m)
}

// result replaces the addresses in the snapshots of a result, and reports whether there are
// any.
func (t *directTranslator) result(o object) (changed bool) {
	var one object
	if raw, ok := o["snapshot"]; ok && ahp.Unmarshal(raw, &one) == nil && t.snapshot(one) {
		o.set("snapshot", one)
		changed = true
	}
	var list []object
	if raw, ok := o["snapshots"]; !ok || ahp.Unmarshal(raw, &list) != nil {
		return changed
	}
	for _, s := range list {
		changed = t.snapshot(s) || changed
	}
	if changed {
		o.set("snapshots", list)
	}
	return changed
}

// snapshot replaces the address in the state of a canvas.
func (t *directTranslator) snapshot(s object) bool {
	channel := s.text("resource")
	var state canvas.CanvasState
	var members object
	if ahp.SchemeOf(channel) != ahp.SchemeCanvas || ahp.Unmarshal(s["state"], &state) != nil || ahp.Unmarshal(s["state"], &members) != nil {
		return false
	}
	t.states[channel] = state
	address := t.address(channel, state)
	if address == "" {
		return false
	}
	members.set("url", address)
	s.set("state", members)
	return true
}

// entry replaces the address in an update of a canvas: one that sets the url, or with which
// the canvas becomes ready or stale.
func (t *directTranslator) entry(o object) bool {
	channel := o.text("channel")
	before, known := t.states[channel]
	var a object
	if !known || ahp.Unmarshal(o["action"], &a) != nil || a.text("type") != canvasUpdated {
		return false
	}
	after := reduced(before, canvas.Actions, canvas.Reduce, o["action"])
	t.states[channel] = after
	_, sets := a["url"]
	if after.URL == nil || !sets && before.Availability == after.Availability {
		return false
	}
	address := t.address(channel, after)
	if address == "" {
		address = *after.URL
	}
	a.set("url", address)
	o.set("action", a)
	return true
}

// address returns the address of a canvas for the client, or "" if it gets the url that the
// host has.
func (t *directTranslator) address(channel string, s canvas.CanvasState) string {
	if t.opts.Address == nil || s.Availability != session.Ready || s.URL == nil {
		return ""
	}
	return t.opts.Address(channel, s, t.grant)
}
