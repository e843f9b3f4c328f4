package dialect

import (
	"bytes"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// metaArtifacts is the member of a session's _meta in which VS Code looks for links that it
// shows with the session.
const metaArtifacts = "agentHost/sessionArtifacts"

// artifact is such a link.
type artifact struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Label      string `json:"label"`
	IsArtifact bool   `json:"isArtifact"`
	Link       string `json:"link"`
}

// showsArtifacts reports whether open canvases are artifacts of their session: for editors
// whose version has no canvases.
func (d *dialect) showsArtifacts() bool { return d.cards && !d.canvases }

// meta returns the _meta of a session, with a link for each open canvas that the client can
// reach. Nil is none.
func (t *translator) meta(s session.State) ahp.Value {
	if !t.showsArtifacts() {
		return s.Meta
	}
	var list []artifact
	for _, c := range s.OpenCanvases {
		label := c.InstanceID
		if c.Title != nil && *c.Title != "" {
			label = *c.Title
		}
		if link := t.address(c.Channel); link != "" {
			list = append(list, artifact{c.Channel, "website", label, true, link})
		}
	}
	members := object{}
	if s.Meta != nil && ahp.Unmarshal(s.Meta, &members) != nil || list == nil {
		return s.Meta
	}
	members.set(metaArtifacts, list)
	return ahp.MustMarshal(members)
}

// metaChanged makes an entry the change of its session's _meta, if that is another one than
// the client has.
func (t *translator) metaChanged(e *ahp.ActionEnvelope, m *mirror) bool {
	meta := t.meta(m.session)
	if bytes.Equal(meta, m.meta) || !t.wants(e.Channel) {
		return false
	}
	m.meta, e.Origin = meta, nil
	action := object{"type": ahp.MustMarshal(metaChanged)}
	if meta != nil {
		action["_meta"] = meta
	}
	e.Action = ahp.MustMarshal(action)
	return true
}

var metaChanged = session.MetaChanged{}.ActionType()
