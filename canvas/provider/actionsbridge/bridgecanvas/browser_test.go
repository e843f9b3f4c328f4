package bridgecanvas_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// tab is a runtime in memory. It answers each call with reply, if that is not nil.
type tab struct {
	conn  *ab.Conn
	id    string
	reply func(ab.Item) string // the output's JSON

	mu    sync.Mutex
	calls []ab.Item
	sent  []ab.Item
}

func (w *tab) Send(raw []byte) error {
	item, _ := ab.DecodeItem(raw)
	w.mu.Lock()
	w.sent = append(w.sent, item)
	if item.Type == ab.TypeCall {
		w.calls = append(w.calls, item)
	}
	w.mu.Unlock()
	if item.Type == ab.TypeCall && w.reply != nil {
		go w.answer(item, w.reply(item))
	}
	return nil
}

func (w *tab) Close(string) {}

func (w *tab) answer(call ab.Item, output string) {
	w.conn.Receive(fmt.Appendf(nil, `{"type":"action_call_output","call_id":%q,"runtime_id":%q,"output":%s}`, call.CallID, w.id, output))
}

// called returns the calls that were sent.
func (w *tab) called() []ab.Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]ab.Item{}, w.calls...)
}

var (
	shopPage = ab.Principal{Kind: ab.Page, Origin: "https://shop.example"}
	anyTab   = ab.Principal{Kind: ab.Extension, Origin: "chrome-extension://x", Trusted: true}
)

const shopTools = `"manifest":{"tools":[{"name":"buy","description":"Buys.","input_schema":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}},{"name":"look"},{"name":"debug.eval"},
	{"name":"bad","input_schema":{"$ref":"https://elsewhere.example/"}}],"signals":[{"name":"shop.sold","event":"shop:sold","ingestion":"enabled"}]}`

// browserBench is a host with a bridge.
type browserBench struct {
	*canvastest.Host
	t      *testing.T
	bridge *ab.Bridge
	p      *bridgecanvas.Provider
}

func newBrowserBench(t *testing.T, o ab.Options) *browserBench {
	b := &browserBench{Host: canvastest.New(t, engine.Options{}), t: t, bridge: ab.New(o)}
	b.p = bridgecanvas.New(bridgecanvas.Options{Bridge: b.bridge, Address: "ws://127.0.0.1:17345/extension"})
	t.Cleanup(func() { _ = b.p.Close(); b.bridge.Close() })
	b.p.Watch(b.Register(b.p.Extension(), b.p, b.p.Declarations()...))
	return b
}

// connect connects a runtime; more are further members of its runtime_ready.
func (b *browserBench) connect(who ab.Principal, id, url string, more ...string) *tab {
	w := &tab{id: id}
	w.conn = b.bridge.Attach(w, who)
	members := append([]string{`"type":"runtime_ready"`, `"runtime_id":"` + id + `"`, `"url":"` + url + `"`, shopTools}, more...)
	w.conn.Receive([]byte("{" + strings.Join(members, ",") + "}"))
	synctest.Wait()
	return w
}

func (b *browserBench) openPage(id, input string) (canvas.OpenCanvas, error) {
	o, err := b.Canvases.Open(b.t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: bridgecanvas.PageID, InstanceID: id, Input: ahp.Value(input)})
	synctest.Wait()
	return o, err
}

// invoke invokes an action and returns its value, or its error's code and details.
func (b *browserBench) invoke(id, action, input string) (value string, e *canvas.Error) {
	b.t.Helper()
	v, err := b.Canvases.Invoke(b.t.Context(), canvas.InvokeArgs{Session: canvastest.Session, InstanceID: id, ActionName: action, Input: ahp.Value(input)})
	if err != nil {
		if e, ok := errors.AsType[*canvas.Error](err); ok {
			return "", e
		}
		b.t.Fatalf("%s %s: %v", action, input, err)
	}
	return string(v), nil
}

func (b *browserBench) wantCode(id, action, input, code string) *canvas.Error {
	b.t.Helper()
	v, e := b.invoke(id, action, input)
	if e == nil || e.Code != code {
		b.t.Errorf("%s %.80s: %.80s %v, want %s", action, input, v, e, code)
		return &canvas.Error{}
	}
	return e
}

// availability returns whether an instance is ready.
func (b *browserBench) availability(id string) string {
	synctest.Wait()
	for _, o := range b.SessionState().OpenCanvases {
		if o.InstanceID == id {
			return string(o.Availability)
		}
	}
	return "closed"
}

func (b *browserBench) events() (all []string) {
	b.t.Helper()
	synctest.Wait()
	p, err := b.Canvases.Events(b.t.Context(), canvastest.Session, 0, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range p.Events {
		all = append(all, e.InstanceID+" "+string(e.Event))
	}
	return all
}

func (b *browserBench) lastEvent() string {
	all := b.events()
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// TestBrowserCall: an agent lists, opens, calls, reads and receives an event.
func TestBrowserCall(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/a?q=1", `"title":"Shop"`, `"runtime_key":"k"`)
		b.Open(bridgecanvas.BrowserID, "all", nil)
		v, _ := b.invoke("all", "list_runtimes", `{}`)
		for _, part := range []string{`"runtime_id":"r1"`, `"runtime_key":"k"`, `"host":"shop.example"`, `"title":"Shop"`, `"state":"ready"`, `"actions":4`, `"last_seen":"`} {
			if !strings.Contains(v, part) {
				t.Errorf("list_runtimes: %s has no %s", v, part)
			}
		}
		if _, err := b.openPage("p", `{"target_url_contains":"shop.example"}`); err != nil {
			t.Fatal(err)
		}
		v, _ = b.invoke("p", "list_actions", `{"names":["look"]}`)
		if !strings.HasPrefix(v, `{"runtime_id":"r1","actions":[{"name":"look"},{"name":"buy","description":"Buys.","input_schema":{`) || !strings.Contains(v, `"hidden":[{"name":"bad","why":"its input_schema cannot be enforced`) || !strings.HasSuffix(v, `"more":0}`) {
			t.Errorf("list_actions: %s", v)
		}
		if v, _ = b.invoke("p", "list_actions", `{"query":"BUY"}`); strings.Contains(v, "look") || !strings.Contains(v, "buy") {
			t.Errorf("list_actions: %s", v)
		}
		w.reply = func(ab.Item) string { return `{"ok":true,"result":7}` }
		v, _ = b.invoke("p", "call", `{"name":"buy","arguments":{"n":1},"call_id":"mine"}`)
		if v != `{"ok":true,"result":7}` || w.called()[0].CallID != "mine" || string(w.called()[0].Arguments) != `{"n":1}` {
			t.Errorf("call: %s, sent %+v", v, w.called())
		}
		w.reply = func(ab.Item) string {
			return `{"ok":false,"error":{"code":"target_not_found","message":"gone","evidence":{"selector":"#buy"}}}`
		}
		e := b.wantCode("p", "call", `{"name":"look"}`, "target_not_found")
		if d := string(e.Details); !strings.Contains(d, `"evidence":{"selector":"#buy"}`) || !strings.Contains(d, `"runtime_id":"r1"`) || !strings.Contains(d, `"call_id":"`) {
			t.Errorf("details %s", d)
		}
		w.conn.Receive([]byte(`{"type":"dom_event","runtime_id":"r1","event_id":"e1","name":"shop:sold","event":"shop:sold","payload":{"x":"}] do this"},"url":"https://shop.example/","previous_call_id":"mine","observed_at":"now"}`))
		want := `p {"type":"actions.dom_event","runtime_id":"r1","name":"shop.sold","event":"shop:sold","payload":{"x":"}] do this"},"url":"https://shop.example/","event_id":"e1","previous_call_id":"mine","observed_at":"now"}`
		if got := b.lastEvent(); got != want {
			t.Errorf("event %s", got)
		}
	})
}

// TestBrowserInputs: the rows of bad input that the declarations refuse.
func TestBrowserInputs(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		b.connect(anyTab, "r1", "https://shop.example/")
		b.Open(bridgecanvas.BrowserID, "all", nil)
		if _, err := b.openPage("p", `{}`); err != nil {
			t.Fatal(err)
		}
		b.wantCode("p", "call", `{"name":"../x"}`, "unknown_action")
		if e := b.wantCode("p", "call", `{"name":"buy","arguments":[]}`, canvas.CodeInputInvalid); e.Path != "/input/arguments" {
			t.Errorf("path %q", e.Path)
		}
		b.wantCode("p", "call", `{"name":"buy","runtime_id":"r1"}`, canvas.CodeInputInvalid)
		b.wantCode("all", "call", `{"name":"buy","target_host":"x"}`, canvas.CodeInputInvalid)
		if e := b.wantCode("all", "call", `{"name":"buy","target_url_contains":""}`, canvas.CodeInputInvalid); e.Rule != "minLength" {
			t.Errorf("rule %q", e.Rule)
		}
		b.wantCode("all", "call", `{"name":"buy","timeout_ms":600001}`, canvas.CodeInputInvalid)
		b.wantCode("p", "call", `{"name":"buy","arguments":{"n":"x"}}`, "invalid_input")
		b.wantCode("p", "call", `{"name":"debug.eval"}`, "permission_denied")
		b.wantCode("p", "call", `{"name":"bad"}`, "unknown_action")
		e := b.wantCode("p", "read_output", `{"output_id":"none"}`, "output_not_found")
		if !strings.Contains(e.Message, "outputs are kept ten minutes") {
			t.Errorf("message %q", e.Message)
		}
		if _, err := b.openPage("q", `{"target_url_contains":""}`); err == nil {
			t.Error("an empty substring opens a page")
		}
	})
}

// TestBrowserPageBound: a card is bound when it is opened, stale when its page is lost, and
// ready again when the same runtime returns, or a later one with its key and principal: not
// a twin, and no other principal.
func TestBrowserPageBound(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{Origins: []string{shopPage.Origin, "https://evil.example"}})
		first := b.connect(shopPage, "r1", "https://shop.example/1", `"runtime_key":"k"`)
		twin := b.connect(shopPage, "r2", "https://shop.example/2", `"runtime_key":"k"`)
		o, err := b.openPage("p", `{"runtime_id":"r1"}`)
		if err != nil {
			t.Fatal(err)
		}
		first.conn.Close()
		if got := b.availability("p"); got != string(session.Stale) {
			t.Fatalf("without its page the card is %s", got)
		}
		b.wantCode("p", "call", `{"name":"look"}`, canvas.CodeProviderUnavailable)
		twin.conn.Receive([]byte(`{"type":"runtime_status","runtime_id":"r2","title":"new"}`))
		twin.conn.Receive([]byte(`{"type":"runtime_ready","runtime_id":"r2","runtime_key":"k","url":"https://shop.example/2",` + shopTools + `}`))
		b.connect(ab.Principal{Kind: ab.Page, Origin: "https://evil.example"}, "r1", "https://evil.example/", `"runtime_key":"k"`).conn.Close()
		b.connect(shopPage, "r9", "https://shop.example/", `"runtime_key":"other"`)
		if got := b.availability("p"); got != string(session.Stale) || len(twin.called()) != 0 {
			t.Fatalf("the card moved: it is %s", got)
		}
		again := b.connect(shopPage, "r3", "https://shop.example/1", `"runtime_key":"k"`)
		if got := b.availability("p"); got != string(session.Ready) {
			t.Fatalf("with a later page of its key the card is %s", got)
		}
		again.reply = func(ab.Item) string { return `"again"` }
		if v, e := b.invoke("p", "call", `{"name":"look"}`); v != `"again"` {
			t.Errorf("%s %v", v, e)
		}
		for _, open := range b.SessionState().OpenCanvases {
			if open.InstanceID == "p" && open.Channel != o.Channel {
				t.Error("the card has another channel")
			}
		}
		again.conn.Close()
		back := b.connect(shopPage, "r3", "https://shop.example/other")
		if got := b.availability("p"); got != string(session.Ready) {
			t.Errorf("with the same runtime_id the card is %s", got)
		}
		back.reply = again.reply
		if _, err := b.openPage("p", `{"runtime_id":"r2"}`); err != nil {
			t.Fatal(err)
		}
		twin.reply = func(ab.Item) string { return `"twin"` }
		if v, e := b.invoke("p", "call", `{"name":"look"}`); v != `"twin"` {
			t.Errorf("bound again: %s %v", v, e)
		}
	})
}

// TestBrowserSilent: a silent page's card is stale, until its next item.
func TestBrowserSilent(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/")
		if _, err := b.openPage("p", `{}`); err != nil {
			t.Fatal(err)
		}
		time.Sleep(36 * time.Second)
		if got := b.availability("p"); got != string(session.Stale) {
			t.Errorf("after 36 s of silence the card is %s", got)
		}
		w.conn.Receive([]byte(`{"type":"runtime_status","runtime_id":"r1"}`))
		if got := b.availability("p"); got != string(session.Ready) {
			t.Errorf("after a status the card is %s", got)
		}
	})
}

// TestBrowserOpenRefused: a page that waits, none and several cannot be opened.
func TestBrowserOpenRefused(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		b.connect(shopPage, "w", "https://shop.example/")
		for input, code := range map[string]string{`{}`: "permission_denied", `{"target_url_contains":"nowhere"}`: "runtime_not_found"} {
			_, err := b.openPage("p", input)
			e, _ := errors.AsType[*canvas.Error](err)
			if e == nil || e.Code != code || !strings.Contains(string(e.Details), `"evidence"`) {
				t.Errorf("%s: %v", input, err)
			}
		}
		b.connect(anyTab, "r1", "https://a.example/")
		b.connect(anyTab, "r2", "https://a.example/")
		_, err := b.openPage("p", `{"target_url_contains":"a.example"}`)
		if e, _ := errors.AsType[*canvas.Error](err); e == nil || e.Code != "ambiguous_runtime" || !strings.Contains(string(e.Details), `"candidates"`) {
			t.Errorf("%v", err)
		}
	})
}

// TestBrowserVerdicts: a person's View decides; nothing else does.
func TestBrowserVerdicts(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		o := b.Open(bridgecanvas.BrowserID, "all", nil)
		v := b.Connect("person")
		v.Subscribe(o.Channel)
		w := b.connect(shopPage, "s", "https://shop.example/x?secret=1", `"runtime_key":"k"`, `"title":"Private"`)
		v.Say(o.Channel, `{"actions":"hello"}`)
		synctest.Wait()
		state := messages(v, "state")
		if !strings.Contains(state, `"host":"shop.example"`) || !strings.Contains(state, `"state":"waiting"`) || strings.Contains(state, "Private") || strings.Contains(state, "secret") {
			t.Errorf("state of a waiting page: %s", state)
		}
		if got := b.lastEvent(); got != `all {"type":"actions.runtime","runtime_id":"s","host":"shop.example","state":"waiting"}` {
			t.Errorf("event %s", got)
		}
		if list, _ := b.invoke("all", "list_runtimes", `{}`); list != `{"runtimes":[{"host":"shop.example","state":"waiting"}]}` {
			t.Errorf("list_runtimes: %s", list)
		}
		b.wantCode("all", "call", `{"name":"look"}`, "permission_denied")
		for _, d := range b.p.Declarations() {
			for _, a := range d.Actions {
				for _, word := range []string{"allow", "refuse", "approve", "disconnect", "script"} {
					if strings.Contains(a.Name, word) {
						t.Errorf("there is an action %s", a.Name)
					}
				}
			}
		}
		v.Say(o.Channel, `{"actions":"allow","runtime_id":"s"}`)
		synctest.Wait()
		w.reply = func(ab.Item) string { return `1` }
		if got, e := b.invoke("all", "call", `{"name":"look"}`); got != "1" {
			t.Errorf("allowed: %v", e)
		}
		b.wantCode("all", "call", `{"name":"debug.eval"}`, "permission_denied")
		v.Say(o.Channel, `{"actions":"allow","runtime_id":"s","scripts":true}`)
		synctest.Wait()
		if got, e := b.invoke("all", "call", `{"name":"debug.eval","arguments":{"hidden":"`+strings.Repeat("x", 300)+`"}}`); got != "1" {
			t.Errorf("scripts allowed: %v", e)
		}
		synctest.Wait()
		log := messages(v, "log")
		if !strings.Contains(log, `"name":"debug.eval"`) || !strings.Contains(log, `"code":""`) || strings.Contains(log, strings.Repeat("x", 200)) {
			t.Errorf("log %s", log)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if state := messages(v, "state"); !strings.Contains(state, `"url":"https://shop.example/x"`) || strings.Contains(state, "secret") {
			t.Errorf("state: %s", state)
		}
		v.Say(o.Channel, `{"actions":"disconnect","runtime_id":"s"}`)
		synctest.Wait()
		if len(b.bridge.Runtimes()) != 0 {
			t.Error("it is still connected")
		}
		b.connect(shopPage, "s", "https://shop.example/", `"runtime_key":"k"`)
		v.Say(o.Channel, `{"actions":"refuse","runtime_id":"s"}`)
		synctest.Wait()
		if r, _ := b.bridge.Runtime("s"); r.State != ab.Refused {
			t.Errorf("it is %s", r.State)
		}
	})
}

// messages returns the last message of a kind that a View received.
func messages(v *canvastest.View, kind string) (last string) {
	for _, e := range v.Take() {
		if strings.Contains(string(e.Action), `"actions":"`+kind+`"`) {
			last = string(e.Action)
		}
	}
	return last
}

// TestBrowserEventsOnCards: an event is raised once in a session, on a card that is bound
// to its runtime, otherwise on browser.
func TestBrowserEventsOnCards(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		b.Open(bridgecanvas.BrowserID, "all", nil)
		w := b.connect(anyTab, "r1", "https://shop.example/")
		event := func(id string) []byte {
			return []byte(`{"type":"dom_event","runtime_id":"r1","event_id":"` + id + `","name":"shop.sold","payload":{}}`)
		}
		w.conn.Receive(event("e1"))
		if got := b.lastEvent(); !strings.HasPrefix(got, `all {"type":"actions.dom_event"`) {
			t.Errorf("event %s", got)
		}
		for _, id := range []string{"p1", "p2"} {
			if _, err := b.openPage(id, `{}`); err != nil {
				t.Fatal(err)
			}
		}
		before := len(b.events())
		w.conn.Receive(event("e2"))
		after := b.events()
		if len(after) != before+1 || !strings.HasPrefix(after[before], "p") {
			t.Errorf("events %v", after[before:])
		}
		for range 60 {
			w.conn.Receive(event("x"))
		}
		time.Sleep(6 * time.Second)
		found := false
		for _, e := range b.events() {
			found = found || strings.Contains(e, `{"type":"actions.events_dropped","runtime_id":"r1","count":`)
		}
		if !found {
			t.Error("dropped events are not reported")
		}
	})
}

// TestBrowserOutputs: an output above 48 KiB is read piecewise, for ten minutes.
func TestBrowserOutputs(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/")
		if _, err := b.openPage("p", `{}`); err != nil {
			t.Fatal(err)
		}
		exact := `"` + strings.Repeat("x", 48<<10-2) + `"`
		w.reply = func(ab.Item) string { return exact }
		if v, e := b.invoke("p", "call", `{"name":"look"}`); v != exact {
			t.Errorf("48 KiB: %.100s %v", v, e)
		}
		w.reply = func(ab.Item) string { return `"x` + exact[1:] }
		if v, e := b.invoke("p", "call", `{"name":"look"}`); !strings.Contains(v, `"bytes":49153`) {
			t.Errorf("a byte more: %.100s %v", v, e)
		}
		large := `"` + strings.Repeat("é\\\"", 30<<10) + `"`
		w.reply = func(ab.Item) string { return large }
		v, _ := b.invoke("p", "call", `{"name":"look"}`)
		var out struct {
			OK      bool   `json:"ok"`
			ID      string `json:"output_id"`
			Bytes   int    `json:"bytes"`
			SHA256  string `json:"sha256"`
			Preview string `json:"preview"`
		}
		if err := ahp.Unmarshal([]byte(v), &out); err != nil || !out.OK || out.Bytes != len(large) || out.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(large))) || !strings.HasPrefix(large, out.Preview) {
			t.Fatalf("%.300s %v", v, err)
		}
		var text strings.Builder
		for text.Len() < out.Bytes {
			v, e := b.invoke("p", "read_output", fmt.Sprintf(`{"output_id":%q,"offset":%d,"length":32767}`, out.ID, text.Len()))
			var piece struct {
				Offset int    `json:"offset"`
				Total  int    `json:"total"`
				Text   string `json:"text"`
			}
			if e != nil || ahp.Unmarshal([]byte(v), &piece) != nil || piece.Offset != text.Len() || piece.Total != out.Bytes || piece.Text == "" {
				t.Fatalf("%.200s %v", v, e)
			}
			text.WriteString(piece.Text)
		}
		if text.String() != large {
			t.Error("the pieces are not the output")
		}
		for range 31 {
			if _, e := b.invoke("p", "call", `{"name":"look"}`); e != nil {
				t.Fatal(e)
			}
		}
		if _, e := b.invoke("p", "read_output", `{"output_id":"`+out.ID+`"}`); e != nil {
			t.Errorf("of 32 outputs the first: %v", e)
		}
		if _, e := b.invoke("p", "call", `{"name":"look"}`); e != nil {
			t.Fatal(e)
		}
		b.wantCode("p", "read_output", `{"output_id":"`+out.ID+`"}`, "output_not_found")
		v, _ = b.invoke("p", "call", `{"name":"look"}`)
		_ = ahp.Unmarshal([]byte(v), &out)
		for range 20 {
			if _, e := b.invoke("p", "read_output", `{"output_id":"`+out.ID+`"}`); e != nil {
				t.Errorf("before ten minutes: %v", e)
			}
			time.Sleep(30 * time.Second)
			w.conn.Receive([]byte(`{"type":"runtime_status","runtime_id":"r1"}`))
			synctest.Wait()
		}
		b.wantCode("p", "read_output", `{"output_id":"`+out.ID+`"}`, "output_not_found")
	})
}

// TestBrowserOutputPieces: a piece has 32 KiB if no length is given, is cut between
// characters, and fits an answer however much of it JSON escapes.
func TestBrowserOutputPieces(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/")
		if _, err := b.openPage("p", `{}`); err != nil {
			t.Fatal(err)
		}
		piece := func(input string) (text string, offset int) {
			t.Helper()
			v, e := b.invoke("p", "read_output", input)
			var p struct {
				Offset int    `json:"offset"`
				Text   string `json:"text"`
			}
			if e != nil || ahp.Unmarshal([]byte(v), &p) != nil {
				t.Fatalf("%s: %.100s %v", input, v, e)
			}
			return p.Text, p.Offset
		}
		keep := func(value string) (id string) {
			t.Helper()
			w.reply = func(ab.Item) string { return value }
			v, e := b.invoke("p", "call", `{"name":"look"}`)
			var out struct {
				ID      string `json:"output_id"`
				Preview string `json:"preview"`
			}
			if e != nil || ahp.Unmarshal([]byte(v), &out) != nil || out.ID == "" || !utf8.ValidString(out.Preview) || strings.Contains(out.Preview, "\ufffd") {
				t.Fatalf("%.200s %v", v, e)
			}
			return out.ID
		}
		id := keep(`"` + strings.Repeat("x", 60<<10) + `"`)
		if text, _ := piece(`{"output_id":"` + id + `"}`); len(text) != 32<<10 {
			t.Errorf("%d bytes without a length", len(text))
		}
		id = keep(`"` + strings.Repeat("é", 30<<10) + `"`)
		if text, at := piece(`{"output_id":"` + id + `","offset":2,"length":4}`); text != "é" && text != "éé" || at != 3 {
			t.Errorf("from the middle of a character: %q at %d", text, at)
		}
		if text, _ := piece(`{"output_id":"` + id + `","length":4}`); text != `"é` {
			t.Errorf("to the middle of a character: %q", text)
		}
		id = keep(`"` + strings.Repeat(`\"`, 30<<10) + `"`)
		if text, _ := piece(`{"output_id":"` + id + `","length":40960}`); text == "" || len(ahp.MustMarshal(text)) > 48<<10 {
			t.Errorf("%d bytes of JSON", len(ahp.MustMarshal(text)))
		}
	})
}

// TestBrowserOutputBytes: outputs of 32 MiB together are kept, and then the oldest goes.
func TestBrowserOutputBytes(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/")
		if _, err := b.openPage("p", `{}`); err != nil {
			t.Fatal(err)
		}
		large := `"` + strings.Repeat("x", 3<<20) + `"`
		w.reply = func(ab.Item) string { return large }
		var ids []string
		for range 11 {
			v, e := b.invoke("p", "call", `{"name":"look"}`)
			var out struct {
				ID string `json:"output_id"`
			}
			if e != nil || ahp.Unmarshal([]byte(v), &out) != nil {
				t.Fatal(e)
			}
			ids = append(ids, out.ID)
		}
		b.wantCode("p", "read_output", `{"output_id":"`+ids[0]+`"}`, "output_not_found")
		if _, e := b.invoke("p", "read_output", `{"output_id":"`+ids[1]+`"}`); e != nil {
			t.Errorf("the second: %v", e)
		}
	})
}

// TestBrowserTimeouts: an agent learns handler_timeout before the host's own deadline, and
// the result of a longer call by an event.
func TestBrowserTimeouts(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/")
		if _, err := b.openPage("p", `{}`); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		alive := func() { w.conn.Receive([]byte(`{"type":"runtime_status","runtime_id":"r1"}`)) }
		e := b.wantCode("p", "call", `{"name":"look","timeout_ms":30000}`, "handler_timeout")
		if after := time.Since(begun); after != 29500*time.Millisecond || !strings.Contains(string(e.Details), `"timeout_ms":29500`) {
			t.Errorf("after %v: %s", after, e.Details)
		}
		alive()
		if e := b.wantCode("p", "call", `{"name":"look","timeout_ms":100}`, "handler_timeout"); !strings.Contains(string(e.Details), `"elapsed_ms":100`) {
			t.Errorf("details %s", e.Details)
		}
		begun = time.Now()
		v, _ := b.invoke("p", "call", `{"name":"look","timeout_ms":60000,"call_id":"long"}`)
		if after := time.Since(begun); v != `{"pending":true,"call_id":"long"}` || after != 25*time.Second {
			t.Errorf("after %v: %s", after, v)
		}
		alive()
		time.Sleep(20 * time.Second)
		w.answer(w.called()[2], `{"ok":true}`)
		if got := b.lastEvent(); got != `p {"type":"actions.result","runtime_id":"r1","call_id":"long","name":"look","value":{"ok":true}}` {
			t.Errorf("event %s", got)
		}
		_, _ = b.invoke("p", "call", `{"name":"look","timeout_ms":40000,"call_id":"late"}`)
		alive()
		time.Sleep(20 * time.Second)
		if got := b.lastEvent(); !strings.Contains(got, `"call_id":"late"`) || !strings.Contains(got, `"code":"handler_timeout"`) {
			t.Errorf("event %s", got)
		}
		w.reply = func(ab.Item) string { return `"quick"` }
		if v, _ := b.invoke("p", "call", `{"name":"look","timeout_ms":40000}`); v != `"quick"` {
			t.Errorf("a quick answer: %s", v)
		}
	})
}

// TestBrowserInFlight: the end of a socket is transport_failed for the agent.
func TestBrowserInFlight(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/")
		if _, err := b.openPage("p", `{}`); err != nil {
			t.Fatal(err)
		}
		done := make(chan *canvas.Error)
		go func() { _, e := b.invoke("p", "call", `{"name":"look"}`); done <- e }()
		synctest.Wait()
		w.conn.Close()
		if e := <-done; e == nil || e.Code != "transport_failed" {
			t.Errorf("in flight: %v", e)
		}
		if got := b.availability("p"); got != string(session.Stale) {
			t.Errorf("the card is %s", got)
		}
	})
}

// TestBrowserStatus: the status of a card is its last call.
func TestBrowserStatus(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		w := b.connect(anyTab, "r1", "https://shop.example/", `"title":"Shop"`)
		o, err := b.openPage("p", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		w.reply = func(ab.Item) string { return `1` }
		_, _ = b.invoke("p", "call", `{"name":"look"}`)
		time.Sleep(time.Second)
		synctest.Wait()
		if s := b.State(o.Channel); s.Status == nil || *s.Status != "look: done in 0 ms" || s.Title == nil || *s.Title != "Shop – shop.example" {
			t.Errorf("state %+v", s)
		}
		b.wantCode("p", "call", `{"name":"no.such"}`, "unknown_action")
		time.Sleep(time.Second)
		synctest.Wait()
		if s := b.State(o.Channel); *s.Status != "no.such: unknown_action" {
			t.Errorf("status %q", *s.Status)
		}
	})
}

// TestBrowserAttention: the card waits for the person while a page waits for a decision.
func TestBrowserAttention(t *testing.T) {
	in(t, func(t *testing.T) {
		b := newBrowserBench(t, ab.Options{})
		o := b.Open(bridgecanvas.BrowserID, "all", nil)
		reason := func() string {
			time.Sleep(2 * time.Second)
			synctest.Wait()
			var meta map[string]canvas.Attention
			_ = ahp.Unmarshal(b.State(o.Channel).Meta, &meta) // without attention, the member is absent
			return meta[canvas.MetaAttention].Reason
		}
		if got := reason(); got != "" {
			t.Errorf("without pages: %q", got)
		}
		w := b.connect(shopPage, "r1", "https://shop.example/", `"title":"Shop"`)
		if got := reason(); got != "shop.example asks to be used by the agent" {
			t.Errorf("while a page waits: %q", got)
		}
		w.conn.Close()
		if got := reason(); got != "" {
			t.Errorf("after the page left: %q", got)
		}
	})
}

// TestBrowserProvider holds both canvases against the contracts of providers.
func TestBrowserProvider(t *testing.T) {
	for _, id := range []string{bridgecanvas.BrowserID, bridgecanvas.PageID} {
		bridge := ab.New(ab.Options{})
		t.Cleanup(bridge.Close)
		w := &tab{id: "r1"}
		w.reply = func(ab.Item) string { return `{"ok":true}` }
		w.conn = bridge.Attach(w, anyTab)
		w.conn.Receive([]byte(`{"type":"runtime_ready","runtime_id":"r1","url":"https://shop.example/",` + shopTools + `}`))
		p := bridgecanvas.New(bridgecanvas.Options{Bridge: bridge})
		t.Cleanup(func() { _ = p.Close() })
		d := p.Declarations()[0]
		if id == bridgecanvas.PageID {
			d = p.Declarations()[1]
		}
		t.Run(id, func(t *testing.T) {
			canvastest.TestProvider(t, canvastest.Config{Provider: p, Declaration: d, Input: ahp.Value(`{}`), Path: "/index.html", Action: "call", ActionInput: ahp.Value(`{"name":"look"}`), Decisions: []string{
				`{"actions":"allow","runtime_id":"none"}`, `{"actions":"allow","runtime_id":"none","scripts":true}`,
				`{"actions":"refuse","runtime_id":"none"}`, `{"actions":"disconnect","runtime_id":"none"}`,
			}})
		})
	}
}
