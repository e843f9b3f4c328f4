package client

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// mirror is the confirmed state of the channels that the client follows. Its
// methods return changes as events. The client's mutex guards it.
type mirror struct {
	channels map[string]*channel
	// last is the serverSeq of the newest envelope; the next one must be above it.
	last int64
	// seen is the newest envelope or snapshot, from which a reconnect resumes. If it
	// is 0, the handshake is initialize.
	seen int64
}

// channel is one subscription.
type channel struct {
	kind  *canvas.ChannelKind // nil if the client knows no kind of this scheme
	state any
	seq   int64 // of the state
	// pending counts the Subscribe calls in flight.
	pending   int
	confirmed bool // the host has confirmed the subscription
}

func newMirror() mirror { return mirror{channels: map[string]*channel{}} }

// add returns the channel of uri, and makes an unconfirmed one if there is none.
func (m *mirror) add(uri string) *channel {
	ch := m.channels[uri]
	if ch == nil {
		ch = &channel{}
		m.channels[uri] = ch
	}
	return ch
}

// followed returns the URIs of the confirmed subscriptions, sorted.
func (m *mirror) followed() []string {
	var uris []string
	for _, uri := range slices.Sorted(maps.Keys(m.channels)) {
		if m.channels[uri].confirmed {
			uris = append(uris, uri)
		}
	}
	return uris
}

// drop removes a channel.
func (m *mirror) drop(uri string) Event {
	delete(m.channels, uri)
	return Event{Kind: EventGone, Channel: uri}
}

// install replaces a channel's state by a snapshot.
func (m *mirror) install(ch *channel, s decodedSnapshot) Event {
	ch.kind, ch.state, ch.seq = s.kind, s.state, s.FromSeq
	ch.confirmed = true
	m.seen = max(m.seen, s.FromSeq)
	return m.event(s.Resource, ch, len(s.State))
}

func (m *mirror) event(uri string, ch *channel, size int) Event {
	return Event{Kind: EventSnapshot, Channel: uri, Seq: ch.seq, State: ch.state, size: size}
}

// advance records the number of an envelope, which must increase.
func (m *mirror) advance(seq int64) error {
	if seq <= m.last {
		return &ProtocolError{Rule: fmt.Sprintf("serverSeq must increase: %d came after %d", seq, m.last)}
	}
	m.last, m.seen = seq, max(m.seen, seq)
	return nil
}

// apply reduces an action that was not refused. Actions of channels that are not
// followed are no events, and neither are those that a snapshot already contains.
func (m *mirror) apply(e envelope) (ev Event, ok bool, err error) {
	ch := m.channels[e.Channel]
	if ch == nil || !ch.confirmed || e.ServerSeq <= ch.seq {
		return ev, false, nil
	}
	if e.action != nil && ch.kind != nil {
		state, _, err := ch.kind.Reduce(ch.state, e.action)
		if err != nil {
			return ev, false, &ProtocolError{Rule: "an action must fit the state", Err: fmt.Errorf("%s: %w", e.tag, err)}
		}
		ch.state, ch.seq = state, e.ServerSeq
	}
	ev = actionEvent(EventAction, e)
	ev.State = ch.state
	return ev, true, nil
}

func actionEvent(k EventKind, e envelope) Event {
	return Event{
		Kind: k, Channel: e.Channel, Seq: e.ServerSeq, Type: e.tag, Action: e.action,
		Raw: e.ActionEnvelope.Action, Origin: e.Origin, Reason: e.RejectionReason, size: len(e.ActionEnvelope.Action),
	}
}

// restart resets the numbers, because a restarted host can count from the
// beginning. seq is the new connection's first number.
func (m *mirror) restart(seq int64) { m.last, m.seen = seq, seq }

// snapshot returns a channel's state, if its kind is known.
func (m *mirror) snapshot(uri string) (Snapshot, bool) {
	ch := m.channels[uri]
	if ch == nil || !ch.confirmed || ch.kind == nil {
		return Snapshot{}, false
	}
	return Snapshot{Channel: uri, Seq: ch.seq, State: ch.state}, true
}

// catalogEntry returns the catalog entry of an instance that a client provides, or
// nil.
func (m *mirror) catalogEntry(key instanceKey, clientID string) *session.OpenCanvasRef {
	snap, _ := m.snapshot(key.session)
	state, _ := snap.State.(session.State)
	for i, entry := range state.OpenCanvases {
		if entry.InstanceID == key.instance && entry.ExtensionID == "client:"+clientID {
			return &state.OpenCanvases[i]
		}
	}
	return nil
}

// Snapshot is the state of a channel at a serverSeq.
type Snapshot struct {
	// Channel is the channel's URI.
	Channel string
	// Seq is the serverSeq of the newest action in State.
	Seq int64
	// State is a session.RootState, session.State or canvas.CanvasState; nil if the
	// client does not know the channel's kind.
	State any
}
