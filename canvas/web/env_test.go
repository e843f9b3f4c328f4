package web_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	agentpage "github.com/ahp-canvas/ahp-canvas/canvas/provider/page"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

const viewToken = "view-secret"

type object = map[string]any

// site is a canvas for tests: files by path, served over the channel.
type site struct {
	id    string
	title string
	url   string // default: the folder's root; the host does not check it here
	files map[string]string
	input any
	app   *app   // an app instead of files, by http/1
	path  string // of the app's first page
	plain bool   // the app answers http/1 and ws/1 only
	links bool   // the canvas may offer links
	allow bool   // it is the canvas that setup.allow allows origins

	written bool // the files are those of the canvas "page", as an agent writes it
}

// message is a View's payload.
type message struct {
	instance string
	payload  any
}

// env is a running host behind a front that tests can change and stop.
type env struct {
	origin string // of the page
	prefix string // of the page's path
	link   string
	bare   string // the same without the front: the host's own address
	addr   string
	front  http.Handler
	host   *host.Host
	server server.Options
	direct bool
	store  channels.Store
	reg    canvas.Registration
	allow  []string

	mu        sync.Mutex
	ln        *cutListener
	inside    http.Handler // the host, as it runs now
	sites     map[string]site
	handles   map[string]*canvas.Handle
	channels  map[string]string // by instance
	endpoints []string          // requests for /mcp and /healthz, and WebSockets
	cookies   []string
	arrived   chan message
}

// start serves canvases on loopback. wrap, if not nil, wraps the front and can change
// responses.
func start(t testing.TB, wrap func(http.Handler) http.Handler, sites ...site) *env {
	t.Helper()
	return startWith(t, setup{name: "localhost", wrap: wrap}, sites...)
}

// setup is what start can vary.
type setup struct {
	name   string                          // of the page's host
	wrap   func(http.Handler) http.Handler // may be nil
	prefix string                          // the path under which wrap has the page
	server server.Options
	direct bool           // web apps are shown on the host's listener, where the page reaches them
	allow  []string       // origins that sites with allow may load from
	store  channels.Store // of the host, for one that is started again; may be nil
}

// startWith is start with any setup.
func startWith(t testing.TB, with setup, sites ...site) *env {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	e := &env{
		origin: "http://" + net.JoinHostPort(with.name, port), prefix: with.prefix, server: with.server, direct: with.direct, allow: with.allow, store: with.store, addr: ln.Addr().String(), arrived: make(chan message, 4096),
		sites: map[string]site{}, handles: map[string]*canvas.Handle{}, channels: map[string]string{},
	}
	e.startHost(t)
	e.link = e.host.Link(host.DefaultSession)
	e.front = http.HandlerFunc(e.forward)
	if with.wrap != nil {
		e.front = with.wrap(e.front)
	}
	e.serve(t, ln)
	for _, s := range sites {
		e.open(t, s)
	}
	return e
}

func (e *env) startHost(t testing.TB) {
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.host, err = host.New(host.Options{Origins: []string{e.origin + e.prefix}, ViewToken: viewToken, Server: e.server, ListenerFrames: e.direct, Store: e.store, AllowOrigins: map[string][]string{"allowed": e.allow}})
	if err != nil {
		t.Fatal(err)
	}
	e.reg, err = e.host.Canvases().Register(canvas.Extension{ID: "demo"}, canvas.Func(e.provide),
		canvas.Declaration{CanvasID: "page", DisplayName: "Page", Description: "A folder of files, shown as it is.", Actions: []canvas.Action{{Name: "add"}}},
		canvas.Declaration{CanvasID: "allowed", DisplayName: "Allowed", Description: "The same, which may load from some origins.", Extra: ahp.Value(`{"_meta":{"x-ahp-canvas/permissions":["clipboardWrite","nonsense"]}}`)})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.ServeOn(t, e.host, inside)
	_, port, _ := net.SplitHostPort(inside.Addr().String())
	e.bare = web.Link("http://localhost:"+port, viewToken, host.DefaultSession)
	target := &url.URL{Scheme: "http", Host: inside.Addr().String()}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inside = proxy
}

// forward is the plain front.
func (e *env) forward(w http.ResponseWriter, r *http.Request) {
	e.note(r)
	e.mu.Lock()
	inside := e.inside
	e.mu.Unlock()
	inside.ServeHTTP(w, r)
}

// note records requests that only the page should send.
func (e *env) note(r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := r.Header.Get("Cookie"); c != "" {
		e.cookies = append(e.cookies, c)
	}
	if webtest.IsContentHost(r.Host) {
		return // content hosts have no endpoints, see TestRouting
	}
	if r.URL.Path == "/mcp" || r.URL.Path == "/healthz" || r.Header.Get("Upgrade") != "" {
		e.endpoints = append(e.endpoints, r.Host+r.URL.Path)
	}
}

// provide opens a site. The instance sets its status when a View sends "done".
func (e *env) provide(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, known := e.sites[req.InstanceID]
	if !known { // a person opened it
		s = helloSite(req.InstanceID)
	}
	e.handles[s.id] = h
	if s.app != nil {
		return e.openApp(s, h)
	}
	if s.written {
		return e.openWritten(s, req, h)
	}
	files := fstest.MapFS{}
	for name, body := range s.files {
		files[name] = &fstest.MapFile{Data: []byte(body)}
	}
	app := &canvas.App{Files: files, OnMessage: func(_ context.Context, _ canvas.View, payload ahp.Value) {
		var p any
		if ahp.Unmarshal(payload, &p) != nil {
			return
		}
		if p == "done" {
			_ = h.SetStatus(h.Context(), "done")
		}
		e.arrived <- message{s.id, p}
	}}
	return canvas.Opened{Instance: app, Title: s.title, URL: canvas.ContentURL(s.id, ""), Links: s.links}, nil
}

// handle returns the handle of an open canvas.
func (e *env) handle(id string) *canvas.Handle {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.handles[id]
}

// openWritten opens a site as the canvas "page", with its own provider.
func (e *env) openWritten(s site, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	req.Input = ahp.MustMarshal(object{"title": s.title, "files": s.files})
	opened, err := agentpage.New(agentpage.Options{}).Open(h.Context(), req, h)
	if err == nil {
		opened.Instance = writtenPage{opened.Instance, opened.Instance.(canvas.Messenger), opened.Instance.(canvas.Reader), h}
	}
	return opened, err
}

// writtenPage sets its status when a View sends "done".
type writtenPage struct {
	canvas.Instance
	canvas.Messenger
	canvas.Reader
	h *canvas.Handle
}

func (w writtenPage) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	if string(payload) == `"done"` {
		_ = w.h.SetStatus(ctx, "done")
		return
	}
	w.Messenger.Message(ctx, from, payload)
}

func (e *env) open(t testing.TB, s site) {
	t.Helper()
	e.mu.Lock()
	e.sites[s.id] = s
	e.mu.Unlock()
	args := canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "page", InstanceID: s.id}
	if s.allow {
		args.CanvasID = "allowed"
	}
	if s.input != nil {
		args.Input = ahp.MustMarshal(s.input)
	}
	opened, err := e.host.Canvases().Open(t.Context(), args)
	if err != nil {
		t.Fatalf("open %s: %v", s.id, err)
	}
	e.mu.Lock()
	e.channels[s.id] = opened.Channel
	e.mu.Unlock()
	if s.url != "" { // bypasses the host's policy, to test the page's
		e.update(t, s.id, canvas.Updated{URL: ahp.Set(s.url)})
	}
}

// update publishes a canvas/updated of the host.
func (e *env) update(t testing.TB, id string, u canvas.Updated) {
	t.Helper()
	e.mu.Lock()
	channel := e.channels[id]
	e.mu.Unlock()
	if err := hosttest.Log(e.host).Update(func(tx *channels.Tx) error { return tx.Append(channel, u) }); err != nil {
		t.Fatalf("update %s: %v", id, err)
	}
}

// send sends a canvas/message to all Views.
func (e *env) send(t *testing.T, id string, payload any) {
	t.Helper()
	e.mu.Lock()
	h := e.handles[id]
	e.mu.Unlock()
	if err := h.Post(h.Context(), ahp.MustMarshal(payload)); err != nil {
		t.Fatalf("send to %s: %v", id, err)
	}
}

// message waits for a matching payload of a View.
func (e *env) message(t *testing.T, want func(payload any) bool) any {
	t.Helper()
	late := time.After(webtest.Timeout)
	for {
		select {
		case m := <-e.arrived:
			if want(m.payload) {
				return m.payload
			}
		case <-late:
			t.Fatal("the View did not send it")
		}
	}
}

// isView reports whether a payload is a view/1 message of a type.
func isView(payload any, kind string) bool {
	m, ok := payload.(object)
	return ok && m["x-ahp"] == "view/1" && m["type"] == kind
}

// onlyPageConnected checks that only the page reached the host's endpoints.
func (e *env) onlyPageConnected(t *testing.T) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	page := "localhost:" + e.addr[len("127.0.0.1:"):]
	endpoints := slices.DeleteFunc(slices.Clone(e.endpoints), func(s string) bool { return s == page+"/healthz" }) // the page asks for it
	if len(e.cookies) > 0 || len(endpoints) != 1 || endpoints[0] != page+"/ahp" {
		t.Errorf("cookies %v, endpoints %v; want none, and the page's socket alone", e.cookies, e.endpoints)
	}
}

// cutListener can close all its connections, including hijacked ones.
type cutListener struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (l *cutListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		l.conns = append(l.conns, c)
		l.mu.Unlock()
	}
	return c, err
}

func (e *env) serve(t testing.TB, ln net.Listener) {
	cut := &cutListener{Listener: ln}
	e.mu.Lock()
	e.ln = cut
	e.mu.Unlock()
	done := make(chan struct{})
	go func() { defer close(done); _ = http.Serve(cut, e.front) }()
	t.Cleanup(func() { e.gone(); <-done })
}

// gone closes the listener and all connections.
func (e *env) gone() {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.ln.Close()
	e.ln.mu.Lock()
	defer e.ln.mu.Unlock()
	for _, c := range e.ln.conns {
		_ = c.Close()
	}
}

// back listens again at the same address.
func (e *env) back(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", e.addr)
	if err != nil {
		t.Fatal(err)
	}
	e.serve(t, ln)
}
