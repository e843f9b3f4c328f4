package canvas

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// OpenArgs says what to open.
type OpenArgs struct {
	Session     string    // its URI: a host's own is host.DefaultSession
	ExtensionID string    // "" if CanvasID alone is unambiguous
	CanvasID    string    // a declared canvas
	InstanceID  string    // names the panel in its session; "" lets the host choose
	Input       ahp.Value // a JSON object; nil if absent
}

// InvokeArgs says which action of which open canvas to run.
type InvokeArgs struct {
	Session    string    // its URI
	InstanceID string    // of an open canvas
	ActionName string    // a declared action of it
	Input      ahp.Value // a JSON object; nil if absent
}

// OpenCanvas is an open instance as an agent sees it.
type OpenCanvas struct {
	InstanceID    string                     `json:"instanceId"`             // names the instance in its session
	Channel       string                     `json:"channel"`                // its ahp-canvas: URI
	ExtensionID   string                     `json:"extensionId"`            // who declared the canvas
	ExtensionName string                     `json:"extensionName,omitzero"` // for people
	CanvasID      string                     `json:"canvasId"`               // the declared canvas
	DisplayName   string                     `json:"displayName,omitzero"`   // the declaration's, for people
	Title         string                     `json:"title,omitzero"`         // "" if the provider set none
	Status        string                     `json:"status,omitzero"`        // likewise
	URL           string                     `json:"url,omitzero"`           // of the content; "" if there is none
	Availability  session.CanvasAvailability `json:"availability"`           // ready, or stale while its provider is unreachable
	IsPrivate     bool                       `json:"isPrivate,omitzero"`     // a person hid it from looks
	// Cursor is where the session's events were when the agent opened the canvas last:
	// the events after it are later than that open. 0 if no agent opened it in this run
	// of the host.
	Cursor int64 `json:"cursor,omitzero"`
	// Answer is what the provider answered to an open (Opened.Answer); nil if it did not,
	// and in lists.
	Answer ahp.Value `json:"answer,omitzero"`
}

// Event is something that happened in a canvas, for the agent to read.
type Event struct {
	InstanceID string    `json:"instanceId,omitzero"` // "" if it belongs to no canvas in particular
	Time       string    `json:"time"`                // RFC 3339, UTC
	Event      ahp.Value `json:"event"`               // what the provider raised
	Cursor     int64     `json:"cursor,omitzero"`     // after this event
}

// SinceOpen is the cursor of a session's last open by an agent: the events after it are
// those of the canvas that was opened, and whatever came later. Events that a provider
// raised before are not among them. Without such an open it is the beginning.
const SinceOpen = -1

// EventPage holds the events after a cursor.
type EventPage struct {
	// Events are in the order in which they were raised.
	Events []Event `json:"events"`
	// Next is the cursor for the next call.
	Next int64 `json:"next"`
	// Dropped counts the events after the cursor that were dropped before they
	// were read.
	Dropped int64 `json:"dropped"`
}
