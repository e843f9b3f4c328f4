package appview_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/onefile"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/form"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }

// modules is where npm has put the official packages.
const modules = "../../testcases/chats"

// bundle is the chat's script with the official client and AppBridge.
var bundle = sync.OnceValues(func() ([]byte, error) {
	dir, err := filepath.Abs(modules)
	if err != nil {
		return nil, err
	}
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{"testdata/chat.js"}, Bundle: true, Format: api.FormatIIFE, Target: api.ESNext,
		NodePaths: []string{filepath.Join(dir, "node_modules")}, LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		return nil, fmt.Errorf("%s", r.Errors[0].Text)
	}
	return r.OutputFiles[0].Contents, nil
})

// restrictive is the policy of the specification for a page that declares no domains.
const restrictive = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'"

// chats is a foreign chat client in front of a host.
type chats struct {
	host    *host.Host
	address string // of the chat
	sandbox string // of its Views
	link    string // of our page
	agent   *host.Canvases
	stop    func() error // ends the host
}

type object = map[string]any

// newChats starts a host and a chat in front of it.
func newChats(t *testing.T, more ...canvas.Declarer) *chats {
	t.Helper()
	h, err := host.New(host.Options{Document: onefile.Document})
	if err != nil {
		t.Fatal(err)
	}
	return chatsOf(t, h, more...)
}

// chatsOf is newChats for a host.
func chatsOf(t *testing.T, h *host.Host, more ...canvas.Declarer) *chats {
	t.Helper()
	if _, err := os.Stat(modules + "/node_modules"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("run npm ci in testcases/chats")
		}
		t.Skip("needs npm ci in testcases/chats")
	}
	script, err := bundle()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append([]canvas.Declarer{board.New(), form.New(), chart.New()}, more...) {
		if _, err := h.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	stop := hosttest.Serve(t, h)
	base, err := url.Parse(h.Link(host.DefaultSession))
	if err != nil {
		t.Fatal(err)
	}
	c := &chats{host: h, link: h.Link(host.DefaultSession), agent: h.Canvases(), stop: stop}
	_, token := h.Tokens()
	mux := http.NewServeMux()
	mux.Handle("/mcp", &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: base.Host})
		r.Out.Header.Set("Authorization", "Bearer "+token)
		for _, name := range []string{"Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"} {
			r.Out.Header.Del(name) // a chat is a program and not a page
		}
	}})
	mux.HandleFunc("/chat.js", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(script) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/chat.html") })
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	views := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sandbox" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", restrictive)
		http.ServeFile(w, r, "testdata/sandbox.html")
	}))
	t.Cleanup(views.Close)
	c.address, c.sandbox = front.URL, strings.Replace(views.URL, "127.0.0.1", "localhost", 1)+"/sandbox"
	return c
}

// chat opens a chat with settings of testdata/chat.js.
func (c *chats) chat(t *testing.T, b *webtest.Browser, settings object) *webtest.Page {
	t.Helper()
	all := object{"sandbox": c.sandbox}
	maps.Copy(all, settings)
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	p := b.Open(t, c.address+"/?settings="+url.QueryEscape(string(raw)))
	p.Wait(t, `document.title !== "connecting"`)
	if title := webtest.Eval[string](t, p, `document.title`); title != "ready" {
		t.Fatal(title)
	}
	return p
}

// open opens a canvas in a chat, as its agent does.
func open(t *testing.T, p *webtest.Page, args object) (result object) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return webtest.Eval[object](t, p, `chat.open(`+string(raw)+`)`)
}

// inner returns the frame in which the canvas runs.
func inner(t *testing.T, p *webtest.Page) *webtest.Page {
	t.Helper()
	for end := time.Now().Add(2 * webtest.Timeout); time.Now().Before(end); {
		for _, f := range p.Frames(t, 1, func(u *url.URL) bool { return u.String() == "about:srcdoc" }) {
			if f.WaitAtMost(100*time.Millisecond, `globalThis.ahpSingle`) { // a frame can be replaced meanwhile
				return f
			}
		}
	}
	t.Fatal("no frame has a canvas")
	return nil
}

func save(t *testing.T, name string, p *webtest.Page) {
	t.Helper()
	if dir := os.Getenv("AHP_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), p.Screenshot(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// onlyLong skips a test that takes long, unless AHP_LONG=1.
func onlyLong(t *testing.T) {
	t.Helper()
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("takes long: set AHP_LONG=1")
	}
}

// agentDoes invokes an action as the agent.
func (c *chats) agentDoes(t *testing.T, instance, action, input string) ahp.Value {
	t.Helper()
	v, err := c.agent.Invoke(t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: instance, ActionName: action, Input: ahp.Value(input)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// clean checks that a chat has seen no error and no violation of its policy.
func clean(t *testing.T, p *webtest.Page) {
	t.Helper()
	if got := webtest.Eval[string](t, p, `JSON.stringify([chat.log.errors, chat.log.violations, chat.log.calls.filter((c) => c.refused)])`); got != "[[],[],[]]" {
		t.Errorf("errors, violations and refused calls of the chat: %s", got)
	}
}

// addCard adds a card as a person does.
const addCard = `(() => { [...document.querySelectorAll("button")].find((b) => b.textContent.includes("Add a card")).click();
	const field = document.activeElement; field.value = %q; field.dispatchEvent(new Event("input", { bubbles: true })); field.form.requestSubmit(); })()`

// TestBoard: a board in a chat is live: the agent acts, a person acts, and two chats and
// our page show the same.
func TestBoard(t *testing.T) {
	t.Parallel()
	c := newChats(t)
	b := webtest.Start(t)
	p := c.chat(t, b, nil)
	result := open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"title": "Launch", "lists": []any{"Todo", "Done"}}})
	if result["_meta"].(object)["ahp-canvas/view"] == nil {
		t.Fatalf("no ticket: %v", result)
	}
	f := inner(t, p)
	f.Wait(t, `document.body.textContent.includes("Todo")`)
	c.agentDoes(t, "plan", "add_card", `{"list":"Todo","title":"Of the agent"}`)
	f.Wait(t, `document.body.textContent.includes("Of the agent")`)
	webtest.Eval[any](t, f, fmt.Sprintf(addCard, "Of Ann"))
	if !f.WaitAtMost(30*time.Second, `document.querySelector("main").textContent.includes("Of Ann")`) {
		t.Fatal("the person's card did not appear")
	}
	other := c.chat(t, b, object{"context": object{"theme": "dark"}, "without": []any{"updateModelContext"}})
	open(t, other, object{"canvasId": "board", "instanceId": "plan"})
	g := inner(t, other)
	g.Wait(t, `document.body.textContent.includes("Of Ann") && document.body.textContent.includes("Of the agent")`)
	page := b.Open(t, c.link)
	own := page.Frames(t, 1, webtest.ContentFrame)[0]
	webtest.Eval[any](t, g, fmt.Sprintf(addCard, "Of Ben"))
	f.Wait(t, `document.body.textContent.includes("Of Ben")`)
	own.Wait(t, `frames[0].document.body.textContent.includes("Of Ben")`)
	if v := string(c.agentDoes(t, "plan", "get_board", `{}`)); !strings.Contains(v, "Of Ann") || !strings.Contains(v, "Of Ben") {
		t.Errorf("the agent reads %s", v)
	}
	p.Wait(t, `chat.log.contexts.some((c) => JSON.stringify(c).includes("Of Ben"))`) // the model learns of it
	if !webtest.Eval[bool](t, p, `chat.log.contexts.every(({ at }, n, all) => n === 0 || at - all[n - 1].at > 1900)`) {
		t.Error("the model gets more than one update in 2 s")
	}
	if n := webtest.Eval[int](t, other, `chat.log.contexts.length`); n > 0 {
		t.Errorf("a chat that takes no contexts got %d", n)
	}
	save(t, "chat-board", p)
	save(t, "chat-board-dark", other)
	clean(t, p)
	clean(t, other)
	t.Log(webtest.Eval[string](t, p, `JSON.stringify({ calls: chat.log.calls.map((c) => [c.name, Math.round(c.took), c.args.wait]), sizes: chat.log.sizes })`))
}

// TestOpaque: in a sandbox with an opaque origin, a board works with a mouse and keys.
func TestOpaque(t *testing.T) {
	t.Parallel()
	c := newChats(t)
	p := c.chat(t, webtest.Start(t), object{"opaque": true, "context": object{"theme": "dark", "styles": object{"variables": object{"--color-background-primary": "#102030"}}}})
	open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"lists": []any{"Todo"}}})
	p.Wait(t, `chat.log.calls.some((c) => c.args.say)`) // the canvas asks for its state
	p.Wait(t, `chat.log.sizes.at(-1) > 400`)
	for before, now := drawn(t, p), []byte(nil); now == nil || bytes.Equal(before, now); now = drawn(t, p) {
		p.ClickAt(t, 100, 202) // on "Add a card", whose field then appears
	}
	p.Keys(t, "Of Ben\r")
	page, err := c.agent.Events(t.Context(), host.DefaultSession, 0, 30*time.Second)
	if err != nil || len(page.Events) == 0 || !strings.Contains(string(page.Events[0].Event), "Of Ben") {
		t.Errorf("the agent has %+v, %v", page.Events, err)
	}
	save(t, "chat-opaque", p)
	clean(t, p)
}

// drawn returns a picture of a page once it stands still: nothing can be asked in an opaque
// frame.
func drawn(t *testing.T, p *webtest.Page) []byte {
	t.Helper()
	for last := p.Screenshot(t); ; {
		webtest.Eval[bool](t, p, `new Promise((r) => setTimeout(() => r(true), 300))`)
		now := p.Screenshot(t)
		if bytes.Equal(last, now) {
			return now
		}
		last = now
	}
}

// shellOf returns the frame of the shell.
func shellOf(t *testing.T, p *webtest.Page) *webtest.Page {
	t.Helper()
	return p.Frames(t, 1, func(u *url.URL) bool { return u.Path == "/sandbox" })[0]
}

// inShell is an expression about the shell's document, of which the sandbox is the parent.
func inShell(expression string) string {
	return `(({ document }) => (` + expression + `))(frames[0] ?? {})`
}

// TestContext: theme, size, full window and teardown follow the chat.
func TestContext(t *testing.T) {
	t.Parallel()
	c := newChats(t)
	p := c.chat(t, webtest.Start(t), object{"context": object{"containerDimensions": object{"maxHeight": 400, "width": 800}}})
	open(t, p, object{"canvasId": "board", "instanceId": "plan"})
	f := inner(t, p)
	f.Wait(t, `document.body.textContent.includes("To do") && document.documentElement.dataset.colorMode === "light"`)
	p.Wait(t, `chat.log.sizes.at(-1) === 400`)
	webtest.Eval[any](t, p, `chat.context(0, { theme: "dark", styles: { variables: { "--color-background-primary": "rgb(1, 2, 3)" } } })`)
	f.Wait(t, `document.documentElement.dataset.colorMode === "dark" && document.documentElement.style.getPropertyValue("--background-color-default") === "rgb(1, 2, 3)"`)
	webtest.Eval[any](t, p, `chat.context(0, { containerDimensions: { maxHeight: 500 } })`)
	p.Wait(t, `chat.log.sizes.at(-1) === 500`)
	webtest.Eval[any](t, p, `(async () => { chat.log.sizes.length = 0; for (let n = 1; n <= 20; n++) await chat.context(0, { containerDimensions: { maxHeight: 500 + n } }); })()`)
	p.Wait(t, `chat.log.sizes.at(-1) === 520`)
	if n := webtest.Eval[int](t, p, `chat.log.sizes.length`); n > 4 {
		t.Errorf("20 changes at once were answered by %d sizes", n)
	}
	shell := shellOf(t, p)
	webtest.Eval[any](t, shell, inShell(`document.getElementById("full").click()`))
	p.Wait(t, `chat.log.modes.join() === "fullscreen"`)
	shell.Wait(t, inShell(`document.getElementById("full").getAttribute("aria-pressed") === "true"`))
	if got := webtest.Eval[object](t, p, `chat.teardown(0)`); len(got) != 0 {
		t.Errorf("the answer to a teardown: %v", got)
	}
	if !webtest.Eval[bool](t, p, `chat.log.calls.at(-1).args.bye === true && chat.log.calls.at(-1).took > 0`) {
		t.Error("no bye came before the answer to a teardown")
	}
	clean(t, p)
}

// web is a canvas that a chat cannot run.
type web struct{ opened canvas.Opened }

func (w web) Extension() canvas.Extension { return canvas.Extension{ID: "web"} }

func (w web) Declarations() []canvas.Declaration {
	return []canvas.Declaration{{CanvasID: "web", DisplayName: "Web", Description: "A web app."}}
}

func (w web) Open(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
	return w.opened, nil
}

// canvasAway is a canvas that a chat shows as a card.
var canvasAway = canvas.Opened{Instance: nothing{}, URL: "http://127.0.0.1:9/"}

type nothing struct{}

func (nothing) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }
func (nothing) Close(context.Context) error                                  { return nil }
func (nothing) Message(context.Context, canvas.View, ahp.Value)              {}
func (nothing) ViewGone(canvas.View)                                         {}
func (nothing) Read(context.Context, canvas.ReadRequest) (canvas.Content, error) {
	return canvas.Content{Data: []byte("x"), ContentType: "text/plain"}, nil
}

// TestCards: what a chat does not show is a card with words and a way out.
func TestCards(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	for name, c := range map[string]struct {
		opened   canvas.Opened
		settings object
		words    string
		way      bool // the button opens a link
	}{
		"web app":     {canvas.Opened{HTTP: true, URL: canvas.ContentURL("w", "/"), Title: "Kanban", Status: "12 cards"}, nil, "This canvas is a web app. A chat cannot run it; its page can.", true},
		"direct":      {canvas.Opened{URL: "http://127.0.0.1:9/"}, nil, "This canvas is at an address of its own.", true},
		"not a page":  {canvas.Opened{URL: canvas.ContentURL("w", "/")}, nil, "This canvas cannot be shown in a chat: it is not an HTML page.", true},
		"no ticket":   {canvas.Opened{URL: "http://127.0.0.1:9/"}, object{"dropMeta": true}, "Canvas web is open as instance w", true},
		"no tools":    {canvas.Opened{URL: "http://127.0.0.1:9/"}, object{"without": []any{"serverTools"}}, "This chat does not let canvases talk to their host.", true},
		"no new tabs": {canvas.Opened{URL: "http://127.0.0.1:9/"}, object{"without": []any{"openLinks"}}, "This canvas is at an address of its own.", false},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "web app" && name != "no ticket" {
				onlyLong(t)
			}
			c.opened.Instance = nothing{}
			host := newChats(t, web{c.opened})
			p := host.chat(t, b, c.settings)
			open(t, p, object{"canvasId": "web", "instanceId": "w"})
			shell := shellOf(t, p)
			shell.Wait(t, inShell(`!document.getElementById("card").hidden && !document.getElementById("open").hidden && document.getElementById("words").textContent.startsWith(`+string(ahp.MustMarshal(c.words))+`)`))
			save(t, "card-"+strings.ReplaceAll(name, " ", "-"), p)
			webtest.Eval[any](t, shell, inShell(`document.getElementById("open").click()`))
			if c.way {
				p.Wait(t, `chat.log.links.length === 1 && chat.log.links[0].includes("#invite=")`)
			} else {
				shell.Wait(t, inShell(`document.getElementById("link").textContent.includes("#invite=")`))
			}
			clean(t, p)
		})
	}
}

// TestClosed: a canvas whose provider is lost stays under a veil, and one that was closed is a
// card.
func TestClosed(t *testing.T) {
	t.Parallel()
	c := newChats(t)
	reg, err := c.host.Canvases().Register(canvas.Extension{ID: "web"}, web{canvas.Opened{Instance: pages{}, URL: canvas.ContentURL("w", "/")}}, web{}.Declarations()...)
	if err != nil {
		t.Fatal(err)
	}
	p := c.chat(t, webtest.Start(t), nil)
	open(t, p, object{"canvasId": "web", "instanceId": "w"})
	inner(t, p).Wait(t, `document.body.textContent.includes("A page")`)
	shell := shellOf(t, p)
	reg.SetReachable(false)
	shell.Wait(t, inShell(`document.getElementById("veil").textContent.startsWith("Not up to date")`))
	save(t, "chat-stale", p)
	reg.SetReachable(true)
	shell.Wait(t, inShell(`document.getElementById("veil").hidden`))
	if err := c.agent.Close(t.Context(), host.DefaultSession, "w"); err != nil {
		t.Fatal(err)
	}
	shell.Wait(t, inShell(`document.getElementById("words").textContent === "This canvas was closed. Ask for it again."`))
	save(t, "chat-closed", p)
	webtest.Eval[any](t, p, `chat.cancel(0, "You stopped it.")`)
	shell.Wait(t, inShell(`document.getElementById("words").textContent === "You stopped it."`))
	clean(t, p)
}

// pages is a canvas with one page.
type pages struct{ nothing }

func (pages) Read(context.Context, canvas.ReadRequest) (canvas.Content, error) {
	return canvas.Content{Data: []byte("<!doctype html><title>P</title><p>A page"), ContentType: "text/html"}, nil
}

// TestKinds: a form, a chart and a folder work in a chat.
func TestKinds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "notes")
	if err := folder.New(dir); err != nil {
		t.Fatal(err)
	}
	notes, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = notes.Close() })
	c := newChats(t, notes)
	b := webtest.Start(t)
	for _, kind := range []struct {
		id    string
		input object
		shows string
		act   string
		event string
	}{
		{"form", object{"title": "Ship it?", "approveLabel": "Ship", "fields": []any{object{"name": "why", "label": "Why", "type": "text"}}}, `document.body.textContent.includes("Ship it?")`,
			`document.querySelector("input").value = "It works"; document.querySelector("input").dispatchEvent(new Event("input", { bubbles: true })); document.getElementById("approve").click()`, "It works"},
		{"chart", object{"title": "Visits", "columns": []any{object{"name": "Page", "type": "text"}, object{"name": "Visits", "type": "number"}}, "rows": []any{[]any{"/home", 1200}, []any{"/docs", 340}}}, `document.body.textContent.includes("/docs")`, "", ""},
		{notes.ID(), nil, `document.querySelector("h1")`, `document.getElementById("text").value = "Milk"; document.querySelector("#add button").click(); setTimeout(() => document.getElementById("done").click(), 300)`, "Milk"},
	} {
		t.Run(kind.id, func(t *testing.T) {
			if kind.id == "chart" {
				onlyLong(t)
			}
			p := c.chat(t, b, nil)
			args := object{"canvasId": kind.id, "instanceId": "the-" + kind.id}
			if kind.input != nil {
				args["input"] = kind.input
			}
			result := open(t, p, args)
			f := inner(t, p)
			f.Wait(t, kind.shows)
			if kind.act != "" {
				webtest.Eval[any](t, f, `(() => { `+kind.act+` })()`)
				after := int64(result["structuredContent"].(object)["cursor"].(float64))
				page, err := c.agent.Events(t.Context(), host.DefaultSession, after, 30*time.Second)
				if err != nil || len(page.Events) == 0 || !strings.Contains(string(page.Events[0].Event), kind.event) {
					t.Errorf("the agent has %+v, %v", page.Events, err)
				}
				p.Wait(t, `chat.log.contexts.some((c) => JSON.stringify(c).includes("`+kind.event+`"))`)
			}
			save(t, "chat-"+kind.id, p)
			clean(t, p)
		})
	}
}
