package engine

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// instanceRecord is what an instance was opened as.
type instanceRecord struct {
	Session       string                       `json:"session"`
	InstanceID    string                       `json:"instanceId"`
	ExtensionID   string                       `json:"extensionId"`
	ExtensionName string                       `json:"extensionName,omitzero"`
	CanvasID      string                       `json:"canvasId"`
	DisplayName   string                       `json:"displayName,omitzero"`
	Provider      session.CanvasProviderSource `json:"provider"`
	Input         ahp.Value                    `json:"input,omitzero"`
	HTTP          bool                         `json:"http,omitzero"`
	Opened        time.Time                    `json:"opened"` // the order of the catalogue
	// Shown is what it showed when this was written; a record of its own, where
	// there is one, is newer.
	Shown shownRecord `json:"shown,omitzero"`
}

type shownRecord struct {
	Title  *string `json:"title,omitzero"`
	Status *string `json:"status,omitzero"`
}

func recordOf(st canvas.CanvasState, uri string, opened time.Time) instanceRecord {
	return instanceRecord{
		Session: uri, InstanceID: st.InstanceID, ExtensionID: st.ExtensionID, ExtensionName: st.ExtensionName,
		CanvasID: st.CanvasID, DisplayName: st.DisplayName, Provider: st.Provider, Input: st.Input,
		HTTP: len(st.Meta) > 0, Opened: opened, Shown: shownRecord{st.Title, st.Status},
	}
}

// encode returns what the encoder would: it is written for every open, and by hand
// it costs a fifth.
func (r *instanceRecord) encode() []byte {
	b := make([]byte, 0, 384+len(r.Input))
	b = ahp.AppendString(append(b, `{"session":`...), r.Session)
	b = ahp.AppendString(append(b, `,"instanceId":`...), r.InstanceID)
	b = ahp.AppendString(append(b, `,"extensionId":`...), r.ExtensionID)
	if r.ExtensionName != "" {
		b = ahp.AppendString(append(b, `,"extensionName":`...), r.ExtensionName)
	}
	b = ahp.AppendString(append(b, `,"canvasId":`...), r.CanvasID)
	if r.DisplayName != "" {
		b = ahp.AppendString(append(b, `,"displayName":`...), r.DisplayName)
	}
	b = ahp.AppendString(append(b, `,"provider":{"kind":`...), r.Provider.Kind)
	if r.Provider.ClientID != "" {
		b = ahp.AppendString(append(b, `,"clientId":`...), r.Provider.ClientID)
	}
	b = append(b, '}')
	if r.Input != nil {
		b = append(append(b, `,"input":`...), ahp.MustMarshal(r.Input)...)
	}
	if r.HTTP {
		b = append(b, `,"http":true`...)
	}
	b = append(b, `,"opened":"`...)
	b = append(r.Opened.AppendFormat(b, time.RFC3339Nano), '"')
	if r.Shown != (shownRecord{}) {
		b = r.Shown.appendTo(append(b, `,"shown":`...))
	}
	return append(b, '}')
}

// appendTo is for one that is not empty.
func (r *shownRecord) appendTo(b []byte) []byte {
	next := byte('{')
	if r.Title != nil {
		b = ahp.AppendString(append(append(b, next), `"title":`...), *r.Title)
		next = ','
	}
	if r.Status != nil {
		b = ahp.AppendString(append(append(b, next), `"status":`...), *r.Status)
	}
	return append(b, '}')
}
