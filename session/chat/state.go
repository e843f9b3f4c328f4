package chat

import (
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Capability is what a connection needs to see chats.
const Capability = ahp.CapabilityChat

// Scheme is the scheme of chats' URIs in the log. Clients know them by other URIs.
const Scheme = "ahp-chat"

// MaxTurns is how many turns a chat keeps.
const MaxTurns = 20

// URI returns the chat of a session, or "" if uri is none.
func URI(uri string) string {
	if id, ok := strings.CutPrefix(uri, ahp.SchemeSession+":/"); ok {
		return Scheme + ":/" + id
	}
	return ""
}

// SessionOf returns the session of a chat, or "" if uri is none.
func SessionOf(uri string) string {
	if id, ok := strings.CutPrefix(uri, Scheme+":/"); ok {
		return ahp.SchemeSession + ":/" + id
	}
	return ""
}

// State is the state of a chat. Its title is the session's.
type State struct {
	ModifiedAt string         `json:"modifiedAt"`          // when the last turn ended, ISO 8601
	Turns      []Turn         `json:"turns"`               // that have ended, the oldest first
	ActiveTurn *Turn          `json:"activeTurn,omitzero"` // the one that has not
	Draft      ahp.Value      `json:"draft,omitzero"`      // the message that a person is writing
	Status     session.Status `json:"status"`              // idle or in progress, with the bits for read and archived
}

// Turn is a message and its answer.
type Turn struct {
	ID            string  `json:"id"`                // chosen by who started it
	StartedAt     string  `json:"startedAt"`         // ISO 8601
	Duration      *int64  `json:"duration,omitzero"` // in milliseconds; nil until it has ended
	Message       Message `json:"message"`           // that started it
	ResponseParts []Part  `json:"responseParts"`     // the answer
	State         string  `json:"state,omitzero"`    // "complete"; "" until it has ended
}

// Message is what a person or the host said.
type Message struct {
	Text   string    `json:"text"`            // plain text or Markdown
	Origin ahp.Value `json:"origin,omitzero"` // who said it, as in {"kind":"user"}
	Extra  ahp.Value `json:",embed"`          // unknown members
}

// Part is a part of an answer: Markdown or a card.
type Part struct {
	Kind    string `json:"kind"`             // "markdown" or "toolCall"
	ID      string `json:"id,omitzero"`      // of Markdown, unique in the turn
	Content string `json:"content,omitzero"` // Markdown
	// Canvases follow the Markdown as links. Their addresses differ from client to client
	// and are secrets, so they are in no entry; see [Part.Markdown].
	Canvases []Shown   `json:"canvases,omitzero"`
	ToolCall *ToolCall `json:"toolCall,omitzero"` // a card
}

// Reduce applies an action to a chat's state. It is pure.
func Reduce(state channels.State, action ahp.Action) (channels.State, channels.Outcome, error) {
	s := state.(State)
	switch a := action.(type) {
	case TurnStarted:
		s.ActiveTurn = &Turn{ID: a.TurnID, StartedAt: a.StartedAt, Message: a.Message, ResponseParts: []Part{}}
		s.Status = doing(s.Status, session.StatusInProgress).With(session.StatusIsRead, false)
	case ResponsePart:
		if t := s.active(a.TurnID); t != nil {
			t.ResponseParts = append(slices.Clip(t.ResponseParts), a.Part)
			s.ActiveTurn = t
		}
	case ToolCallStart:
		s = s.reduceCard(a.TurnID, a)
	case ToolCallReady:
		s = s.reduceCard(a.TurnID, a)
	case ToolCallComplete:
		s = s.reduceCard(a.TurnID, a)
	case TurnComplete:
		if t := s.active(a.TurnID); t != nil {
			t.Duration, t.State = &a.Duration, "complete"
			s.ActiveTurn = nil
			s.Turns = append(slices.Clone(s.Turns[max(0, len(s.Turns)+1-MaxTurns):]), *t)
			s.ModifiedAt = ended(*t, s.ModifiedAt)
			s.Status = doing(s.Status, session.StatusIdle)
		}
	case DraftChanged:
		s.Draft = a.Draft
	case IsReadChanged:
		s.Status = s.Status.With(session.StatusIsRead, a.IsRead)
	case IsArchivedChanged:
		s.Status = s.Status.With(session.StatusIsArchived, a.IsArchived)
	default:
		return s, channels.Signal, nil
	}
	return s, channels.Applied, nil
}

// doing replaces what a status says about turns.
func doing(s, activity session.Status) session.Status {
	return s&(session.StatusIsRead|session.StatusIsArchived) | activity
}

// active returns a copy of the active turn, or nil if that is not the turn of the id.
func (s State) active(id string) *Turn {
	if s.ActiveTurn == nil || s.ActiveTurn.ID != id {
		return nil
	}
	t := *s.ActiveTurn
	return &t
}

func (s State) reduceCard(turnID string, a ahp.Action) State {
	if t := s.active(turnID); t != nil {
		t.ResponseParts = slices.Clone(t.ResponseParts)
		t.reduceCard(a)
		s.ActiveTurn = t
	}
	return s
}

// ended returns when a turn ended, or before if its start is no time.
func ended(t Turn, before string) string {
	at, err := time.Parse(time.RFC3339, t.StartedAt)
	if err != nil {
		return before
	}
	return session.Timestamp(at.Add(time.Duration(*t.Duration) * time.Millisecond))
}
