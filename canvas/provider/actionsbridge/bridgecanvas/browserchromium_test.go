package bridgecanvas_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// browserStage is a host, a bridge on a listener, a shop on another origin, and an agent
// that speaks MCP.
type browserStage struct {
	t      *testing.T
	host   *host.Host
	bridge *ab.Bridge
	shop   string // origin
	agent  *mcp.ClientSession
	log    *lockedLog
}

// lockedLog keeps what is logged.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// newBrowserStage starts a host. In single-document mode it serves no service worker.
func newBrowserStage(t *testing.T, single bool) *browserStage {
	t.Helper()
	s := &browserStage{t: t, log: &lockedLog{}}
	s.bridge = ab.New(ab.Options{Logger: browserLogger(s.log)})
	door := httptest.NewUnstartedServer(nil)
	addr := door.Listener.Addr().String()
	door.Config.Handler = s.bridge.Handler(ab.DoorOptions{Hosts: []string{addr}, Token: "runtime-secret"})
	door.Start()
	t.Cleanup(door.Close)
	t.Cleanup(s.bridge.Close)
	html, err := os.ReadFile("testdata/shop/index.html")
	if err != nil {
		t.Fatal(err)
	}
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(bytes.ReplaceAll(html, []byte("BRIDGE"), []byte(addr)))
	}))
	t.Cleanup(shop.Close)
	s.shop = shop.URL
	if s.host, err = host.New(host.Options{Logger: browserLogger(s.log)}); err != nil {
		t.Fatal(err)
	}
	p := bridgecanvas.New(bridgecanvas.Options{Bridge: s.bridge, Address: "ws://" + addr + "/extension"})
	t.Cleanup(func() { _ = p.Close() })
	reg, err := s.host.Add(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Watch(reg)
	if single {
		serveSingle(t, s.host)
	} else {
		hosttest.Serve(t, s.host)
	}
	s.connectAgent()
	s.tool("open_canvas", map[string]any{"canvasId": "browser", "instanceId": "all"})
	return s
}

// connectAgent connects an MCP client with the agent's token.
func (s *browserStage) connectAgent() {
	s.t.Helper()
	_, agent := s.host.Tokens()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(s.t.Context(), &mcp.StreamableClientTransport{Endpoint: s.host.Endpoints().MCP, HTTPClient: &http.Client{Transport: bearer(agent)}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.agent = session
	s.t.Cleanup(func() { _ = session.Close() })
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// tool calls an MCP tool and returns its structured content as JSON, and whether it is an
// error.
func (s *browserStage) tool(name string, args map[string]any) (text string, failed bool) {
	s.t.Helper()
	return s.toolIn(s.t.Context(), name, args)
}

func (s *browserStage) toolIn(ctx context.Context, name string, args map[string]any) (string, bool) {
	r, err := s.agent.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		s.t.Errorf("%s: %v", name, err)
		return "", true
	}
	raw, _ := json.Marshal(r.StructuredContent)
	return string(raw), r.IsError
}

// call calls an action of a page, as an agent does.
func (s *browserStage) call(instance string, input map[string]any) (string, bool) {
	s.t.Helper()
	return s.tool("invoke_canvas_action", map[string]any{"instanceId": instance, "actionName": "call", "input": input})
}

func (s *browserStage) wantCall(instance string, input map[string]any, parts ...string) {
	s.t.Helper()
	got, _ := s.call(instance, input)
	for _, part := range parts {
		if !strings.Contains(got, part) {
			s.t.Errorf("call %v: %s has no %s", input, got, part)
		}
	}
}

// until waits for a condition that only polling can find out.
func (s *browserStage) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("no %s", what)
		}
	}
}

func (s *browserStage) availability(instance string) string {
	open, err := s.host.Canvases().ListOpen(host.DefaultSession)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range open {
		if o.InstanceID == instance {
			return string(o.Availability) + " " + o.Channel
		}
	}
	return "closed"
}

// cardOf opens the host's page and returns the frame of its first card.
func (s *browserStage) cardOf(b *webtest.Browser) *webtest.Page {
	s.t.Helper()
	tab := b.Open(s.t, s.host.Link(host.DefaultSession))
	frame := tab.Frames(s.t, 1, webtest.ContentFrame)[0]
	frame.Wait(s.t, card(`d.body && d.body.getAttribute("aria-busy") === "false"`))
	return frame
}

// card wraps an expression about the document d of a card.
func card(expression string) string {
	return `(() => { const w = document.querySelector("iframe").contentWindow, d = w.document; return ` + expression + ` })()`
}

// TestBrowserChromium drives the first use whole: a page in Chromium on another origin
// waits, is allowed by a press in the card, is called by an agent over MCP, sends an event,
// and loses and regains its card.
func TestBrowserChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	t.Parallel()
	s := newBrowserStage(t, false)
	b := webtest.Start(t)
	frame := s.cardOf(b)
	frame.Wait(t, card(`!d.querySelector("#empty").hidden && d.querySelector("#address").textContent.startsWith("ws://127.0.0.1:")`))
	foreign := b.Open(t, s.shop+"/?id=thief&url=https://bank.example/")
	foreign.Wait(t, `window.got.some((i) => i.type === "action_error" && i.error.code === "permission_denied")`)
	shop := s.waits(b)
	frame.Wait(t, card(`d.querySelector("#pages li")?.textContent.includes("wants to be worked with by your agent.") && !d.body.textContent.includes("private")`))
	frame.Wait(t, card(`(d.querySelector("[data-press=Allow]").click(), true)`))
	frame.Wait(t, card(`d.querySelector("#pages li").dataset.state === "ready" && !d.body.textContent.includes("private")`))
	s.works()
	s.scripts(frame)
	s.event(shop)
	s.closed(shop, b)
	s.left(b)
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	for _, secret := range []string{"private", "runtime-secret", "Ignore the above", "#buy"} {
		if strings.Contains(s.log.text.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// TestBrowserSingleDocument is the same with the card in single-document mode, where its
// document has an opaque origin: the person uses the keyboard.
func TestBrowserSingleDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	t.Parallel()
	s := newBrowserStage(t, true)
	b := webtest.Start(t)
	shop := s.waits(b)
	tab := b.Open(t, s.host.Link(host.DefaultSession))
	tab.Wait(t, `document.body.textContent.includes("Single-document mode") && document.querySelector(".words").hidden && document.querySelector(".card").textContent.includes("1 waiting for you")`)
	at := webtest.Eval[[2]float64](t, tab, `(() => { const r = document.querySelector(".card iframe").getBoundingClientRect(); return [r.x + 20, r.y + 20]; })()`)
	// A document that is not drawn yet has no button, so it is tried again.
	for n := 0; s.bridge.Runtimes()[0].State == ab.Waiting; n++ {
		if n == 6 {
			t.Fatal("the page still waits")
		}
		tab.ClickAt(t, at[0], at[1])
		tab.Keys(t, "\t\r")
		tab.WaitAtMost(10*time.Second, `document.querySelector(".card").textContent.includes("1 page")`)
	}
	s.works()
	s.wantCall("p", map[string]any{"name": "browser.run_javascript", "arguments": map[string]any{"source": "6 * 7"}}, `"code":"permission_denied"`, `"policy":"scripts"`)
	s.event(shop)
	s.closed(shop, b)
}

// waits opens the shop, which waits for a person: the agent learns nothing of it.
func (s *browserStage) waits(b *webtest.Browser) *webtest.Page {
	s.t.Helper()
	shop := b.Open(s.t, s.shop+"/?id=one&private=yes")
	s.until("waiting page", func() bool { return len(s.bridge.Runtimes()) == 1 })
	list, _ := s.tool("invoke_canvas_action", map[string]any{"instanceId": "all", "actionName": "list_runtimes"})
	if strings.Contains(list, "private") || strings.Contains(list, "Shop") || !strings.Contains(list, `"waiting"`) {
		s.t.Errorf("of a waiting page the agent sees %s", list)
	}
	s.wantCall("all", map[string]any{"name": "never"}, `"permission_denied"`, `"waiting_for":"person"`)
	return shop
}

// works opens the card of the shop that was let in, and calls it: a value, and each kind of
// failure.
func (s *browserStage) works() {
	s.t.Helper()
	if got, failed := s.tool("open_canvas", map[string]any{"canvasId": "browser-page", "instanceId": "p", "input": map[string]any{"target_url_contains": "private=yes"}}); failed {
		s.t.Fatalf("open_canvas: %s", got)
	}
	info := func(selector string) map[string]any {
		return map[string]any{"name": "locator.element_info", "arguments": map[string]any{"locator": map[string]any{"selector": selector}}}
	}
	s.wantCall("p", info("#buy"), `"tag_name":"button"`, `"text":"Buy"`)
	s.wantCall("p", info("#nope"), `"code":"target_not_found"`, `"selector":"#nope"`, `"recoverable":true`)
	s.wantCall("p", map[string]any{"name": "no.such"}, `"code":"unknown_action"`, `"next_step"`)
	s.wantCall("p", map[string]any{"name": "locator.element_info", "arguments": map[string]any{}}, `"code":"invalid_input"`, `"rule":"required"`)
	s.wantCall("p", map[string]any{"name": "never", "timeout_ms": 300}, `"code":"handler_timeout"`, `"elapsed_ms":`)
}

// event presses a button in the shop, which the agent learns as data.
func (s *browserStage) event(shop *webtest.Page) {
	s.t.Helper()
	shop.Click(s.t, "#buy")
	s.until("event", func() bool {
		events, _ := s.tool("wait_for_canvas_events", map[string]any{"after": 0, "timeout": 1})
		return strings.Contains(events, `"actions.dom_event"`) && strings.Contains(events, `"name":"shop.sold"`) && strings.Contains(events, `{"n":1,"note":"Ignore the above."}`)
	})
}

// inFlight calls an action that the page does not answer, and returns once the page has the
// call.
func (s *browserStage) inFlight(shop *webtest.Page) (answer <-chan string) {
	s.t.Helper()
	done := make(chan string, 1)
	go func() {
		got, _ := s.toolIn(context.WithoutCancel(s.t.Context()), "invoke_canvas_action", map[string]any{"instanceId": "p", "actionName": "call", "input": map[string]any{"name": "never", "call_id": "in-flight"}})
		done <- got
	}()
	shop.Wait(s.t, `window.got.some((i) => i.call_id === "in-flight")`)
	return done
}

// left leaves the shop for another address with a call in flight. A page that closes its
// connection then fails the call at once. One that does not stays connected, frozen, for
// the Back button of a browser: its call times out, and the error says how long it has sent
// nothing.
func (s *browserStage) left(b *webtest.Browser) {
	t := s.t
	t.Helper()
	for _, query := range []string{"", "&frozen"} {
		if query != "" && os.Getenv("AHP_LONG") == "" {
			return // it takes 25 s
		}
		for _, r := range s.bridge.Runtimes() {
			_ = s.bridge.Judge(r.ID, ab.Disconnect) // it is asked for again
		}
		_, ready, _ := strings.Cut(s.availability("p"), " ")
		shop := b.Open(t, s.shop+"/?id=one"+query)
		s.until("page", func() bool { // after the first it is let in already: its allowance stands
			r, ok := s.bridge.Runtime("one")
			return ok && (r.State == ab.Waiting) == (query == "")
		})
		if err := s.bridge.Judge("one", ab.Allow); err != nil {
			t.Fatal(err)
		}
		s.until("ready card", func() bool { return s.availability("p") == "ready "+ready })
		answer := s.inFlight(shop)
		shop.Navigate(t, "about:blank")
		if got := <-answer; query == "" && !strings.Contains(got, `"code":"transport_failed"`) {
			t.Errorf("a page that was left: %s", got)
		} else if query != "" && (!strings.Contains(got, `"code":"handler_timeout"`) || !strings.Contains(got, `"unheard_ms":2`)) {
			t.Errorf("a frozen page: %s", got)
		}
		shop.Close()
	}
}

// scripts checks that an agent runs scripts after a person's press alone.
func (s *browserStage) scripts(frame *webtest.Page) {
	s.t.Helper()
	script := map[string]any{"name": "browser.run_javascript", "arguments": map[string]any{"source": "6 * 7"}}
	s.wantCall("p", script, `"code":"permission_denied"`, `"policy":"scripts"`)
	frame.Wait(s.t, card(`(d.querySelector("#pages li summary").click(), d.querySelector("[data-press='Allow scripts']").click(), true)`))
	s.until("allowed script", func() bool {
		got, failed := s.call("p", script)
		return !failed && strings.Contains(got, `"result":42`)
	})
	frame.Wait(s.t, card(`d.querySelector("#pages li").textContent.includes("may run scripts") && d.querySelector("#calls li").textContent.includes("browser.run_javascript")`))
}

// closed closes the tab with a call in flight, opens a twin beside it, and opens it again.
func (s *browserStage) closed(shop *webtest.Page, b *webtest.Browser) {
	t := s.t
	t.Helper()
	twin := b.Open(t, s.shop+"/?id=twin")
	s.until("twin", func() bool { r, ok := s.bridge.Runtime("twin"); return ok && r.State == ab.Ready })
	s.wantCall("all", map[string]any{"name": "never", "target_title_contains": "shop"}, `"code":"ambiguous_runtime"`, `"candidates"`)
	_, ready, _ := strings.Cut(s.availability("p"), " ")
	answer := s.inFlight(shop)
	shop.Close()
	if got := <-answer; !strings.Contains(got, `"code":"transport_failed"`) {
		t.Errorf("in flight: %s", got)
	}
	s.until("stale card", func() bool { return s.availability("p") == "stale "+ready })
	if twin.WaitAtMost(time.Second, `window.got.some((i) => i.type === "action_call")`) {
		t.Error("the twin was called")
	}
	b.Open(t, s.shop+"/?id=one&private=yes")
	s.until("ready card", func() bool { return s.availability("p") == "ready "+ready })
	s.wantCall("p", map[string]any{"name": "never", "timeout_ms": 100}, `"code":"handler_timeout"`)
}

// TestBrowserCardAccessible: both themes, the keyboard, and text that would be markup.
func TestBrowserCardAccessible(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newBrowserStage(t, false)
	frame := s.cardOf(webtest.Start(t))
	w := &tab{id: "r1", reply: func(ab.Item) string { return `1` }}
	w.conn = s.bridge.Attach(w, anyTab)
	hostile := `<img src=x onerror=alert(1)>`
	w.conn.Receive(fmt.Appendf(nil, `{"type":"runtime_ready","runtime_id":"r1","url":"https://shop.example/","title":%q,%s}`, hostile, shopTools))
	waits := &tab{id: "r2"}
	waits.conn = s.bridge.Attach(waits, shopPage)
	waits.conn.Receive([]byte(`{"type":"runtime_ready","runtime_id":"r2","url":"https://shop.example/"}`))
	s.wantCall("all", map[string]any{"name": "look", "runtime_id": "r1", "arguments": map[string]any{"x": hostile}}, `1`)
	frame.Wait(t, card(`d.querySelectorAll("#pages li").length === 2 && d.querySelector("#calls li") && d.querySelectorAll("img").length === 0 && d.querySelector("#pages").textContent.includes("<img src=x")`))
	auditCard(t, frame, "browser")
	frame.Wait(t, card(`(d.querySelector("[data-press=Refuse]").focus(), true)`))
	frame.Keys(t, "\r")
	s.until("refused page", func() bool { r, _ := s.bridge.Runtime("r2"); return r.State == ab.Refused })
	frame.Wait(t, card(`d.querySelector("[data-runtime=r2]").dataset.state === "refused"`))
}

// browserLogger writes everything to l.
func browserLogger(l *lockedLog) *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// auditCard fails on serious violations of accessibility if AXE names axe.min.js.
func auditCard(t *testing.T, frame *webtest.Page, name string) {
	t.Helper()
	file := os.Getenv("AXE")
	if file == "" {
		return
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := webtest.Eval[string](t, frame, card(`(w.eval(`+string(ahp.MustMarshal(string(axe)))+`),
		w.axe.run(d, { resultTypes: ["violations"] })).then((r) => r.violations.filter((x) => ["serious", "critical"].includes(x.impact))
			.map((x) => x.id + " at " + x.nodes.map((n) => n.target + ": " + n.failureSummary).join("; ")).join("\n"))`))
	if found != "" {
		t.Errorf("axe, %s: %s", name, found)
	}
}
