package dialect

import (
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// turns returns the turns of a chat with the links, and without cards for clients that
// show none.
func (t *translator) turns(list []chat.Turn) []chat.Turn {
	shown := make([]chat.Turn, 0, len(list))
	for _, one := range list {
		shown = append(shown, t.turn(one))
	}
	return shown
}

func (t *translator) turn(of chat.Turn) chat.Turn {
	parts := []chat.Part{}
	for _, p := range of.ResponseParts {
		if p.ToolCall == nil || t.cards {
			parts = append(parts, t.part(p))
		}
	}
	of.ResponseParts = parts
	return of
}

// part returns a part with the addresses that its canvases have now.
func (t *translator) part(p chat.Part) chat.Part {
	if p.Canvases != nil {
		p.Content, p.Canvases = p.Markdown(t.address), nil
	}
	return p
}

// address returns the address of an open canvas that is ready, or "".
func (t *translator) address(channel string) string {
	if t.opts.State == nil {
		return ""
	}
	state, _ := t.opts.State(channel)
	s, ok := state.(canvas.CanvasState)
	if !ok {
		return ""
	}
	return t.addressOf(channel, s)
}

func (t *translator) addressOf(channel string, s canvas.CanvasState) string {
	if t.opts.Address == nil || s.Availability != session.Ready || s.URL == nil {
		return ""
	}
	return t.opts.Address(channel, s, t.grant)
}

var (
	responsePart = chat.ResponsePart{}.ActionType()
	turnComplete = chat.TurnComplete{}.ActionType()
)

// isMark reports whether an action marks a chat as read or archived.
func isMark(tag string) bool {
	return tag == (chat.IsReadChanged{}).ActionType() || tag == (chat.IsArchivedChanged{}).ActionType()
}

// knowsMarks reports whether the client knows such actions. Some clients of 0.9 do.
func (t *translator) knowsMarks() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.marks || t.marked
}

// chatEntry translates an action of a chat.
func (t *translator) chatEntry(e *ahp.ActionEnvelope) bool {
	if m := t.sessions[chat.SessionOf(e.Channel)]; m != nil {
		m.chat = reduced(m.chat, chat.Actions, chat.Reduce, e.Action)
	}
	tag, _ := ahp.ActionTag(e.Action)
	switch {
	case !t.wants(e.Channel), strings.HasPrefix(tag, "chat/toolCall") && !t.cards, isMark(tag) && !t.knowsMarks():
		return false
	case tag == responsePart:
		a, err := chat.Actions.Decode(e.Action)
		if part, ok := a.Action.(chat.ResponsePart); err == nil && ok {
			part.Part = t.part(part.Part)
			if enc, err := chat.Actions.Encode(part); err == nil {
				e.Action = enc.Bytes()
			}
		}
	}
	return true
}

// chatUpdated returns the change of a chat in the state of its session, if the client has
// that and an entry of either changed it. The end of a turn is always one.
func (t *translator) chatUpdated(e ahp.ActionEnvelope, uri string) []ahp.ActionEnvelope {
	m := t.sessions[uri]
	if m == nil || m.chat.ActiveTurn != nil || !t.wants(uri) {
		return nil
	}
	tag, _ := ahp.ActionTag(e.Action)
	before, after := m.summary, t.summaryOf(uri, m.session, m.chat)
	m.summary = after
	changes := object{}
	if before.Title != after.Title {
		changes.set("title", after.Title)
	}
	if before.Status != after.Status {
		changes.set("status", after.Status)
	}
	if before.ModifiedAt != after.ModifiedAt || tag == turnComplete {
		changes.set("modifiedAt", after.ModifiedAt)
	}
	if len(changes) == 0 {
		return nil
	}
	e.Channel, e.Origin = uri, nil
	e.Action = ahp.MustMarshal(object{"type": ahp.MustMarshal(session.ChatUpdated{}.ActionType()), "chat": ahp.MustMarshal(after.Resource), "changes": ahp.MustMarshal(changes)})
	return []ahp.ActionEnvelope{e}
}
