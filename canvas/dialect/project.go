package dialect

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// object is a JSON object that is edited member by member, so that unknown members pass.
type object map[string]ahp.Value

func objectOf(v any) object {
	var o object
	if ahp.Unmarshal(ahp.MustMarshal(v), &o) != nil {
		return object{}
	}
	return o
}

func (o object) set(name string, v any) { o[name] = ahp.MustMarshal(v) }

// useDirectories replaces workingDirectory by the list that later versions have.
func (o object) useDirectories() {
	dir, ok := o["workingDirectory"]
	delete(o, "workingDirectory")
	if ok && dir.Kind() == '"' {
		o.set("workingDirectories", []ahp.Value{dir})
	}
}

// originUser is the origin of a chat.
var originUser = ahp.Value(`{"kind":"user"}`)

// chatSummary is a chat in the state of its session.
type chatSummary struct {
	Resource   string         `json:"resource"`
	Title      string         `json:"title"`
	Status     session.Status `json:"status"`
	ModifiedAt string         `json:"modifiedAt"`
	Origin     ahp.Value      `json:"origin"`
}

// summaryOf returns the entry of a session's chat in the session's state.
func (d *dialect) summaryOf(uri string, s session.State, c chat.State) chatSummary {
	return chatSummary{d.chatOf(uri), s.Title, c.Status, c.ModifiedAt, originUser}
}

// session returns the state of a session, with the entry of its chat and another _meta.
func (d *dialect) session(uri string, s session.State, summary chatSummary, meta ahp.Value) object {
	s.Meta = meta
	o := objectOf(s)
	for _, name := range []string{"canvases", "openCanvases"} {
		delete(o, name)
	}
	o.useDirectories()
	if s.Lifecycle == session.LifecycleCreationFailed {
		o.set("lifecycle", "failed")
	}
	clients := make([]object, 0, len(s.ActiveClients))
	for _, client := range s.ActiveClients {
		clients = append(clients, withoutProviders(objectOf(client)))
	}
	o.set("activeClients", clients)
	o.set("chats", []chatSummary{summary})
	o.set("defaultChat", d.chatOf(uri))
	return o
}

// withoutProviders returns an active client without what a dialect cannot declare.
func withoutProviders(client object) object {
	delete(client, "canvasProviders")
	return client
}

// chat returns the state of a session's chat.
func (t *translator) chat(uri string, s session.State, c chat.State) object {
	c.Turns = t.turns(c.Turns)
	if c.ActiveTurn != nil {
		c.ActiveTurn = new(t.turn(*c.ActiveTurn))
	}
	o := objectOf(c)
	o.set("resource", t.chatOf(uri))
	o.set("title", s.Title)
	o["origin"] = originUser
	if refs := t.refs(s); refs != nil {
		o.set("canvases", refs)
	}
	return o
}

// canvasRef refers to an open canvas.
type canvasRef struct {
	Resource string `json:"resource"`
}

// refs returns the open canvases of a session, or nil if there are none or the dialect has
// no canvases.
func (d *dialect) refs(s session.State) []canvasRef {
	if !d.canvases {
		return nil
	}
	var refs []canvasRef
	for _, c := range s.OpenCanvases {
		refs = append(refs, canvasRef{c.Channel})
	}
	return refs
}

// canvasState is the state of an open canvas.
type canvasState struct {
	InstanceID    string  `json:"instanceId"`
	ExtensionID   string  `json:"extensionId"`
	ExtensionName string  `json:"extensionName,omitzero"`
	CanvasID      string  `json:"canvasId"`
	Title         *string `json:"title,omitzero"`
	Status        *string `json:"status,omitzero"`
	URL           string  `json:"url,omitzero"`
}

// canvas returns the state of an open canvas. A canvas whose provider is gone has no URL.
func (t *translator) canvas(channel string, s canvas.CanvasState) ahp.Value {
	return ahp.MustMarshal(canvasState{s.InstanceID, s.ExtensionID, s.ExtensionName, s.CanvasID, s.Title, s.Status, t.addressOf(channel, s)})
}

// summary returns the summary of a session.
func (d *dialect) summary(s object) object {
	var uri string
	if ahp.Unmarshal(s["resource"], &uri) != nil {
		return s
	}
	s.set("resource", d.spell(uri))
	s.useDirectories()
	if d.chats {
		one := object{"resource": ahp.MustMarshal(d.chatOf(uri)), "origin": originUser}
		for _, name := range []string{"title", "status", "modifiedAt"} {
			if v, ok := s[name]; ok {
				one[name] = v
			}
		}
		s.set("chats", []object{one})
		s.set("defaultChat", d.chatOf(uri))
	}
	return s
}

// chatsOf adds the chat to the changed members of a session's summary, if the dialect's
// summaries have it.
func (d *dialect) chatsOf(uri string, changes object) {
	if !d.chats || d.opts.State == nil {
		return
	}
	state, _ := d.opts.State(uri)
	s, ok := state.(session.State)
	if !ok { // the session has ended
		return
	}
	one := object{"resource": ahp.MustMarshal(d.chatOf(uri)), "title": ahp.MustMarshal(s.Title), "status": ahp.MustMarshal(s.Status), "origin": originUser}
	if v, ok := changes["modifiedAt"]; ok {
		one["modifiedAt"] = v
	}
	changes.set("chats", []object{one})
}

// model is the model that each agent has: clients do not offer an agent without one.
var model = ahp.Value(`[{"id":"canvas","provider":"canvas","name":"Canvas"}]`)

// root returns the state of the root channel, or an action with its agents.
func root(o object) object {
	var agents []object
	if raw, ok := o["agents"]; !ok || ahp.Unmarshal(raw, &agents) != nil {
		return o
	}
	for _, a := range agents {
		a["models"], a["protectedResources"] = model, ahp.Value("[]")
	}
	o.set("agents", agents)
	return o
}
