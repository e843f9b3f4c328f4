package actionsbridge

import (
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The types of items.
const (
	TypeRuntimeReady   = "runtime_ready"
	TypeRuntimeStatus  = "runtime_status"
	TypeRuntimeRemoved = "runtime_removed"
	TypeCall           = "action_call"
	TypeOutput         = "action_call_output"
	TypeError          = "action_error"
	TypeEvent          = "dom_event"
	TypeProgress       = "action_progress"
)

// Limits of items.
const (
	MaxItem       = 4 << 20   // bytes of an item
	maxDepth      = 64        // of nested values
	maxString     = 256       // bytes of an id, a name or another short text
	maxURL        = 8 << 10   // bytes
	maxTitle      = 512       // code points
	maxManifest   = 1 << 20   // bytes
	maxTools      = 512       // of a manifest, and names of a status
	maxList       = 64        // states, attachments
	maxArguments  = 256 << 10 // bytes
	maxPayload    = 32 << 10  // bytes
	maxTimeoutMs  = 600_000
	maxItemErrors = 20 // malformed items a minute, then the connection is closed
)

// Attachment is what a status says about a page's affordance.
type Attachment struct {
	ID    string `json:"id,omitzero"`    // the manifest's id
	State string `json:"state,omitzero"` // as in "attached"
}

// Item is one message of the protocol, in either direction. Absent members are zero.
type Item struct {
	// Type is one of the constants.
	Type string `json:"type"`
	// CallID correlates calls and their answers.
	CallID string `json:"call_id,omitzero"`
	// RuntimeID names a runtime on its connection.
	RuntimeID string `json:"runtime_id,omitzero"`
	// RuntimeKey names the browser surface: it outlives runtime ids.
	RuntimeKey string `json:"runtime_key,omitzero"`
	// AuthorizationID distinguishes approvals; it is never passed on.
	AuthorizationID string `json:"authorization_id,omitzero"`
	// ExtensionVersion is the version of the runtime's program.
	ExtensionVersion string `json:"extension_version,omitzero"`
	// URL is the page's address.
	URL string `json:"url,omitzero"`
	// Title is the page's title; runtime_ready can have it in tab.title.
	Title string `json:"title,omitzero"`
	// Host is the kind of program that runs the runtime, as in "extension".
	Host string `json:"host,omitzero"`
	// Device names the person's machine.
	Device string `json:"device,omitzero"`
	// Manifest is the runtime's actions.json; nil is absent.
	Manifest ahp.Value `json:"manifest,omitzero"`
	// Capabilities are merged over the manifest's primitive dictionary.
	Capabilities ahp.Value `json:"capabilities,omitzero"`
	// States are the names of the states that the page is in.
	States []string `json:"states,omitzero"`
	// Attachments are the page's affordances.
	Attachments []Attachment `json:"attachments,omitzero"`
	// Actions are names that can be called; nil is absent.
	Actions []string `json:"actions,omitzero"`
	// Name is the action or the event.
	Name string `json:"name,omitzero"`
	// Arguments are those of an action_call: an object.
	Arguments ahp.Value `json:"arguments,omitzero"`
	// Target repeats the routing of an action_call.
	Target *Target `json:"target,omitzero"`
	// TimeoutMs is how long the runtime may take.
	TimeoutMs int `json:"timeout_ms,omitzero"`
	// Output is the value of an action_call_output; nil is absent.
	Output ahp.Value `json:"output,omitzero"`
	// Err is the error of an action_error; nil is absent.
	Err ahp.Value `json:"error,omitzero"`
	// EventID, Event, Payload and PreviousCallID are those of a dom_event. Event is the
	// name of the DOM event.
	EventID        string    `json:"event_id,omitzero"`
	Event          string    `json:"event,omitzero"`            // see EventID
	Payload        ahp.Value `json:"payload,omitzero"`          // see EventID
	PreviousCallID string    `json:"previous_call_id,omitzero"` // see EventID
	// ObservedAt is when the page saw it, in the runtime's words.
	ObservedAt string `json:"observed_at,omitzero"`
	// Phase is the step that an action_progress reports.
	Phase string `json:"last_entered_content_phase,omitzero"`
}

// Target is the routing of an action_call.
type Target struct {
	// RuntimeID is the runtime that is called.
	RuntimeID string `json:"runtime_id,omitzero"`
	// RuntimeKey is the key of the runtime.
	RuntimeKey string `json:"runtime_key,omitzero"`
}

// Encode returns the item as JSON.
func (i Item) Encode() ahp.Value { return ahp.MustMarshal(i) }

// known are the types that a runtime sends.
var known = map[string]bool{
	TypeRuntimeReady: true, TypeRuntimeStatus: true, TypeRuntimeRemoved: true, TypeCall: true,
	TypeOutput: true, TypeError: true, TypeEvent: true, TypeProgress: true,
}

// DecodeItem decodes one item and checks its limits. An item of an unknown type has only
// its Type: it is ignored, whatever else it has. The error is an invalid_input whose
// evidence names the place; item then has the ids that could be read.
func DecodeItem(raw []byte) (item Item, err *Error) {
	if len(raw) > MaxItem {
		return Item{}, malformed("", "the item has %d bytes, at most %d are allowed", len(raw), MaxItem)
	}
	v := ahp.Value(raw)
	if !v.IsValid() {
		return Item{}, malformed("", "the item is not JSON in UTF-8 without repeated members")
	}
	if v.Kind() != '{' {
		return Item{}, malformed("", "an item is a JSON object")
	}
	if depth, _ := ahp.Measure(v); depth > maxDepth {
		return Item{}, malformed("", "the item is nested more than %d levels deep", maxDepth)
	}
	members := map[string]ahp.Value{}
	if err := ahp.Unmarshal(v, &members); err != nil {
		return Item{}, malformed("", "the item cannot be read: %v", err)
	}
	tag, _ := textOf(members["type"])
	if !known[tag] {
		return Item{Type: tag}, nil
	}
	return decodeKnown(v, tag, members)
}

// nested are members that only some runtimes send in another place.
type nested struct {
	Tab *struct {
		Title string `json:"title,omitzero"`
	} `json:"tab,omitzero"`
}

func decodeKnown(v ahp.Value, tag string, members map[string]ahp.Value) (Item, *Error) {
	ids := Item{Type: tag}
	ids.CallID, _ = textOf(members["call_id"])
	ids.RuntimeID, _ = textOf(members["runtime_id"])
	if len(ids.CallID) > maxString || len(ids.RuntimeID) > maxString {
		return Item{Type: tag}, malformed("/runtime_id", "an id has at most %d bytes", maxString)
	}
	var item Item
	if err := ahp.Unmarshal(v, &item); err != nil {
		place, _, _ := strings.Cut(err.Error(), ":")
		if !strings.HasPrefix(place, "/") {
			place = ""
		}
		return ids, malformed(place, "the item cannot be read: %v", err)
	}
	for _, p := range []*ahp.Value{&item.Manifest, &item.Capabilities, &item.Payload, &item.Err, &item.Arguments} {
		if *p != nil && p.Kind() == 'n' { // null is absent; an output can be null
			*p = nil
		}
	}
	if tag == TypeRuntimeReady && item.Title == "" {
		var n nested
		if ahp.Unmarshal(v, &n) == nil && n.Tab != nil {
			item.Title = n.Tab.Title
		}
	}
	if err := item.check(); err != nil {
		return ids, err
	}
	return item, nil
}

// check checks the limits of an item, and cleans what people see.
func (i *Item) check() *Error {
	for _, s := range []struct{ name, value string }{
		{"runtime_key", i.RuntimeKey}, {"authorization_id", i.AuthorizationID}, {"extension_version", i.ExtensionVersion},
		{"device", i.Device}, {"host", i.Host}, {"name", i.Name}, {"event_id", i.EventID}, {"event", i.Event},
		{"previous_call_id", i.PreviousCallID}, {"observed_at", i.ObservedAt}, {"last_entered_content_phase", i.Phase},
	} {
		if len(s.value) > maxString {
			return malformed("/"+s.name, "%s has %d bytes, at most %d are allowed", s.name, len(s.value), maxString)
		}
	}
	switch {
	case len(i.URL) > maxURL:
		return malformed("/url", "url has %d bytes, at most %d are allowed", len(i.URL), maxURL)
	case utf8.RuneCountInString(i.Title) > maxTitle:
		return malformed("/title", "title has more than %d characters", maxTitle)
	case len(i.Manifest) > maxManifest:
		return malformed("/manifest", "the manifest has %d bytes, at most %d are allowed", len(i.Manifest), maxManifest)
	case len(i.Arguments) > maxArguments:
		return malformed("/arguments", "the arguments have %d bytes, at most %d are allowed", len(i.Arguments), maxArguments)
	case i.Type == TypeEvent && len(i.Payload) > maxPayload:
		return malformed("/payload", "the payload has %d bytes, at most %d are allowed", len(i.Payload), maxPayload)
	}
	i.Title, i.Host, i.Device = cleanText(i.Title, maxTitle), cleanText(i.Host, maxString), cleanText(i.Device, maxString)
	i.ExtensionVersion, i.Phase = cleanText(i.ExtensionVersion, maxString), cleanText(i.Phase, maxString)
	return i.checkLists()
}

func (i *Item) checkLists() *Error {
	if len(i.States) > maxList || len(i.Attachments) > maxList {
		return malformed("/states", "a status has at most %d states and as many attachments", maxList)
	}
	if len(i.Actions) > maxTools {
		return malformed("/actions", "a status has at most %d actions", maxTools)
	}
	for n, s := range i.States {
		if len(s) > maxString {
			return malformed("/states", "a state has at most %d bytes", maxString)
		}
		i.States[n] = cleanText(s, maxString)
	}
	for n, a := range i.Attachments {
		if len(a.ID) > maxString || len(a.State) > maxString {
			return malformed("/attachments", "an attachment's id and state have at most %d bytes", maxString)
		}
		i.Attachments[n] = Attachment{cleanText(a.ID, maxString), cleanText(a.State, maxString)}
	}
	for _, a := range i.Actions {
		if len(a) > maxString {
			return malformed("/actions", "an action's name has at most %d bytes", maxString)
		}
	}
	if i.TimeoutMs < 0 || i.TimeoutMs > maxTimeoutMs {
		return malformed("/timeout_ms", "timeout_ms is at most %d", maxTimeoutMs)
	}
	return nil
}

// checkReady checks what a runtime_ready must have.
func (i *Item) checkReady() *Error {
	if i.RuntimeID == "" {
		return malformed("/runtime_id", "runtime_ready needs a runtime_id")
	}
	if i.URL == "" {
		return malformed("/url", "runtime_ready needs a url")
	}
	if _, err := pageURL(i.URL); err != nil {
		return malformed("/url", "the url of a runtime is absolute")
	}
	return nil
}

// pageURL parses the absolute address of a page.
func pageURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || !u.IsAbs() || (u.Host == "" && u.Opaque == "" && u.Path == "") {
		return nil, errors.New("not absolute")
	}
	return u, nil
}
