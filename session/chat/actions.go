package chat

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The actions of a chat.
type (
	// TurnStarted begins a turn with a message.
	TurnStarted struct {
		// TurnID is chosen by the sender.
		TurnID string `json:"turnId"`
		// StartedAt is the time, ISO 8601.
		StartedAt string `json:"startedAt"`
		// Message is what the sender said.
		Message Message `json:"message"`
		// Extra are unknown members.
		Extra ahp.Value `json:",embed"`

		own bool // of the host, which answers it itself
	}
	// TurnCancelled asks to end a turn. Turns of this host have ended already.
	TurnCancelled struct {
		// TurnID is the turn.
		TurnID string `json:"turnId"`
		// Extra are unknown members.
		Extra ahp.Value `json:",embed"`
	}
	// ResponsePart appends a part to the answer of a turn.
	ResponsePart struct {
		// TurnID is the turn.
		TurnID string `json:"turnId"`
		// Part is the part.
		Part Part `json:"part"`
	}
	// TurnComplete ends a turn.
	TurnComplete struct {
		// TurnID is the turn.
		TurnID string `json:"turnId"`
		// Duration is how long the turn took, in milliseconds.
		Duration int64 `json:"duration"`
	}
	// DraftChanged sets the message that a person is writing; absent removes it.
	DraftChanged struct {
		// Draft is a message.
		Draft ahp.Value `json:"draft,omitzero"`
		// Extra are unknown members.
		Extra ahp.Value `json:",embed"`
	}
	// IsReadChanged says whether the chat was read.
	IsReadChanged struct {
		// IsRead is whether it was.
		IsRead bool `json:"isRead"`
	}
	// IsArchivedChanged says whether the chat is archived.
	IsArchivedChanged struct {
		// IsArchived is whether it is.
		IsArchived bool `json:"isArchived"`
	}
)

// ActionType returns the tag of each payload.
func (TurnStarted) ActionType() string       { return "chat/turnStarted" }
func (TurnCancelled) ActionType() string     { return "chat/turnCancelled" }
func (ResponsePart) ActionType() string      { return "chat/responsePart" }
func (TurnComplete) ActionType() string      { return "chat/turnComplete" }
func (DraftChanged) ActionType() string      { return "chat/draftChanged" }
func (IsReadChanged) ActionType() string     { return "chat/isReadChanged" }
func (IsArchivedChanged) ActionType() string { return "chat/isArchivedChanged" }

// Limits of what clients write, in bytes.
const (
	maxID      = 256
	maxMessage = 64 << 10
)

// Validate limits the texts.
func (a TurnStarted) Validate() error {
	switch {
	case a.TurnID == "" || len(a.TurnID) > maxID:
		return fmt.Errorf("/turnId: want 1 to %d bytes", maxID)
	case len(a.StartedAt) > maxID:
		return fmt.Errorf("/startedAt: longer than %d bytes", maxID)
	case len(a.Message.Text)+len(a.Message.Extra)+len(a.Message.Origin)+len(a.Extra) > maxMessage:
		return fmt.Errorf("/message: longer than %d bytes", maxMessage)
	}
	return nil
}

// Validate limits the draft.
func (a DraftChanged) Validate() error {
	if len(a.Draft) > maxMessage {
		return errors.New("/draft: too long")
	}
	return nil
}

// Actions is the action table of chats.
var Actions = ahp.NewActionTable(
	ahp.Row[TurnStarted](ahp.FromClient|ahp.FromHost, ahp.Gated(Capability)),
	ahp.Row[TurnCancelled](ahp.FromClient, ahp.Gated(Capability)),
	ahp.Row[ResponsePart](ahp.FromHost, ahp.Gated(Capability)),
	ahp.Row[TurnComplete](ahp.FromHost, ahp.Gated(Capability)),
	ahp.Row[ToolCallStart](ahp.FromHost, ahp.Gated(Capability)),
	ahp.Row[ToolCallReady](ahp.FromHost, ahp.Gated(Capability)),
	ahp.Row[ToolCallComplete](ahp.FromHost, ahp.Gated(Capability)),
	ahp.Row[DraftChanged](ahp.FromClient, ahp.Gated(Capability)),
	ahp.Row[IsReadChanged](ahp.FromClient, ahp.Gated(Capability)),
	ahp.Row[IsArchivedChanged](ahp.FromClient, ahp.Gated(Capability)),
)
