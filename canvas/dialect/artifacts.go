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

// meta returns the _meta of a session. For clients that show cards it has a link for each
// open canvas that they can reach. Nil is none.
func (t *translator) meta(s session.State) ahp.Value {
	if !t.cards {
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

// artifactsChanged returns the change of a session's _meta, if the client shows artifacts
// and has another one.
func (t *translator) artifactsChanged(e ahp.ActionEnvelope, m *mirror) []ahp.ActionEnvelope {
	if !t.cards || !t.wants(e.Channel) {
		return nil
	}
	meta := t.meta(m.session)
	if bytes.Equal(meta, m.meta) {
		return nil
	}
	m.meta, e.Origin = meta, nil
	action := object{"type": ahp.MustMarshal(metaChanged)}
	if meta != nil {
		action["_meta"] = meta
	}
	e.Action = ahp.MustMarshal(action)
	return []ahp.ActionEnvelope{e}
}

var metaChanged = session.MetaChanged{}.ActionType()
