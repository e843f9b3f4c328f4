package actionsbridge

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// overlaySignals are those of a manifest that has no member signals: those of the overlay
// that the reference runtimes bring.
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
