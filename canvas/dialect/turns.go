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
func (d *dialect) turns(list []chat.Turn) []chat.Turn {
	shown := make([]chat.Turn, 0, len(list))
	for _, t := range list {
		shown = append(shown, d.turn(t))
	}
	return shown
}

func (d *dialect) turn(t chat.Turn) chat.Turn {
	parts := []chat.Part{}
	for _, p := range t.ResponseParts {
		if p.ToolCall == nil || d.cards {
			parts = append(parts, d.part(p))
		}
	}
	t.ResponseParts = parts
	return t
}

// part returns a part with the addresses that its canvases have now.
func (d *dialect) part(p chat.Part) chat.Part {
	if p.Canvases != nil {
		p.Content, p.Canvases = p.Markdown(d.address), nil
	}
	return p
}

// address returns the address of an open canvas that is ready, or "".
func (d *dialect) address(channel string) string {
	if d.opts.State == nil {
		return ""
	}
	state, _ := d.opts.State(channel)
	s, ok := state.(canvas.CanvasState)
	if !ok {
		return ""
	}
	return d.addressOf(channel, s)
}

func (d *dialect) addressOf(channel string, s canvas.CanvasState) string {
	if d.opts.Address == nil || s.Availability != session.Ready || s.URL == nil {
		return ""
	}
	return d.opts.Address(channel, s)
}

var responsePart = chat.ResponsePart{}.ActionType()

// chatEntry translates an action of a chat.
func (t *translator) chatEntry(e *ahp.ActionEnvelope) bool {
	if m := t.sessions[chat.SessionOf(e.Channel)]; m != nil {
		m.chat = reduced(m.chat, chat.Actions, chat.Reduce, e.Action)
	}
	tag, _ := ahp.ActionTag(e.Action)
	switch {
	case !t.wants(e.Channel), strings.HasPrefix(tag, "chat/toolCall") && !t.cards:
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
