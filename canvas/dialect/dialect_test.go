package dialect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/dialect"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// connect returns a translator for a client that offers a version.
func connect(t testing.TB, version string) server.Translator {
	t.Helper()
	d, err := dialect.New(dialect.Options{Address: func(channel string, s canvas.CanvasState, _ ws.Grant) string {
		return "http://g.localhost/" + *s.URL
	}}).Negotiate(ahp.Value(`{"protocolVersions":["` + version + `"]}`))
	if err != nil || d == nil {
		t.Fatalf("version %s: %v, %v", version, d, err)
	}
	return d.Translator(ws.Grant{})
}

// subscribe subscribes the client to a channel whose states are given, and returns the
// state that it receives.
func subscribe(t testing.TB, tr server.Translator, channel string, states map[string]any) ahp.Value {
	t.Helper()
	m, err := tr.Receive(server.Message{ID: []byte("1"), Method: "subscribe", Params: ahp.MustMarshal(map[string]string{"channel": channel})})
	if err != nil {
		t.Fatal(err)
	}
	var snaps []ahp.Snapshot
	for _, uri := range m.Subscribe {
		snaps = append(snaps, ahp.Snapshot{Resource: uri, State: ahp.MustMarshal(states[uri])})
	}
	answer := send(t, tr, ahp.MustMarshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": map[string]any{"snapshots": snaps}}))
	var r struct {
		Result ahp.SubscribeResult `json:"result"`
		Rest   ahp.Value           `json:",embed"`
	}
	if err := ahp.Unmarshal(answer, &r); err != nil || r.Result.Snapshot == nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return r.Result.Snapshot.State
}

// send sends the client a message that has one form in its dialect, and returns that.
func send(t testing.TB, tr server.Translator, text ahp.Value) []byte {
	t.Helper()
	sent := tr.Send(text)
	if len(sent) != 1 {
		t.Fatalf("%s is sent as %q", text, sent)
	}
	return sent[0]
}

// publishAll sends the client an action with a number, and returns what it receives.
func publishAll(t testing.TB, tr server.Translator, seq int, channel, tag string, a any) (got []ahp.ActionEnvelope) {
	t.Helper()
	var members map[string]ahp.Value
	if err := ahp.Unmarshal(ahp.MustMarshal(a), &members); err != nil {
		t.Fatal(err)
	}
	members["type"] = ahp.MustMarshal(tag)
	for _, text := range tr.Send(ahp.MustMarshal(map[string]any{"jsonrpc": "2.0", "method": "action", "params": map[string]any{"channel": channel, "serverSeq": seq, "action": members}})) {
		var n struct {
			Params ahp.ActionEnvelope `json:"params"`
			Rest   ahp.Value          `json:",embed"`
		}
		if err := ahp.Unmarshal(text, &n); err != nil {
			t.Fatal(err)
		}
		got = append(got, n.Params)
	}
	return got
}

// publish is publishAll for an action with one form at most.
func publish(t testing.TB, tr server.Translator, channel string, tag string, a any) (got ahp.ActionEnvelope, ok bool) {
	t.Helper()
	all := publishAll(t, tr, 2, channel, tag, a)
	if len(all) > 1 {
		t.Fatalf("%s has the forms %+v", tag, all)
	}
	for _, e := range all {
		return e, true
	}
	return got, false
}

const (
	sessionURI = "ahp-session:/s"
	chatURI    = "ahp-chat://default/YWhwLXNlc3Npb246L3M"
	canvasURI  = "ahp-canvas:/c"
)

// TestActionsLeadToSnapshots: after random changes, a client that applied every action has
// what a client that subscribes then gets.
func TestActionsLeadToSnapshots(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		version := []string{"0.10.0", "1.0.0"}[seed%2]
		tr := connect(t, version)
		host := canvas.CanvasState{InstanceID: "c", CanvasID: "k", ExtensionID: "e", Availability: session.Ready}
		open := session.State{Provider: "canvas", Lifecycle: session.LifecycleReady}
		states := map[string]any{canvasURI: host, sessionURI: open, "ahp-chat:/s": map[string]any{"modifiedAt": "", "turns": []int{}, "status": 0}}
		has, chat := subscribe(t, tr, canvasURI, states), subscribe(t, tr, chatURI, states)
		for range 20 {
			if r.IntN(3) == 0 {
				var refs []session.OpenCanvasRef
				for i := range r.IntN(3) {
					refs = append(refs, session.OpenCanvasRef{Channel: fmt.Sprint("ahp-canvas:/", i), Availability: session.Ready})
				}
				open.OpenCanvases = refs
				if e, ok := publish(t, tr, sessionURI, "session/openCanvasesChanged", session.OpenCanvasesChanged{OpenCanvases: append([]session.OpenCanvasRef{}, refs...)}); ok {
					chat = applied(t, chat, "canvases", e)
				}
				continue
			}
			u := update(r)
			host = host.Apply(u)
			if e, ok := publish(t, tr, canvasURI, "canvas/updated", u); ok {
				has = member(t, e.Action, "canvas")
			}
		}
		states[canvasURI], states[sessionURI] = host, open
		other := connect(t, version)
		if want := subscribe(t, other, canvasURI, states); string(has) != string(want) {
			t.Fatalf("seed %d: the canvas is %s, a new client gets %s", seed, has, want)
		}
		want := subscribe(t, other, chatURI, states)
		if have, want := member(t, chat, "canvases"), member(t, want, "canvases"); string(have) != string(want) {
			t.Fatalf("seed %d: the chat has %s, a new client gets %s", seed, have, want)
		}
	}
}

func update(r *rand.Rand) (u canvas.Updated) {
	text := func() ahp.Field[string] {
		if r.IntN(4) == 0 {
			return ahp.Clear[string]()
		}
		return ahp.Set(fmt.Sprint(r.IntN(3)))
	}
	switch r.IntN(5) {
	case 0:
		u.Title = text()
	case 1:
		u.Status = text()
	case 2:
		u.URL = text()
	case 3:
		u.Input = ahp.Set(ahp.Value("1"))
	case 4:
		a := []session.CanvasAvailability{session.Ready, session.Stale}[r.IntN(2)]
		u.Availability = &a
	}
	return u
}

// applied returns a state with a member of an action in it.
func applied(t testing.TB, state ahp.Value, name string, e ahp.ActionEnvelope) ahp.Value {
	var o map[string]ahp.Value
	if err := ahp.Unmarshal(state, &o); err != nil {
		t.Fatal(err)
	}
	if v := member(t, e.Action, name); v != nil {
		o[name] = v
	} else {
		delete(o, name)
	}
	return ahp.MustMarshal(o)
}

func member(t testing.TB, raw ahp.Value, name string) ahp.Value {
	var o map[string]ahp.Value
	if err := ahp.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	return o[name]
}

// TestURLOfStaleCanvas: a canvas without a provider has no URL.
func TestURLOfStaleCanvas(t *testing.T) {
	tr := connect(t, "0.10.0")
	url := "x"
	state := canvas.CanvasState{InstanceID: "c", CanvasID: "k", ExtensionID: "e", Availability: session.Ready, URL: &url}
	if s := subscribe(t, tr, canvasURI, map[string]any{canvasURI: state}); member(t, s, "url") == nil {
		t.Fatalf("no url in %s", s)
	}
	stale := session.Stale
	e, ok := publish(t, tr, canvasURI, "canvas/updated", canvas.Updated{Availability: &stale})
	if s := member(t, e.Action, "canvas"); !ok || member(t, s, "url") != nil {
		t.Errorf("the client got %v, %s; want the state without a url", ok, s)
	}
}

// TestChatNames: the chat of a session has the name that VS Code computes. The names were
// recorded from it.
func TestChatNames(t *testing.T) {
	for _, names := range [][2]string{
		{"canvas:/d111c2c7-6446-4da6-b542-9829239173db", "ahp-chat://default/Y2FudmFzOi9kMTExYzJjNy02NDQ2LTRkYTYtYjU0Mi05ODI5MjM5MTczZGI"},
		{"canvas:/b0585163-11ee-4a77-a892-a77d6b9ff439", "ahp-chat://default/Y2FudmFzOi9iMDU4NTE2My0xMWVlLTRhNzctYTg5Mi1hNzdkNmI5ZmY0Mzk"},
		{"canvas:/default", "ahp-chat://default/Y2FudmFzOi9kZWZhdWx0"},
	} {
		d, err := dialect.New(dialect.Options{}).Negotiate(ahp.Value(`{"protocolVersions":["0.9.0"],"clientInfo":{"name":"vscode-x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		uri := "ahp-session:/" + names[0][len("canvas:/"):]
		state := subscribe(t, d.Translator(ws.Grant{}), names[0], map[string]any{uri: session.State{}, "ahp-chat:/" + names[0][len("canvas:/"):]: map[string]any{"modifiedAt": "", "turns": []int{}, "status": 0}})
		if got := string(member(t, state, "defaultChat")); got != `"`+names[1]+`"` {
			t.Errorf("the chat of %s is %s, want %s", names[0], got, names[1])
		}
	}
}

// TestProviderErrors: the number of a provider's error is another one's in 1.1.
func TestProviderErrors(t *testing.T) {
	text := send(t, connect(t, "1.0.0"), ahp.Value(`{"jsonrpc":"2.0","id":1,"error":{"code":-32012,"message":"no","data":{"code":"x"}}}`))
	if want := `"code":-32603`; !strings.Contains(string(text), want) || strings.Contains(string(text), "-32012") || !strings.Contains(string(text), `"data":{"code":"x"}`) {
		t.Errorf("the client gets %s", text)
	}
}

// FuzzReceive: whatever a client sends, the translator does not panic, and its params are JSON.
func FuzzReceive(f *testing.F) {
	f.Add("subscribe", `{"channel":"ahp-chat://default/YWhwLXNlc3Npb246L3M"}`)
	f.Add("initialize", `{"protocolVersions":["1.0.0"],"initialSubscriptions":["canvas:/x",1]}`)
	f.Add("dispatchAction", `{"channel":"canvas:/s","clientSeq":1,"action":{"type":"session/activeClientSet","activeClient":null}}`)
	f.Add("createSession", `{"channel":"canvas:/s","workingDirectories":[""],"activeClient":{}}`)
	f.Fuzz(func(t *testing.T, method, params string) {
		if !json.Valid([]byte(params)) {
			return
		}
		m, err := connect(t, "1.0.0").Receive(server.Message{ID: []byte("1"), Method: method, Params: ahp.Value(params)})
		if err == nil && m.Params != nil && !json.Valid(m.Params) {
			t.Errorf("not JSON: %s", m.Params)
		}
	})
}

// TestNumbersRise: entries of a chat have no separate numbers, and a client of a
// dialect still receives rising ones, in snapshots as well.
func TestNumbersRise(t *testing.T) {
	tr := connect(t, "1.0.0")
	open := session.State{Provider: "canvas", Lifecycle: session.LifecycleReady}
	states := map[string]any{sessionURI: open, "ahp-chat:/s": map[string]any{"modifiedAt": "", "turns": []int{}, "status": 0}}
	subscribe(t, tr, chatURI, states)
	last := int64(0)
	next := func(channel, tag string, a any) {
		t.Helper()
		e, ok := publish(t, tr, channel, tag, a)
		if !ok || e.ServerSeq <= last {
			t.Errorf("%s after number %d: %v %+v", tag, last, ok, e)
		}
		last = e.ServerSeq
	}
	subscribe(t, tr, sessionURI, states)
	next(sessionURI, "session/activityChanged", map[string]string{"activity": "x"})
	next("ahp-chat:/s", "chat/draftChanged", map[string]string{"draft": "a"})
	next("ahp-chat:/s", "chat/draftChanged", map[string]string{"draft": "b"})
	if _, err := tr.Receive(server.Message{ID: []byte("1"), Method: "subscribe", Params: ahp.Value(`{"channel":"` + sessionURI + `"}`)}); err != nil {
		t.Fatal(err)
	}
	answer := send(t, tr, ahp.Value(`{"jsonrpc":"2.0","id":1,"result":{"snapshots":[{"resource":"`+sessionURI+`","state":`+string(ahp.MustMarshal(open))+`,"fromSeq":2}]}}`))
	if want := fmt.Sprintf(`"fromSeq":%d`, last); !strings.Contains(string(answer), want) {
		t.Errorf("the snapshot is %s, want %s", answer, want)
	}
}
