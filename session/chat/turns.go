package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// MaxShown is how many canvases a turn shows: the newest of the open ones.
const MaxShown = 20

// Shown is a canvas that a turn shows.
type Shown struct {
	Channel    string `json:"channel"`    // of the canvas
	InstanceID string `json:"instanceId"` // unique in the session
	Title      string `json:"title"`      // for people, as it was in the turn
}

// open returns the open canvases of a session that a turn shows.
func open(tx *channels.ReadTx, uri string) []Shown {
	state, ok := tx.State(uri)
	if !ok {
		return nil
	}
	var list []Shown
	for _, c := range state.(session.State).OpenCanvases {
		title := c.InstanceID
		if c.Title != nil && *c.Title != "" {
			title = *c.Title
		}
		list = append(list, Shown{c.Channel, c.InstanceID, title})
	}
	return list[max(0, len(list)-MaxShown):]
}

// fromHost is the origin of a message of the host. Clients show it as a small line.
var fromHost = ahp.Value(`{"kind":"systemNotification"}`)

// Opened adds a turn that shows a canvas, in the transaction in which an agent has opened
// it. It does nothing if the session has no chat yet: a chat begins with the canvases
// that are open.
func Opened(tx *channels.Tx, uri, canvas string, now time.Time) {
	chat := URI(uri)
	state, ok := tx.State(chat)
	if !ok {
		return
	}
	list := open(&tx.ReadTx, uri)
	at := slices.IndexFunc(list, func(c Shown) bool { return c.Channel == canvas })
	if at < 0 {
		return
	}
	shown := list[at : at+1]
	begin := notice(unusedID(state.(State), fmt.Sprintf("host-%d", tx.Seq())), shown[0], now)
	publish(tx, chat, append([]ahp.Action{begin}, show(begin.TurnID, uri, "", shown)...))
}

// unusedID returns an id that no turn of a chat has: entries of a chat have no numbers, so
// several turns can begin at one.
func unusedID(s State, id string) string {
	unique := id
	for n := 1; s.has(unique); n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	return unique
}

// has reports whether a turn of the chat has an id.
func (s State) has(id string) bool {
	return slices.ContainsFunc(s.Turns, func(t Turn) bool { return t.ID == id })
}

// notice begins a turn of the host about a canvas.
func notice(turnID string, c Shown, now time.Time) TurnStarted {
	return TurnStarted{own: true, TurnID: turnID, StartedAt: session.Timestamp(now), Message: Message{Text: "The agent opened " + c.Title, Origin: fromHost}}
}

// show returns the rest of a turn: a sentence with links, cards, and its end.
func show(turnID, uri, sentence string, shown []Shown) []ahp.Action {
	part := Part{Kind: "markdown", ID: "answer", Content: sentence, Canvases: shown}
	actions := []ahp.Action{ResponsePart{turnID, part}}
	for n, c := range shown {
		actions = append(actions, card(turnID, cardID(turnID, n), uri, c)...)
	}
	return append(actions, TurnComplete{TurnID: turnID})
}

// publish appends actions to a chat. It stops if the sequence is exhausted: the host does
// so too.
func publish(tx *channels.Tx, chat string, actions []ahp.Action) {
	for _, a := range actions {
		if tx.Append(chat, a) != nil {
			return
		}
	}
}

// first returns the state of a new chat: a turn for each canvas that was opened before
// the chat had a subscriber.
func first(tx *channels.ReadTx, uri string, now time.Time) State {
	var state channels.State = State{ModifiedAt: session.Timestamp(now), Turns: []Turn{}, Status: session.StatusIdle}
	for n, c := range open(tx, uri) {
		begin := notice(fmt.Sprintf("open-%d-%d", tx.Seq(), n), c, now)
		for _, a := range append([]ahp.Action{begin}, show(begin.TurnID, uri, "", []Shown{c})...) {
			state, _, _ = Reduce(state, a) // never fails
		}
	}
	return state.(State)
}

// Markdown returns the text of a part with the addresses of its canvases, as a client
// shows it. address returns "" for a canvas that has none.
func (p Part) Markdown(address func(channel string) string) string {
	lines := make([]string, 0, len(p.Canvases))
	for _, c := range p.Canvases {
		line := escape(c.Title)
		if url := address(c.Channel); url != "" {
			line = "[" + line + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "").Replace(url) + ">)"
		}
		lines = append(lines, line)
	}
	switch {
	case p.Content == "":
		return strings.Join(lines, "\n")
	case len(lines) == 0:
		return p.Content
	}
	return p.Content + "\n\n- " + strings.Join(lines, "\n- ")
}
