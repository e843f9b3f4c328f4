package dialect

import (
	"runtime"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// handlers translate the messages of a client that differ from the host's own.
var handlers = map[string]func(t *translator, m *server.Message, params object) error{
	ahp.Initialize.Name:         (*translator).initialize,
	ahp.Reconnect.Name:          (*translator).reconnect,
	ahp.Subscribe.Name:          (*translator).subscribe,
	ahp.Unsubscribe.Name:        (*translator).unsubscribe,
	ahp.DispatchAction.Name:     (*translator).dispatch,
	session.CreateSession.Name:  (*translator).createSession,
	session.DisposeSession.Name: (*translator).foldChannel,
	session.ListSessions.Name:   (*translator).listSessions,
	"fetchTurns":                answer("{}"), // the state has all turns
	"authenticate":              answer("{}"), // nothing needs it
	"resources/read":            (*translator).readCard,
	"tools/call":                noTool,
	"notifications/message":     answer("{}"), // the log of a card
	"getNetworkDiagnosticsInfo": (*translator).diagnose,
}

func answer(result string) func(*translator, *server.Message, object) error {
	return func(_ *translator, m *server.Message, _ object) error {
		m.Answer = ahp.Value(result)
		return nil
	}
}

// diagnose answers what the host runs on.
func (t *translator) diagnose(m *server.Message, _ object) error {
	m.Answer = ahp.MustMarshal(map[string]string{"version": t.opts.Version, "os": runtime.GOOS, "arch": runtime.GOARCH})
	return nil
}

// Receive implements [server.Translator].
func (t *translator) Receive(m server.Message) (server.Message, error) {
	if strings.HasPrefix(m.Method, "canvas") {
		return m, ahp.Errorf(ahp.CodeMethodNotFound, "no such method in version %s: %.64s", t.exact, m.Method)
	}
	handle := handlers[m.Method]
	if handle == nil {
		return m, nil
	}
	params := object{}
	if m.Params != nil && ahp.Unmarshal(m.Params, &params) != nil {
		return m, nil // the method reports it
	}
	err := handle(t, &m, params)
	if err == nil && m.Answer == nil {
		m.Params = ahp.MustMarshal(params)
	}
	return m, err
}

// text returns a member that is a string, or "".
func (o object) text(name string) string {
	var s string
	if v, ok := o[name]; !ok || ahp.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// texts returns a member that is a list of strings.
func (o object) texts(name string) []string {
	var list []string
	if v, ok := o[name]; !ok || ahp.Unmarshal(v, &list) != nil {
		return nil
	}
	return list
}

// initialize makes the params those of a 0.6 client.
func (t *translator) initialize(m *server.Message, p object) error {
	asked := p.texts("initialSubscriptions")
	p.set("protocolVersions", []string{ahp.V0_6_0.String()})
	p.set("initialSubscriptions", t.expand(asked))
	delete(p, "capabilities")
	t.expect(m.ID, func(r *response, o object) error {
		o.set("protocolVersion", t.exact)
		return t.answerSnapshots(r, o, asked)
	})
	return nil
}

// neverSeen is a sequence number that no client has seen: the host answers with snapshots.
const neverSeen = 1<<53 - 1

// reconnect asks for snapshots of everything.
func (t *translator) reconnect(m *server.Message, p object) error {
	asked := p.texts("subscriptions")
	p.set("channel", ahp.RootURI)
	p.set("lastSeenServerSeq", neverSeen)
	p.set("subscriptions", t.expand(asked))
	t.expect(m.ID, func(r *response, o object) error {
		return t.answerSnapshots(r, o, asked)
	})
	return nil
}

// expand returns the host's channels behind those that a client asks for. What names
// nothing is left out.
func (t *translator) expand(asked []string) []string {
	channels := []string{}
	for _, uri := range asked {
		channels = append(channels, t.channels(uri)...)
	}
	return channels
}

// channels returns the host's channels behind a client's: a session and its chat are
// projected from both.
func (t *translator) channels(uri string) []string {
	folded, ok := fold(uri)
	if !ok {
		return nil
	}
	return t.hostChannels(folded)
}

func (t *translator) hostChannels(folded string) []string {
	switch scheme := ahp.SchemeOf(folded); {
	case scheme == ahp.SchemeCanvas && !t.canvases:
		return nil
	case scheme == ahp.SchemeSession:
		return []string{folded, chat.URI(folded)}
	case scheme == chat.Scheme:
		return []string{chat.SessionOf(folded), folded}
	}
	return []string{folded}
}

func (t *translator) subscribe(m *server.Message, p object) error {
	asked := p.text("channel")
	m.Subscribe = t.channels(asked)
	if m.Subscribe == nil {
		return ahp.ErrNotFound
	}
	t.expect(m.ID, func(r *response, o object) error {
		return t.answerSnapshot(r, o, asked)
	})
	return nil
}

// unsubscribe ends a subscription. A session and its chat need each other's channels, so
// those stay until neither is wanted.
func (t *translator) unsubscribe(m *server.Message, p object) error {
	uri, ok := fold(p.text("channel"))
	if !ok {
		m.Answer = ahp.Null
		return nil
	}
	all := t.hostChannels(uri)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.wanted, uri)
	if slices.ContainsFunc(all, func(c string) bool { return t.wanted[c] }) {
		m.Answer = ahp.Null
		return nil
	}
	m.Unsubscribe = all
	t.ended = append(t.ended, all...)
	return nil
}

// foldChannel spells the channel as the host does.
func (t *translator) foldChannel(_ *server.Message, p object) error {
	uri, ok := fold(p.text("channel"))
	if !ok {
		return ahp.ErrNotFound
	}
	p.set("channel", uri)
	return nil
}

// createSession leaves out what this host has no use for.
func (t *translator) createSession(m *server.Message, p object) error {
	if err := t.foldChannel(m, p); err != nil {
		return err
	}
	if dirs := p.texts("workingDirectories"); len(dirs) > 0 {
		p.set("workingDirectory", dirs[0])
	}
	for _, name := range []string{"workingDirectories", "config", "repositories"} {
		delete(p, name)
	}
	var client object
	if raw, ok := p["activeClient"]; ok && ahp.Unmarshal(raw, &client) == nil && client != nil {
		p.set("activeClient", withoutProviders(client))
	}
	return nil
}

func (t *translator) listSessions(m *server.Message, _ object) error {
	t.expect(m.ID, func(r *response, o object) error {
		var items []object
		if err := ahp.Unmarshal(o["items"], &items); err != nil {
			return err
		}
		for _, s := range items {
			t.summary(s)
		}
		o.set("items", items)
		return r.set(o)
	})
	return nil
}

// dispatch translates an action. One that no client of a dialect may dispatch is sent as
// an action that the host refuses, so that its sender gets the refusal in its place.
func (t *translator) dispatch(_ *server.Message, p object) error {
	uri, ok := fold(p.text("channel"))
	if !ok {
		return ahp.ErrNotFound
	}
	p.set("channel", uri)
	var a object
	if ahp.Unmarshal(p["action"], &a) != nil || a == nil {
		return nil
	}
	switch tag := a.text("type"); {
	case strings.HasPrefix(tag, "canvas/"):
		var seq int64
		if ahp.Unmarshal(p["clientSeq"], &seq) != nil {
			return nil
		}
		t.replace(seq, p["action"])
		p["action"] = refused
	case isMark(tag):
		t.mu.Lock()
		t.marked = true
		t.mu.Unlock()
	case tag == (session.ActiveClientSet{}).ActionType():
		var client object
		if ahp.Unmarshal(a["activeClient"], &client) == nil && client != nil {
			a.set("activeClient", withoutProviders(client))
			p.set("action", a)
		}
	}
	return nil
}

// refused is an action that the host refuses.
var refused = ahp.Value(`{"type":"x-ahp-canvas/refused"}`)

// maxReplaced limits the refusals that a connection waits for.
const maxReplaced = 256

// replace remembers an action that is refused, by its clientSeq.
func (t *translator) replace(seq int64, action ahp.Value) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.replaced) < maxReplaced {
		t.replaced[seq] = action
	}
}
