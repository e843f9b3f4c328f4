package actionsbridge

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

var overlaySignals = ahp.Value(`[{"name":"overlay.launcher_opened","event":"actions-json:overlay-launcher-opened"},{"name":"overlay.closed","event":"actions-json:overlay-closed"},{"name":"overlay.minimized","event":"actions-json:overlay-minimized"},{"name":"overlay.expanded","event":"actions-json:overlay-expanded"}]`)

// overlayPayload is the schema of their payloads.

var overlayPayload = ahp.Value(`{"type":"object","properties":{"overlay_id":{"type":"string"},"launcher_id":{"type":"string"}},"additionalProperties":false}`)

type rawSignal struct {
	Name      ahp.Value `json:"name,omitzero"`
	Event     ahp.Value `json:"event,omitzero"`
	Ingestion ahp.Value `json:"ingestion,omitzero"`
	Payload   ahp.Value `json:"payload,omitzero"`
}

func (r *reader) signals(v ahp.Value) {
	overlay := absent(v)
	if overlay {
		v = overlaySignals
	}
	var signals []rawSignal
	if v.Kind() != '[' || ahp.Unmarshal(v, &signals) != nil {
		return // nothing is declared, so nothing is passed on
	}
	for n, raw := range signals[:min(len(signals), maxTools)] {
		s := Signal{}
		s.Name, _ = textOf(raw.Name)
		s.Event, _ = textOf(raw.Event)
		ingestion, _ := textOf(raw.Ingestion)
		s.Enabled = ingestion == "enabled" || overlay
		if !SafeName(s.Name) {
			r.issue(fmt.Sprintf("/signals/%d/name", n), "name", "the name of a signal is a safe dotted identifier")
			continue
		}
		payload := raw.Payload
		if overlay {
			payload = overlayPayload
		}
		if !absent(payload) {
			schema, err := r.set.Compile(payload, schemaLimits)
			s.schema, s.hidden = schema, err != nil || schema.Unchecked() != nil
		}
		r.m.Signals = append(r.m.Signals, s)
	}
}

// dictionary reads primitive_dictionary; what cannot be read claims nothing.

// primitive reads a row of a dictionary.

// supportOf reads a word of a dictionary; an unknown one claims nothing, and so does

// none.

// Merged returns the manifest with a runtime's own capabilities over the dictionary's. They

// are an array of names or of rows as in a dictionary, or an object whose members are

// true, false, a word of support, or a row. What has another form is ignored.

// capability reads a member of an object of capabilities.

// Capabilities returns the names of the dictionary, with what it says about them.

// Action returns a tool of the manifest.

// debugName reports whether an action runs scripts, by its name.

// CheckOptions say what holds for a call beside the manifest.

// CheckCall checks a call, in this order: the name is known, it is not one that runs

// scripts, its capabilities exist, and the arguments fit its schema.

// CheckCallWith is CheckCall with options.

// toolEvidence is the evidence about an action.

// checkCapabilities finds a capability that the runtime does not have.

// CheckResult checks a value against the result schema of an action, if it has one.

// Signal finds the enabled signal that a dom_event reports, and returns its declared name.

// ok is false if there is none, or if the payload does not fit its schema.

// named reports whether an event has the signal's name, as its name or its DOM event.
