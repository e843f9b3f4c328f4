package dialect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// sendAction translates an entry of the log into those that the client gets: none if the
// dialect has no form for it. A second one has no number in the host's sequence, like the
// entries of chats.
func (t *translator) sendAction(params ahp.Value) (texts [][]byte) {
	var e ahp.ActionEnvelope
	if ahp.Unmarshal(params, &e) != nil {
		return nil
	}
	numbered := ahp.SchemeOf(e.Channel) != chat.Scheme
	for _, form := range t.forms(e) {
		if !numbered {
			t.unnumbered.Add(1)
		}
		numbered = false
		form.ServerSeq += t.unnumbered.Load()
		form.Channel = t.spell(form.Channel)
		texts = append(texts, ahp.MustMarshal(notification{"2.0", ahp.ActionNotification.Name, ahp.MustMarshal(form)}))
	}
	return texts
}

// forms returns the entries that the client gets for an entry of the host.
func (t *translator) forms(e ahp.ActionEnvelope) []ahp.ActionEnvelope {
	sent := true
	switch scheme := ahp.SchemeOf(e.Channel); {
	case e.RejectionReason != "":
		t.refusal(&e)
	case scheme == ahp.SchemeRoot:
		var a object
		if ahp.Unmarshal(e.Action, &a) == nil {
			e.Action = ahp.MustMarshal(root(a))
		}
	case scheme == ahp.SchemeSession:
		return t.sessionEntry(e)
	case scheme == chat.Scheme:
		return append(only(e, t.chatEntry(&e)), t.chatUpdated(e, chat.SessionOf(e.Channel))...)
	case scheme == ahp.SchemeCanvas:
		sent = t.canvasEntry(&e)
	}
	return only(e, sent)
}

// only returns an entry as a list, or none.
func only(e ahp.ActionEnvelope, sent bool) []ahp.ActionEnvelope {
	if !sent {
		return nil
	}
	return []ahp.ActionEnvelope{e}
}

func (t *translator) wants(uri string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wanted[uri]
}

// reduced applies an action of the host to a state.
func reduced[S channels.State](state S, actions *ahp.ActionTable, reduce func(channels.State, ahp.Action) (channels.State, channels.Outcome, error), raw ahp.Value) S {
	a, err := actions.Decode(raw)
	if err != nil {
		return state // of a later version of the host
	}
	next, _, err := reduce(state, a.Action)
	if err != nil {
		return state
	}
	return next.(S)
}

// sessionEntry translates an action of a session. Its title is that of its chat.
func (t *translator) sessionEntry(e ahp.ActionEnvelope) []ahp.ActionEnvelope {
	return append(t.sessionForms(e), t.chatUpdated(e, e.Channel)...)
}

// sessionForms returns the forms of an action of a session. That the open canvases changed
// is a change of the chat, and for editors of the session's artifacts as well.
func (t *translator) sessionForms(e ahp.ActionEnvelope) []ahp.ActionEnvelope {
	tag, _ := ahp.ActionTag(e.Action)
	m := t.sessions[e.Channel]
	if m == nil { // the sender is not subscribed
		return only(e, tag != openCanvasesChanged && tag != canvasesChanged)
	}
	before := t.refs(m.session)
	m.session = reduced(m.session, session.Actions, session.Reduce, e.Action)
	switch tag {
	case canvasesChanged:
		return nil
	case openCanvasesChanged:
		return append(t.refsChanged(e, before, t.refs(m.session)), t.artifactsChanged(e, m)...)
	case metaChanged:
		if t.cards {
			return t.artifactsChanged(e, m)
		}
	case activeClientSet:
		var a, client object
		if ahp.Unmarshal(e.Action, &a) == nil && ahp.Unmarshal(a["activeClient"], &client) == nil {
			a.set("activeClient", withoutProviders(client))
			e.Action = ahp.MustMarshal(a)
		}
	}
	return only(e, t.wants(e.Channel))
}

// refsChanged returns the change of the chat's canvases, if the client has the chat and the
// list is not the one before.
func (t *translator) refsChanged(e ahp.ActionEnvelope, before, after []canvasRef) []ahp.ActionEnvelope {
	of := chat.URI(e.Channel)
	if !t.canvases || slices.Equal(before, after) || !t.wants(of) {
		return nil
	}
	e.Channel, e.Origin = of, nil
	e.Action = ahp.MustMarshal(struct {
		Type     string      `json:"type"`
		Canvases []canvasRef `json:"canvases,omitzero"`
	}{"chat/canvasesChanged", after})
	return []ahp.ActionEnvelope{e}
}

var (
	canvasesChanged     = session.CanvasesChanged{}.ActionType()
	openCanvasesChanged = session.OpenCanvasesChanged{}.ActionType()
	activeClientSet     = session.ActiveClientSet{}.ActionType()
	canvasUpdated       = canvas.Updated{}.ActionType()
)

// canvasEntry translates an action of a canvas: a change of its state, whole, and nothing
// else.
func (t *translator) canvasEntry(e *ahp.ActionEnvelope) bool {
	tag, _ := ahp.ActionTag(e.Action)
	before, known := t.instances[e.Channel]
	if tag != canvasUpdated || !known {
		return false
	}
	after := reduced(before.state, canvas.Actions, canvas.Reduce, e.Action)
	state := t.canvas(e.Channel, after)
	t.instances[e.Channel] = instance{after, state}
	if bytes.Equal(state, before.sent) {
		return false
	}
	e.Origin = nil
	e.Action = ahp.MustMarshal(struct {
		Type   string    `json:"type"`
		Canvas ahp.Value `json:"canvas"`
	}{"canvas/stateChanged", state})
	return true
}

// refusal translates a refused action, which is its sender's.
func (t *translator) refusal(e *ahp.ActionEnvelope) {
	if e.Origin != nil {
		t.mu.Lock()
		if action, ok := t.replaced[e.Origin.ClientSeq]; ok && bytes.Equal(e.Action, refused) {
			delete(t.replaced, e.Origin.ClientSeq)
			e.Action, e.RejectionReason = action, "canvases are changed by the host only"
		}
		t.mu.Unlock()
	}
	tag, _ := ahp.ActionTag(e.Action)
	switch {
	case tag == (session.RootConfigChanged{}).ActionType():
		// Editors send their settings to every host, and take a refusal for a fault.
		e.RejectionReason = ""
	case strings.HasPrefix(tag, "chat/") && !fromClients(tag):
		e.RejectionReason = "this host runs no agent"
	}
}

// fromClients reports whether clients may dispatch an action of a chat.
func fromClients(tag string) bool {
	row := chat.Actions.Row(tag)
	return row != nil && row.From&ahp.FromClient != 0
}
