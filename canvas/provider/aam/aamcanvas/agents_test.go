package aamcanvas

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

const agentVendor = "phone.example"

// backend is the side of a handle, with what was sent through it.
type backend struct {
	ctx context.Context

	mu     sync.Mutex
	toAll  []string
	toOne  map[canvas.View][]string
	others []string // saved, raised, titles and statuses

	reasons chan string // why the canvas waits for the person, and what runs; "" for nothing
}

// Announce implements [canvas.Announcer].
func (b *backend) Announce(name string, value any) error {
	reason := ""
	if waits, ok := value.(canvas.Attention); ok {
		reason = waits.Reason
	}
	if p, ok := value.(canvas.Progress); ok && name == canvas.MetaProgress {
		reason = p.Text
	}
	if b.reasons != nil && name != canvas.MetaCopy {
		select {
		case b.reasons <- reason:
		case <-b.ctx.Done():
		}
	}
	return nil
}

// waits fails the test unless the canvas announces this.
func (b *backend) waits(t *testing.T, want string) {
	t.Helper()
	for got := ""; ; {
		select {
		case got = <-b.reasons:
			if got == want {
				return
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("the canvas announced %q, want %q", got, want)
		}
	}
}

func (b *backend) Context() context.Context { return b.ctx }

func (b *backend) Update(_ context.Context, u canvas.Update) error {
	b.note(string(ahp.MustMarshal(u.Action())))
	return nil
}

func (b *backend) Post(_ context.Context, p canvas.Post) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.To == (canvas.View{}) {
		b.toAll = append(b.toAll, string(p.Payload))
	} else {
		b.toOne[p.To] = append(b.toOne[p.To], string(p.Payload))
	}
	return nil
}

func (b *backend) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = append(b.others, text)
}

func (b *backend) Save(_ context.Context, data []byte) error { b.note(string(data)); return nil }
func (b *backend) Raise(event ahp.Value) error               { b.note(string(event)); return nil }
func (b *backend) SetReachable(bool)                         {}

// last returns the newest message of a kind to a View, decoded.
func last[T any](t *testing.T, b *backend, to canvas.View, kind string) (m T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := len(b.toOne[to]) - 1; n >= 0; n-- {
		if text := b.toOne[to][n]; strings.Contains(text, `{"aam":"`+kind+`"`) {
			if err := ahp.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			b.toOne[to] = b.toOne[to][:n]
			return m
		}
	}
	t.Fatalf("no %s message: %s", kind, b.toOne[to])
	return m
}

// agentsEnv is an open aam-agents with a site that has requests.
type agentsEnv struct {
	t    *testing.T
	site *site.Site
	url  string
	pin  *aam.PIN
	p    *Provider
	b    *backend
	a    *agents
}

func startAgents(t *testing.T, change ...func(*site.Config)) *agentsEnv {
	t.Helper()
	e := &agentsEnv{t: t, pin: testPIN(t)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.site.Handler().ServeHTTP(w, r) }))
	e.url = srv.URL
	var err error
	config := site.Config{
		Origin: srv.URL, Site: site.Info{Name: "Board", Domain: "board.example"},
		Actions: []site.Action{{ID: "add_card"}, {ID: "move_card"}},
	}
	for _, fn := range change {
		fn(&config)
	}
	e.site, err = site.New(config, site.Func(func(_ context.Context, c site.Call) (ahp.Value, error) { return c.Input, nil }), nil, site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e.p = New(Options{Agents: e.site, PIN: e.pin})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); _ = e.p.Close(); srv.Close(); _ = e.site.Close() })
	e.b = &backend{ctx: ctx, toOne: map[canvas.View][]string{}}
	h := canvas.MakeHandle(e.b, "s", "a")
	opened, err := e.p.Open(ctx, canvas.OpenRequest{CanvasID: AgentsID, InstanceID: "a"}, &h)
	if err != nil {
		t.Fatal(err)
	}
	e.a = opened.Instance.(*agents)
	return e
}

// testPIN is the PIN "geheim", hashed with few rounds: many tests check it.
func testPIN(t *testing.T) *aam.PIN {
	t.Helper()
	salt := []byte("0123456789abcdef")
	hash, err := pbkdf2.Key(sha256.New, "geheim", salt, 1000, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/pin"
	raw := ahp.MustMarshal(map[string]any{"salt": salt, "rounds": 1000, "hash": hash})
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return aam.OpenPIN(path, nil)
}

// ask files a request, as a stranger does.
func (e *agentsEnv) ask() string {
	e.t.Helper()
	form := url.Values{"vendor": {agentVendor}, "actions": {"add_card"}}
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.url+site.PathAuthorize, strings.NewReader(form.Encode()))
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {e.url}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != 200 {
		e.t.Fatal(err, resp)
	}
	_ = resp.Body.Close()
	all := e.site.Pending()
	return all[len(all)-1].ID
}

func (e *agentsEnv) send(from canvas.View, m map[string]any) {
	e.a.Message(e.t.Context(), from, ahp.MustMarshal(m))
}

// key makes a View say hello, and returns the key that it gets.
func (e *agentsEnv) key(from canvas.View) keyMessage {
	e.t.Helper()
	e.send(from, map[string]any{"aam": "hello"})
	return last[keyMessage](e.t, e.b, from, "key")
}

// grantMessage seals a PIN for a grant of five calls a day.
func (e *agentsEnv) grantMessage(key keyMessage, request, pin string, actions ...string) map[string]any {
	e.t.Helper()
	return map[string]any{"aam": "grant", "ref": "1", "request": request, "actions": actions, "perDay": 5, "days": 30,
		"sealed": sealFor(e.t, key, pin, "grant", request, strings.Join(actions, ","), "", strconv.Itoa(5), strconv.Itoa(30))}
}

var (
	owner    = canvas.View{Conn: 1, ClientID: "page", Role: access.View}
	other    = canvas.View{Conn: 2, ClientID: "other", Role: access.View}
	agentRun = canvas.View{Conn: 3, ClientID: "agent", Role: access.Agent}
	watcher  = canvas.View{Conn: 4, ClientID: "tv", Role: access.Look}
)

// TestAgentsAttention: the canvas waits for its owner while an agent asks to be let in.
func TestAgentsAttention(t *testing.T) {
	t.Parallel()
	e := startAgents(t)
	e.b.reasons = make(chan string, 64)
	request := e.ask()
	e.b.waits(t, "One agent waits for you")
	e.ask()
	e.b.waits(t, "2 agents wait for you")
	e.send(owner, e.grantMessage(e.key(owner), request, "geheim", "add_card"))
	e.b.waits(t, "One agent waits for you")
}

// TestGrant: the owner lets an agent in; the code goes to that View alone.
func TestGrant(t *testing.T) {
	t.Parallel()
	e := startAgents(t)
	request := e.ask()
	e.send(owner, e.grantMessage(e.key(owner), request, "geheim", "add_card"))
	code := last[answer](t, e.b, owner, "grant").Code
	if len(code) != 9 {
		t.Fatalf("code %q", code)
	}
	resp, err := http.Post(e.url+site.PathToken, "application/json", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(err, resp)
	}
	raw, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	_, token, _ := strings.Cut(string(raw), `"access_token":"`)
	e.send(owner, map[string]any{"aam": "hello"})
	e.b.mu.Lock()
	var everything strings.Builder
	everything.WriteString(strings.Join(e.b.toAll, "") + strings.Join(e.b.others, "") + fmt.Sprint(e.b.toOne))
	e.b.mu.Unlock()
	for _, action := range []string{"list", "log"} {
		v, err := e.a.Invoke(t.Context(), action, nil)
		if err != nil {
			t.Error(err)
		}
		everything.WriteString(string(v))
	}
	for _, secret := range []string{code, token[:68], "geheim"} {
		if strings.Contains(everything.String(), secret) {
			t.Errorf("a secret of %d characters is in a state, an answer or saved data", len(secret))
		}
	}
	id := e.site.Tokens()[0].ID
	e.send(owner, map[string]any{"aam": "revoke", "ref": 2, "id": id})
	if got := last[answer](t, e.b, owner, "done"); string(got.Ref) != "2" || len(e.site.Tokens()) != 0 {
		t.Errorf("revoke: %+v", got)
	}
}

// TestGrantRefused: what does not let an agent in.
func TestGrantRefused(t *testing.T) {
	t.Parallel()
	e := startAgents(t)
	request, another := e.ask(), e.ask()
	used := e.grantMessage(e.key(owner), another, "wrong!", "add_card")
	e.send(owner, used)
	for name, c := range map[string]struct {
		from canvas.View
		m    func() map[string]any
		code string
	}{
		"wrong PIN":   {owner, func() map[string]any { return e.grantMessage(e.key(owner), request, "wrong!", "add_card") }, "aam_pin_wrong"},
		"a box again": {owner, func() map[string]any { return used }, CodeNotSealed},
		"another's box": {other, func() map[string]any {
			e.key(other)
			return e.grantMessage(e.key(owner), request, "geheim", "add_card")
		}, CodeNotSealed},
		"no box": {owner, func() map[string]any {
			return map[string]any{"aam": "grant", "request": request, "actions": []string{"add_card"}}
		}, CodeNotSealed},
		"in the clear": {owner, func() map[string]any { return map[string]any{"aam": "grant", "request": request, "pin": "geheim"} }, CodeNotSealed},
		"more actions": {owner, func() map[string]any {
			m := e.grantMessage(e.key(owner), request, "geheim", "add_card")
			m["actions"] = []string{"add_card", "move_card"}
			return m
		}, CodeNotSealed},
		"more calls": {owner, func() map[string]any {
			m := e.grantMessage(e.key(owner), request, "geheim", "add_card")
			m["perDay"] = 50
			return m
		}, CodeNotSealed},
		"another request": {owner, func() map[string]any {
			m := e.grantMessage(e.key(owner), request, "geheim", "add_card")
			m["request"] = another
			return m
		}, CodeNotSealed},
		"an agent's View":    {agentRun, func() map[string]any { return e.grantMessage(e.key(owner), request, "geheim", "add_card") }, "person_required"},
		"a View that looks":  {watcher, func() map[string]any { return e.grantMessage(e.key(owner), request, "geheim", "add_card") }, "person_required"},
		"an agent refuses":   {agentRun, func() map[string]any { return map[string]any{"aam": "refuse", "request": request} }, "person_required"},
		"an unknown request": {owner, func() map[string]any { return e.grantMessage(e.key(owner), "99-99x", "geheim", "add_card") }, canvas.CodeHandlerError},
		"no action":          {owner, func() map[string]any { return e.grantMessage(e.key(owner), request, "geheim") }, canvas.CodeInputInvalid},
	} {
		e.send(c.from, c.m())
		if got := last[answer](t, e.b, c.from, "refused"); got.Code != c.code {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if n := len(e.site.Pending()); n != 2 {
		t.Errorf("%d requests wait, not 2", n)
	}
	e.send(agentRun, map[string]any{"aam": "hello"})
	e.b.mu.Lock()
	if strings.Contains(fmt.Sprint(e.b.toOne[agentRun]), `"key"`) {
		t.Error("an agent's View got a key")
	}
	e.b.mu.Unlock()
	for range 5 {
		e.send(owner, e.grantMessage(e.key(owner), request, "wrong!", "add_card"))
	}
	e.send(owner, e.grantMessage(e.key(owner), request, "geheim", "add_card"))
	if got := last[answer](t, e.b, owner, "refused"); got.Code != "aam_pin_locked" {
		t.Errorf("after five wrong PINs: %+v", got)
	}
	e.send(owner, map[string]any{"aam": "refuse", "ref": "r", "request": request})
	if last[answer](t, e.b, owner, "done"); len(e.site.Pending()) != 1 {
		t.Error("the request was not refused")
	}
}

// TestNoPIN: without a PIN no agent is let in, and the words say what to do.
func TestNoPIN(t *testing.T) {
	t.Parallel()
	e := startAgents(t)
	e.p.agents.pin = aam.OpenPIN(t.TempDir()+"/none", nil)
	e.send(owner, e.grantMessage(e.key(owner), e.ask(), "geheim", "add_card"))
	if got := last[answer](t, e.b, owner, "refused"); got.Code != "aam_pin_unset" || !strings.Contains(got.Message, "ahp-canvas aam pin") {
		t.Errorf("%+v", got)
	}
	e.p.agents.pin = nil
	e.send(owner, e.grantMessage(e.key(owner), e.ask(), "geheim", "add_card"))
	if got := last[answer](t, e.b, owner, "refused"); got.Code != "aam_pin_unset" {
		t.Errorf("%+v", got)
	}
}

// TestAgentsInvoke: the session's agent can look and take away, and grants nothing.
func TestAgentsInvoke(t *testing.T) {
	t.Parallel()
	e := startAgents(t)
	request := e.ask()
	if v, err := e.a.Invoke(t.Context(), "list", nil); err != nil || !strings.Contains(string(v), `"requests":[{"id":"`+request) {
		t.Errorf("%s %v", v, err)
	}
	for _, action := range []string{"grant", "approve", "code", "collect"} {
		if _, err := e.a.Invoke(t.Context(), action, nil); code(err) != canvas.CodeNoHandler {
			t.Errorf("%s: %v", action, err)
		}
	}
	if _, err := e.a.Invoke(t.Context(), "revoke", ahp.Value(`{"id":"tok_x"}`)); code(err) != canvas.CodeInputInvalid {
		t.Error(err)
	}
	for _, d := range Declarations() {
		if d.CanvasID != AgentsID {
			continue
		}
		for _, a := range d.Actions {
			if _, err := e.a.Invoke(t.Context(), a.Name, ahp.Value(`{"id":"x"}`)); code(err) == canvas.CodeNoHandler || a.InputSchema == nil || a.Description == "" {
				t.Errorf("%s: %v", a.Name, err)
			}
		}
	}
}

// TestAgentsContract: the canvas fulfills the contract of every provider.
func TestAgentsContract(t *testing.T) {
	e := startAgents(t)
	set := e.p.Declarations()
	if len(set) != 1 {
		t.Fatalf("%d canvases without a client half", len(set))
	}
	canvastest.TestProvider(t, canvastest.Config{
		Provider: e.p, Declaration: set[0], Input: ahp.Value(`{}`),
		Action: "list", ActionInput: ahp.Value(`{}`), Path: "/agents.html",
	})
}

func code(err error) string {
	if err == nil {
		return ""
	}
	code, _ := spoken(err)
	return code
}
