package serve

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/look"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
)

// decisions are the messages by which people decide something, by canvas. Every canvas that
// the program can offer has a row, also one whose pages decide nothing.
var decisions = map[string]struct {
	input    string
	messages []string
}{
	"board": {`{"title":"B"}`, []string{`{"sample":"do","ref":1,"action":"remove_list","input":{"list":"Done"}}`}},
	"form": {`{"title":"T","fields":[{"name":"a","label":"A","type":"text"}]}`, []string{
		`{"sample":"do","ref":1,"action":"edit","input":{"version":1,"name":"a","value":"x"}}`,
		`{"sample":"do","ref":1,"action":"decide","input":{"version":1,"decision":"approved","values":{}}}`,
		`{"sample":"do","ref":1,"action":"decide","input":{"version":1,"decision":"declined","values":{}}}`,
	}},
	"chart":  {``, nil}, // a query, which the agent can change too
	"folder": {``, nil}, // its messages are events, which name the role of another one's
	"page":   {`{"html":"<p>"}`, []string{`{"x-ahp-page":"revert","ref":1,"revision":1}`}},
	"tools":  {``, nil}, // its scripts run actions, and decide nothing
	"aap-page": {`{"agent":"builder","file":"p.html"}`, []string{
		`{"type":"canvas:interaction","action":"approve","ref":"a"}`, `{"type":"canvas:interaction","action":"reject","ref":"b"}`,
	}},
	"aap-pages":  {``, nil}, // lists pages
	"aam-site":   {aSite, aamMessages("decide", "budget", "forget", "ask", "read", "signin", "code")},
	"aam-agents": {``, aamMessages("grant", "refuse", "revoke", "collect")},
	"browser": {``, []string{
		`{"actions":"allow","runtime_id":"s"}`, `{"actions":"allow","runtime_id":"s","scripts":true}`, `{"actions":"refuse","runtime_id":"s"}`, `{"actions":"disconnect","runtime_id":"s"}`,
	}},
	"browser-page": {noPage, nil}, // is opened for a page of a browser; the card is that of "browser"
	"a2ui":         {``, []string{a2uiAction}},
	"a2ui-finder":  {``, []string{a2uiAction}},
}

const (
	aSite      = "a site of this machine"
	noPage     = "no page is connected"
	a2uiAction = `{"parts":[{"text":"yes, pay"}]}` // a click is an envelope of the same form
)

func aamMessages(names ...string) (all []string) {
	for _, name := range names {
		all = append(all, `{"aam":"`+name+`","ref":"r"}`)
	}
	return all
}

// TestDecisionsArePeoples starts a host with every kind of canvas, and sends each decision
// from connections of all roles: an agent's and those that only look are refused.
func TestDecisionsArePeoples(t *testing.T) {
	t.Parallel()
	h := everyCanvas(t)
	declared := map[string]bool{}
	list, err := h.Canvases().List(host.DefaultSession)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		declared[d.CanvasID] = true
	}
	if have, want := slices.Sorted(maps.Keys(declared)), slices.Sorted(maps.Keys(decisions)); !slices.Equal(have, want) {
		t.Fatalf("the host offers %v, and the table has %v", have, want)
	}
	views := map[string]*client.Client{}
	for _, role := range []string{access.Agent, access.Read, access.Look} {
		c, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: tokenOf(role), ClientID: "c-" + role})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		views[role] = c
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"aam_version":"0.1","site":{"name":"Café","domain":"127.0.0.1"},"actions":[{"id":"check","description":"Looks.","endpoint":"/check","method":"POST","auth":{"type":"none"},"pricing":"free"}]}`)
	}))
	defer site.Close()
	for id, row := range decisions {
		args := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: id, InstanceID: id}
		switch row.input {
		case noPage:
			continue
		case aSite:
			args.Input = ahp.MustMarshal(map[string]string{"site": site.URL})
		case "":
		default:
			args.Input = ahp.Value(row.input)
		}
		open, err := h.Canvases().Open(t.Context(), args)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for role, c := range views {
			refuses(t, c, open.Channel, role, row.messages)
		}
	}
}

// refuses checks that decisions from a View are refused: those of a role that only looks by
// the host, those of an agent's connection by the canvas.
func refuses(t *testing.T, c *client.Client, channel, role string, messages []string) {
	t.Helper()
	watch := c.Watch(channel)
	defer watch.Close()
	if _, err := c.Subscribe(t.Context(), channel); err != nil {
		t.Fatal(err)
	}
	for _, payload := range messages {
		err := c.Message(t.Context(), channel, ahp.Value(payload))
		if role != access.Agent {
			if err == nil || !strings.Contains(err.Error(), "role_required") {
				t.Errorf("%s from the role %s: %v", payload, role, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s from the role %s: %v", payload, role, err)
			continue
		}
		if got := nextMessage(t, watch, channel); !strings.Contains(got, "only a person can decide this") {
			t.Errorf("%s from the role %s: %s", payload, role, got)
		}
	}
}

// nextMessage returns the next refusal that the provider sends to a View.
func nextMessage(t *testing.T, watch *client.Watch, channel string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ev, err := range watch.All(ctx) {
		if err != nil {
			return err.Error()
		}
		m, ok := ev.Action.(canvas.Message)
		if ok && strings.Contains(string(m.Payload), "refused") {
			return string(m.Payload)
		}
	}
	return "no answer"
}

// everyCanvas is a host that offers all canvases of the program.
func everyCanvas(t *testing.T) *host.Host {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := options{
		canvases:    []string{filepath.Dir(write("folder/index.html", "<!doctype html>"))},
		actionPages: []string{filepath.Dir(write("tools/index.html", "<!doctype html>"))},
		content:     "channel", name: "all", browser: look.None,
		aap:    aapOptions{agents: []string{"builder=" + filepath.Dir(write("builder/p.html", "<title>P</title>"))}, open: aapOpenNone},
		bridge: bridgeOptions{address: "127.0.0.1:0"},
		a2ui:   a2uiOptions{agents: []string{"finder=ws://127.0.0.1:9"}},
	}
	write("tools/actions.json", `{"protocol":"actions.json","version":1,"surface":{"surface_id":"tools","name":"Tools"},"tools":[{"name":"a.say","x_actions":{"handler":"app.say"}}]}`)
	o.aam.client.on, o.aam.client.loopback, o.aam.client.vendor = true, true, "ahp-canvas"
	o.aam.site = write("site.json", `{"listen":"127.0.0.1:0","origin":"http://127.0.0.1:9","site":{"name":"B","domain":"127.0.0.1"},"actions":[
		{"id":"add_card","extension":"board","canvas":"board","instance":"board","action":"add_card","pricing":"free"}]}`)
	state, err := statedir.Open(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := starting{options: o, state: state, dir: filepath.Join(dir, "state"), runtimeDir: filepath.Join(dir, "run"), logger: slog.New(slog.DiscardHandler), ln: ln}
	h := &hosted{state: state, ln: ln}
	if h.store, err = state.OpenStore(s.dir, s.logger); err != nil {
		t.Fatal(err)
	}
	opts := s.hostOptions(h, nil, nil)
	for _, role := range access.Roles() {
		opts.Tokens = append(opts.Tokens, ws.Token{Secret: tokenOf(role), Role: role})
	}
	if h.host, err = host.New(opts); err != nil {
		t.Fatal(err)
	}
	if err := h.host.SetAddr(ln.Addr()); err != nil {
		t.Fatal(err)
	}
	if err := s.furnish(h); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.end(); err != nil {
			t.Error(err)
		}
	})
	hosttest.ServeOn(t, h.host, ln)
	return h.host
}

func tokenOf(role string) string { return "0123456789-0123456789-" + role }
