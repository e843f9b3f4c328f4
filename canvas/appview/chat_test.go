package appview_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/onefile"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/chart"
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
}

type object = map[string]any

// newChats starts a host and a chat in front of it.
func newChats(t *testing.T, more ...canvas.Declarer) *chats {
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
	h, err := host.New(host.Options{Document: onefile.Document})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append([]canvas.Declarer{board.New(), form.New(), chart.New()}, more...) {
		if _, err := h.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	hosttest.Serve(t, h)
	base, err := url.Parse(h.Link(host.DefaultSession))
	if err != nil {
		t.Fatal(err)
	}
	c := &chats{host: h, link: h.Link(host.DefaultSession), agent: h.Canvases()}
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
	for k, v := range settings {
		all[k] = v
	}
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
	frames := p.Frames(t, 1, func(u *url.URL) bool { return u.String() == "about:srcdoc" })
	for _, f := range frames {
		if webtest.Eval[bool](t, f, `Boolean(globalThis.ahpSingle)`) {
			return f
		}
	}
	t.Fatalf("none of %d frames has a canvas", len(frames))
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

// TestBoard: a board in a chat is live: the agent acts, a person acts, a second chat and our
// page show the same.
func TestBoard(t *testing.T) {
	c := newChats(t)
	b := webtest.Start(t)
	p := c.chat(t, b, nil)
	result := open(t, p, object{"canvasId": "board", "instanceId": "plan", "input": object{"title": "Launch", "lists": []any{"Todo", "Done"}}})
	if result["_meta"].(object)["ahp-canvas/view"] == nil {
		t.Fatalf("no ticket: %v", result)
	}
	p.Wait(t, `document.body && chat.views[0]?.initialized`)
	save(t, "chat-board-0", p)
	f := inner(t, p)
	f.Wait(t, `document.body.textContent.includes("Todo")`)
	save(t, "chat-board", p)
	if _, err := c.agent.Invoke(t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "plan", ActionName: "add_card", Input: ahp.Value(`{"list":"Todo","title":"From the agent"}`)}); err != nil {
		t.Fatal(err)
	}
	f.Wait(t, `document.body.textContent.includes("From the agent")`)
	t.Log(webtest.Eval[string](t, p, `JSON.stringify({ calls: chat.log.calls.map((c) => [c.name, Math.round(c.took), c.args.wait]), errors: chat.log.errors, sizes: chat.log.sizes })`))
}
