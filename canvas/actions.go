package canvas

import (
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Updated changes members of a [CanvasState]: absent keeps a member, null clears it,
// a value sets it. The host and the instance's provider dispatch it; a provider may
// not set Availability, Input or IsPrivate (canvas/PROTOCOL.md section 4).
type Updated struct {
	// Title is the title that people see.
	Title ahp.Field[string] `json:"title,omitzero"`
	// Status is a short line of text beside the title.
	Status ahp.Field[string] `json:"status,omitzero"`
	// URL is the address of the content.
	URL ahp.Field[string] `json:"url,omitzero"`
	// Availability is ready or stale. It cannot be cleared: null is absence.
	Availability *session.CanvasAvailability `json:"availability,omitzero"`
	// Input replaces the retained input as a whole.
	Input ahp.Field[ahp.Value] `json:"input,omitzero"`
	// IsPrivate says whether agents may look at the canvas. Only the host sets it, for a
	// person (canvas/PROTOCOL.md section 7.2). It cannot be cleared: null is absence.
	IsPrivate *bool `json:"isPrivate,omitzero"`
	// Meta changes members of the state's _meta: null removes one, any other value sets
	// it. Of an update of a client, the host takes what a provider announces (canvas/PROTOCOL.md section 4.9).
	Meta ahp.Value `json:"_meta,omitzero"`
}

// CloseRequested is dispatched by a client when a person closes the canvas. It
// changes no state; the host runs the close flow.
type CloseRequested struct {
	// Meta may contain [MetaUndo].
	Meta ahp.Value `json:"_meta,omitzero"`
}

// MetaUndo is the _meta member of canvas/closeRequested with which a client asks the host
// to wait before it closes the canvas: for how many seconds the person can undo the close.
const MetaUndo = "x-ahp-canvas/undo"

// MaxUndo is how long a close waits at most.
const MaxUndo = 10 * time.Second

// Undo returns for how long the close waits, at most [MaxUndo]. It is 0 if the client did
// not ask for it.
func (c CloseRequested) Undo() time.Duration {
	var seconds float64
	if ahp.Unmarshal(metaMember(c.Meta, MetaUndo), &seconds) != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, MaxUndo.Seconds()) * float64(time.Second))
}

// Message carries an opaque payload between a View and the instance's provider
// (the Canvas proposal (#297), section 10). It changes no state.
type Message struct {
	// Payload is any JSON.
	Payload ahp.Value `json:"payload"`
}

// ActionType implements [ahp.Action].
func (Updated) ActionType() string { return "canvas/updated" }

// ActionType implements [ahp.Action].
func (CloseRequested) ActionType() string { return "canvas/closeRequested" }

// ActionType implements [ahp.Action].
func (Message) ActionType() string { return "canvas/message" }

// Validate returns an error if the availability is unknown.
func (u Updated) Validate() error {
	if u.Availability == nil {
		return nil
	}
	if a := *u.Availability; a != session.Ready && a != session.Stale {
		return fmt.Errorf("/availability: want %q or %q", session.Ready, session.Stale)
	}
	return nil
}

// Actions is the action table of the canvas channel.
var Actions = ahp.NewActionTable(
	ahp.Row[Updated](ahp.FromHost|ahp.FromProvider, ahp.Since(ahp.V0_6_0), ahp.Gated(ahp.CapabilityCanvas)),
	ahp.Row[CloseRequested](ahp.FromClient, ahp.Since(ahp.V0_6_0), ahp.Gated(ahp.CapabilityCanvas)),
	ahp.Row[Message](ahp.FromClient|ahp.FromProvider, ahp.Since(ahp.V0_6_0), ahp.Gated(ahp.CapabilityCanvas), ahp.AsMessage()),
)
