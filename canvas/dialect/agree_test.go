package dialect_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/dialect"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// conversation is a session and its chat in a host, and what a client of a version has of
// them.
type conversation struct {
	t                   *testing.T
	version             string
	tr                  server.Translator
	session             session.State
	chat                chat.State
	hasSession, hasChat ahp.Value
	turns               int
}

func (c *conversation) states() map[string]any {
	return map[string]any{sessionURI: c.session, "ahp-chat:/s": c.chat}
}

// say publishes an action of the session.
func (c *conversation) say(a ahp.Action) {
	next, _, err := session.Reduce(c.session, a)
	if err != nil {
		c.t.Fatal(err)
	}
	c.session = next.(session.State)
	c.receive(sessionURI, a)
}

// write publishes an action of the chat.
func (c *conversation) write(a ahp.Action) {
	next, _, err := chat.Reduce(c.chat, a)
	if err != nil {
		c.t.Fatal(err)
	}
	c.chat = next.(chat.State)
	c.receive("ahp-chat:/s", a)
}

// receive applies what the client gets for an action, as its reducers do.
func (c *conversation) receive(channel string, a ahp.Action) {
	for _, e := range publishAll(c.t, c.tr, 2, channel, a.ActionType(), a) {
		if e.Channel == chatURI {
			c.hasChat = reduceChat(c.t, c.hasChat, e)
		} else {
			c.hasSession = reduceSession(c.t, c.hasSession, e)
		}
	}
}

// reduceSession applies an action as the published reducers of sessions do.
func reduceSession(t *testing.T, state ahp.Value, e ahp.ActionEnvelope) ahp.Value {
	t.Helper()
	var o map[string]ahp.Value
	var chats []map[string]ahp.Value
	if err := ahp.Unmarshal(state, &o); err != nil {
		t.Fatal(err)
	}
	switch tag, _ := ahp.ActionTag(e.Action); tag {
	case "session/titleChanged":
		o["title"] = member(t, e.Action, "title")
	case "session/metaChanged":
		return applied(t, state, "_meta", e)
	case "session/activeClientSet":
		o["activeClients"] = ahp.Value("[" + string(member(t, e.Action, "activeClient")) + "]") // there is one
	case "session/isReadChanged":
		var s session.Status
		if err := ahp.Unmarshal(o["status"], &s); err != nil {
			t.Fatal(err)
		}
		o["status"] = ahp.MustMarshal(s.With(session.StatusIsRead, string(member(t, e.Action, "isRead")) == "true"))
	case "session/chatUpdated":
		var changes map[string]ahp.Value
		if ahp.Unmarshal(o["chats"], &chats) != nil || len(chats) != 1 || string(chats[0]["resource"]) != string(member(t, e.Action, "chat")) || ahp.Unmarshal(member(t, e.Action, "changes"), &changes) != nil {
			t.Fatalf("%s for %s", e.Action, o["chats"])
		}
		maps.Copy(chats[0], changes)
		o["chats"] = ahp.MustMarshal(chats)
	default:
		t.Fatalf("the client has no reducer for %s", e.Action)
	}
	return ahp.MustMarshal(o)
}

// reduceChat applies an action to the members that package chat has as well, and to the
// canvases.
func reduceChat(t *testing.T, state ahp.Value, e ahp.ActionEnvelope) ahp.Value {
	t.Helper()
	if tag, _ := ahp.ActionTag(e.Action); tag == "chat/canvasesChanged" {
		return applied(t, state, "canvases", e)
	}
	var o, known map[string]ahp.Value
	var s chat.State
	if err := ahp.Unmarshal(state, &o); err != nil {
		t.Fatal(err)
	}
	known = map[string]ahp.Value{}
	for _, name := range []string{"modifiedAt", "turns", "activeTurn", "draft", "status"} {
		if v, ok := o[name]; ok {
			known[name] = v
			delete(o, name)
		}
	}
	a, err := chat.Actions.Decode(e.Action)
	if err != nil || ahp.Unmarshal(ahp.MustMarshal(known), &s) != nil {
		t.Fatalf("%v: %s", err, e.Action)
	}
	next, _, _ := chat.Reduce(s, a.Action)
	var reduced map[string]ahp.Value
	if err := ahp.Unmarshal(ahp.MustMarshal(next), &reduced); err != nil {
		t.Fatal(err)
	}
	maps.Copy(o, reduced)
	return ahp.MustMarshal(o)
}

// change makes a random change of the session or its chat.
func (c *conversation) change(r *rand.Rand) {
	switch r.IntN(7) {
	case 0:
		c.say(session.TitleChanged{Title: fmt.Sprint("title ", r.IntN(3))})
	case 1:
		c.say(session.IsReadChanged{IsRead: r.IntN(2) == 0})
	case 2:
		c.say(session.ActiveClientSet{ActiveClient: session.SessionActiveClient{ClientID: "c", Tools: []session.ToolDefinition{}}})
	case 3:
		c.say(session.MetaChanged{Meta: []ahp.Value{nil, ahp.Value(`{"a":1}`)}[r.IntN(2)]})
	case 4:
		c.write(chat.DraftChanged{Draft: []ahp.Value{nil, ahp.Value(`{"text":"x"}`)}[r.IntN(2)]})
	case 5:
		if c.version != "0.9.0" { // whose clients do not know it
			c.write(chat.IsReadChanged{IsRead: r.IntN(2) == 0})
			c.write(chat.IsArchivedChanged{IsArchived: r.IntN(2) == 0})
		}
	case 6:
		c.turn()
	}
}

// turn adds a turn with a card.
func (c *conversation) turn() {
	c.turns++
	id, meta := fmt.Sprint("t", c.turns), chat.CardMeta{}
	c.write(chat.TurnStarted{TurnID: id, StartedAt: fmt.Sprintf("2026-11-22T19:41:%02d.000Z", c.turns), Message: chat.Message{Text: "look"}})
	c.write(chat.ResponsePart{TurnID: id, Part: chat.Part{Kind: "markdown", ID: "answer", Content: "Here.", Canvases: []chat.Shown{{Channel: canvasURI, InstanceID: "c", Title: "Board"}}}})
	c.write(chat.ToolCallStart{TurnID: id, ToolCallID: "c", ToolName: "show", DisplayName: "Show", Meta: meta})
	c.write(chat.ToolCallReady{TurnID: id, ToolCallID: "c", InvocationMessage: "showing", ToolInput: "{}", Confirmed: "not-needed", Meta: meta})
	c.write(chat.ToolCallComplete{TurnID: id, ToolCallID: "c", Result: chat.ToolCallResult{Success: true, PastTenseMessage: "shown", Content: []chat.ToolCallContent{}}, Meta: meta})
	c.write(chat.TurnComplete{TurnID: id, Duration: 1})
}

// TestSessionsAndChatsAgree: after random changes, a client that applied every entry of a
// session and its chat has what a client that subscribes then gets. The title of the chat is
// in the session's entries only: protocols have no action that changes it in the chat.
func TestSessionsAndChatsAgree(t *testing.T) {
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 2))
		version, name := laterVersions[seed%3], []string{"vscode-x", "other"}[seed/3%2]
		c := &conversation{
			t: t, version: version, tr: connectAs(t, version, name),
			session: session.State{Provider: "canvas", Lifecycle: session.LifecycleReady, Status: session.StatusIdle, ActiveClients: []session.SessionActiveClient{}},
			chat:    chat.State{Turns: []chat.Turn{}, Status: session.StatusIdle},
		}
		c.hasSession, c.hasChat = subscribe(t, c.tr, sessionURI, c.states()), subscribe(t, c.tr, chatURI, c.states())
		for range 15 {
			c.change(r)
		}
		other := connectAs(t, version, name)
		if want := subscribe(t, other, sessionURI, c.states()); !same(t, c.hasSession, want, "") {
			t.Fatalf("seed %d, %s: the client has the session\n%s\na new one gets\n%s", seed, version, c.hasSession, want)
		}
		if want := subscribe(t, other, chatURI, c.states()); !same(t, c.hasChat, want, "title") {
			t.Fatalf("seed %d, %s: the client has the chat\n%s\na new one gets\n%s", seed, version, c.hasChat, want)
		}
	}
}

// same compares two states but for a member.
func same(t *testing.T, a, b ahp.Value, but string) bool {
	t.Helper()
	var of [2]map[string]any
	for i, v := range []ahp.Value{a, b} {
		if err := json.Unmarshal(v, &of[i]); err != nil {
			t.Fatal(err)
		}
		delete(of[i], but)
	}
	return reflect.DeepEqual(of[0], of[1])
}

// connectAs returns a translator for a client with a name.
func connectAs(t *testing.T, version, name string) server.Translator {
	t.Helper()
	d, err := dialect.New(dialect.Options{}).Negotiate(ahp.MustMarshal(map[string]any{
		"protocolVersions": []string{version}, "clientInfo": map[string]string{"name": name}, "_meta": map[string]bool{"vscode.ahpSessionUris": true},
	}))
	if err != nil || d == nil {
		t.Fatalf("%v, %v", d, err)
	}
	return d.Translator(ws.Grant{})
}

// TestMarksOfOldClients: a client of 0.9 learns from its session that a chat was read, and
// gets the chat's own action only if it sends such actions itself.
func TestMarksOfOldClients(t *testing.T) {
	tr := connectAs(t, "0.9.0", "other")
	states := map[string]any{sessionURI: session.State{}, "ahp-chat:/s": chat.State{Turns: []chat.Turn{}, Status: session.StatusIdle}}
	subscribe(t, tr, sessionURI, states)
	subscribe(t, tr, chatURI, states)
	got := func(isRead bool) (tags []string) {
		for _, e := range publishAll(t, tr, 2, "ahp-chat:/s", "chat/isReadChanged", chat.IsReadChanged{IsRead: isRead}) {
			tag, _ := ahp.ActionTag(e.Action)
			tags = append(tags, tag)
		}
		return tags
	}
	if tags := got(true); len(tags) != 1 || tags[0] != "session/chatUpdated" {
		t.Errorf("the client gets %q", tags)
	}
	action := ahp.Value(`{"channel":"` + chatURI + `","clientSeq":1,"action":{"type":"chat/isReadChanged","isRead":false}}`)
	if _, err := tr.Receive(server.Message{Method: "dispatchAction", Params: action}); err != nil {
		t.Fatal(err)
	}
	if tags := got(false); len(tags) != 2 || tags[0] != "chat/isReadChanged" || tags[1] != "session/chatUpdated" {
		t.Errorf("a client that sends marks gets %q", tags)
	}
}
