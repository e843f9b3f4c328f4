package engine

import (
	"bytes"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// The records of an open canvas are named after its channel, which is never used again
// (canvas/PROTOCOL.md sections 3 and 5). What was opened with which input is committed
// before it is visible, and so are the end of the canvas and the provider's data. What
// the canvas shows is committed soon after. A record that is written after the end is an
// orphan, which the next start removes.
const (
	instanceKey = "canvas/"         // + channel: an instanceRecord
	shownKey    = "canvas-shown/"   // + channel: a shownRecord, from the first change on
	savedKey    = "canvas-saved/"   // + channel: the provider's data
	privateKey  = "canvas-private/" // + channel: it exists while the canvas is private
	closingKey  = "canvas-closing/" // + channel: it exists while a person can undo its close
)

// forget returns the changes that delete every record of an instance.
func forget(channel string) []channels.Change {
	return []channels.Change{
		{Key: instanceKey + channel, Delete: true}, {Key: shownKey + channel, Delete: true}, {Key: savedKey + channel, Delete: true},
		{Key: privateKey + channel, Delete: true}, {Key: closingKey + channel, Delete: true},
	}
}

// collectShown returns the current records of marked keys: what instances show, and the
// deletion of instances whose open could not be rolled back.
func (e *Engine) collectShown(keys []string) (changes []channels.Change) {
	e.log.View(func(tx *channels.ReadTx) {
		for _, key := range keys {
			if channel, failed := strings.CutPrefix(key, instanceKey); failed {
				changes = append(changes, forget(channel)...)
				continue
			}
			i := e.instances.byChannel[strings.TrimPrefix(key, shownKey)]
			if i == nil {
				continue
			}
			if st, ok := i.state(tx); ok {
				changes = append(changes, channels.Change{Key: key, Value: ahp.MustMarshal(shownRecord{st.Title, st.Status})})
			}
		}
	})
	return changes
}

// metaOf returns the _meta of a state whose provider answers http/1 or ws/1, whose pages may
// offer links, or that may load from other origins (canvas/PROTOCOL.md sections 4.5, 4.7
// and 4.10).
func metaOf(http, sockets, links bool, net string) ahp.Value {
	var members []string
	if http {
		members = append(members, `"x-ahp-canvas/http":1`)
	}
	if sockets {
		members = append(members, `"x-ahp-canvas/ws":1`)
	}
	if links {
		members = append(members, `"x-ahp-canvas/links":1`)
	}
	if net != "" {
		members = append(members, `"x-ahp-canvas/net":"`+net+`"`)
	}
	if members == nil {
		return nil
	}
	return ahp.Value("{" + strings.Join(members, ",") + "}")
}

// net returns the label of the origins that a canvas may load from, "" if there are none.
// The canvases of clients have none: their names are the clients' choice.
func (e *Engine) net(clientID, extensionID, canvasID string) string {
	if l := e.allowedFor(clientID, extensionID, canvasID); len(l.Origins) > 0 {
		return l.Label()
	}
	return ""
}

func (e *Engine) allowedFor(clientID, extensionID, canvasID string) allow.List {
	if clientID != "" {
		return allow.List{}
	}
	return e.allowed.For(extensionID, canvasID)
}

// Allowed returns the origins that an open canvas may load from besides its own.
func (e *Engine) Allowed(st canvas.CanvasState) allow.List {
	return e.allowedFor(st.Provider.ClientID, st.ExtensionID, st.CanvasID)
}

// instanceRecord is the record of an open canvas.
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
	Sockets       bool                         `json:"sockets,omitzero"`
	Links         bool                         `json:"links,omitzero"`
	Opened        time.Time                    `json:"opened"` // orders the catalog
	// Shown is what the instance showed when the record was written. A record under
	// shownKey is newer.
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
		HTTP: bytes.Contains(st.Meta, []byte(`"x-ahp-canvas/http"`)), Sockets: bytes.Contains(st.Meta, []byte(`"x-ahp-canvas/ws"`)), Links: bytes.Contains(st.Meta, []byte(`"x-ahp-canvas/links"`)), Opened: opened, Shown: shownRecord{st.Title, st.Status},
	}
}

// encode returns what ahp.Marshal would, at a fifth of the cost: every open writes a
// record.
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
	if r.Sockets {
		b = append(b, `,"sockets":true`...)
	}
	if r.Links {
		b = append(b, `,"links":true`...)
	}
	b = append(b, `,"opened":"`...)
	b = append(r.Opened.AppendFormat(b, time.RFC3339Nano), '"')
	if r.Shown != (shownRecord{}) {
		b = r.Shown.appendTo(append(b, `,"shown":`...))
	}
	return append(b, '}')
}

// appendTo appends a record that is not empty.
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
