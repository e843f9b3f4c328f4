package canvas

import (
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Updated changes members of a [CanvasState]: absent keeps, null clears, a value
// sets. The host sends it, and the provider of the instance, who may leave
// neither Availability nor Input in it (canvas.md section 4).
type Updated struct {
	Title        ahp.Field[string]                     `json:"title,omitzero"`
	Status       ahp.Field[string]                     `json:"status,omitzero"`
	URL          ahp.Field[string]                     `json:"url,omitzero"`
	Availability ahp.Field[session.CanvasAvailability] `json:"availability,omitzero"`
	// Input replaces the retained input as a whole; only the host sends it.
	Input ahp.Field[ahp.Value] `json:"input,omitzero"`
}

// CloseRequested says that a person wants the canvas closed. It changes no
// state; the host runs the close flow.
type CloseRequested struct{}

// Message carries an opaque payload between a View and the instance's provider
// (#297 section 10). It changes no state.
type Message struct {
	Payload ahp.Value `json:"payload"`
}

// ActionType returns the tag of each payload.
func (Updated) ActionType() string        { return "canvas/updated" }
func (CloseRequested) ActionType() string { return "canvas/closeRequested" }
func (Message) ActionType() string        { return "canvas/message" }

// Validate refuses an availability that is none: a canvas always has one.
func (u Updated) Validate() error {
	if !u.Availability.Present {
		return nil
	}
	if u.Availability.Value == nil {
		return errors.New("/availability: cannot be cleared")
	}
	if a := *u.Availability.Value; a != session.Ready && a != session.Stale {
		return fmt.Errorf("/availability: want %q or %q", session.Ready, session.Stale)
	}
	return nil
}

// Actions is the table of the canvas channel.
var Actions = ahp.NewActionTable(
	ahp.Row[Updated](ahp.FromHost|ahp.FromProvider, ahp.Since(ahp.V0_6_0), ahp.Gated(ahp.CapabilityCanvas)),
	ahp.Row[CloseRequested](ahp.FromClient, ahp.Since(ahp.V0_6_0), ahp.Gated(ahp.CapabilityCanvas)),
	ahp.Row[Message](ahp.FromClient|ahp.FromProvider, ahp.Since(ahp.V0_6_0), ahp.Gated(ahp.CapabilityCanvas), ahp.AsMessage()),
)
