package client

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// mirror is the confirmed state of the channels that the client follows. It is
// guarded by the client's mutex, and pure otherwise: what happened comes back
// as events.
type mirror struct {
	channels map[string]*channel
	// last is the serverSeq of the newest envelope; the next one is above it.
	last int64
	// seen is what a reconnect names: the newest envelope or snapshot. 0 is
	// nothing, and then the handshake is initialize.
	seen int64
}

// channel is one subscription.
type channel struct {
	kind  *canvas.ChannelKind // nil if the client knows no kind of this scheme
	state any
	seq   int64 // of the state
	// asking counts the Subscribe calls that wait for an answer.
	asking int
	based  bool // the subscription was answered once
}

func newMirror() mirror { return mirror{channels: map[string]*channel{}} }

// want returns the channel of uri, and makes one that is not based yet.
func (m *mirror) want(uri string) *channel {
	ch := m.channels[uri]
	if ch == nil {
		ch = &channel{}
		m.channels[uri] = ch
	}
	return ch
}

// followed returns the URIs whose subscription was answered, sorted.
func (m *mirror) followed() []string {
	var uris []string
	for _, uri := range slices.Sorted(maps.Keys(m.channels)) {
		if m.channels[uri].based {
			uris = append(uris, uri)
		}
	}
	return uris
}

// drop forgets a channel.
func (m *mirror) drop(uri string) Event {
	delete(m.channels, uri)
	return Event{Kind: EventGone, Channel: uri}
}

// install replaces a channel's state as a whole.
func (m *mirror) install(ch *channel, b base) Event {
	ch.kind, ch.state, ch.seq = b.kind, b.state, b.FromSeq
	ch.based = true
	m.seen = max(m.seen, b.FromSeq)
	return m.event(b.Resource, ch, len(b.State))
}

func (m *mirror) event(uri string, ch *channel, size int) Event {
	return Event{Kind: EventSnapshot, Channel: uri, Seq: ch.seq, State: ch.state, size: size}
}

// advance notes an envelope's number, which must rise.
func (m *mirror) advance(seq int64) error {
	if seq <= m.last {
		return &ProtocolError{Rule: fmt.Sprintf("serverSeq rises: %d came after %d", seq, m.last)}
	}
	m.last, m.seen = seq, max(m.seen, seq)
	return nil
}

// apply reduces an action that was not refused. What is not followed (any more)
// is no event, and neither is what a snapshot held already.
func (m *mirror) apply(u update) (ev Event, ok bool, err error) {
	ch := m.channels[u.Channel]
	if ch == nil || !ch.based || u.ServerSeq <= ch.seq {
		return ev, false, nil
	}
	if u.action != nil && ch.kind != nil {
		state, _, err := ch.kind.Reduce(ch.state, u.action)
		if err != nil {
			return ev, false, &ProtocolError{Rule: "an action can be applied", Err: fmt.Errorf("%s: %w", u.tag, err)}
		}
		ch.state, ch.seq = state, u.ServerSeq
	}
	ev = actionEvent(EventAction, u)
	ev.State = ch.state
	return ev, true, nil
}

func actionEvent(k EventKind, u update) Event {
	return Event{
		Kind: k, Channel: u.Channel, Seq: u.ServerSeq, Type: u.tag, Action: u.action,
		Raw: u.ActionEnvelope.Action, Origin: u.Origin, Reason: u.RejectionReason, size: len(u.ActionEnvelope.Action),
	}
}

// restart forgets the numbers of the connection before: a host that started
// again may count from the beginning. seq is what the new one begins with.
func (m *mirror) restart(seq int64) { m.last, m.seen = seq, seq }

// snapshot is a channel's state, for the readers of the mirror.
func (m *mirror) snapshot(uri string) (Snapshot, bool) {
	ch := m.channels[uri]
	if ch == nil || !ch.based || ch.kind == nil {
		return Snapshot{}, false
	}
	return Snapshot{Channel: uri, Seq: ch.seq, State: ch.state}, true
}

// Snapshot is the state of a channel at a serverSeq.
type Snapshot struct {
	Channel string
	Seq     int64
	// State is a session.RootState, session.State or canvas.State; nil where
	// the channel has none that the client knows.
	State any
}
