package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }

// stage is a host with a board and a web app, and an editor of AHP 1.0 connected to it.
type stage struct {
	t    *testing.T
	host *host.Host
	addr string
	app  *httptest.Server
	reg  canvas.Registration
	log  safeBuffer
	http *http.Client
	*editor
}

// safeBuffer collects what the host logs.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newStage(t *testing.T, app http.Handler, more ...func(*host.Options)) *stage {
	t.Helper()
	s := &stage{t: t, app: httptest.NewServer(app)}
	t.Cleanup(s.app.Close)
	var err error
	opts := host.Options{ViewToken: "view-token", Logger: slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, change := range more {
		change(&opts)
	}
	s.host, err = host.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	p, err := loopback.New("app", s.app.URL+"/start?x=1", loopback.Options{Probe: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if s.reg, err = s.host.Add(p); err != nil {
		t.Fatal(err)
	}
	if _, err := s.host.Add(board.New()); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = ln.Addr().String()
	hosttest.ServeOn(t, s.host, ln)
	transport := &http.Transport{DialContext: s.dial}
	s.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(transport.CloseIdleConnections)
	s.editor = newEditorAt(t, s.host.Endpoints().AHP, ws.DialOptions{Token: "view-token", NetDial: s.dial}, `{"clientId":"editor","protocolVersions":["1.0.0"]}`)
	return s
}

// dial connects to the host, whatever the name: not every resolver knows names below
// localhost.
func (s *stage) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, s.addr)
}

// open opens a canvas and returns its address.
func (s *stage) open(id string) string {
	s.t.Helper()
	opened, err := s.host.Canvases().Open(s.t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: id, InstanceID: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.subscribe(opened.Channel)
}

// do sends a request with headers, given in pairs.
func (s *stage) do(method, address string, body io.Reader, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, address, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(text)
}

// enter exchanges an address for a cookie, and returns the address that it leads to.
func (s *stage) enter(address string) (at, cookie string) {
	s.t.Helper()
	res, body := s.do("GET", address, nil)
	if res.StatusCode != http.StatusSeeOther || len(res.Header["Set-Cookie"]) != 2 {
		s.t.Fatalf("%d %v %s", res.StatusCode, res.Header, body)
	}
	to, err := res.Location()
	if err != nil {
		s.t.Fatal(err)
	}
	cookie, _, _ = strings.Cut(res.Header.Get("Set-Cookie"), ";")
	return to.String(), cookie
}

// editor is a client, of AHP 1.0 in most tests.
type editor struct {
	t    *testing.T
	conn *ws.Conn
	id   int
	urls map[string]string // of canvases, by channel
}

func newEditor(t *testing.T, address, initialize string) *editor {
	t.Helper()
	return newEditorAt(t, address, ws.DialOptions{Token: "view-token"}, initialize)
}

func newEditorAt(t *testing.T, address string, how ws.DialOptions, initialize string) *editor {
	t.Helper()
	conn, err := ws.Dial(t.Context(), address, how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ws.CodeNormal, ""); conn.Wait() })
	conn.SetReadLimit(1 << 20)
	e := &editor{t: t, conn: conn, urls: map[string]string{}}
	e.call("initialize", initialize)
	return e
}

// call sends a request and returns its result.
func (e *editor) call(method, params string) ahp.Value {
	e.t.Helper()
	e.id++
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.id, method, params)
	if err := e.conn.WriteBatch([][]byte{[]byte(text)}); err != nil {
		e.t.Fatal(err)
	}
	for {
		if m := e.next(); m.ID == e.id {
			return m.Result
		}
	}
}

type message struct {
	ID     int                `json:"id,omitzero"`
	Result ahp.Value          `json:"result,omitzero"`
	Params ahp.ActionEnvelope `json:"params,omitzero"`
	Rest   ahp.Value          `json:",embed"`
}

// next reads a message, and keeps the addresses that it has.
func (e *editor) next() (m message) {
	e.t.Helper()
	raw, err := e.conn.ReadMessage()
	if err != nil {
		e.t.Fatal(err)
	}
	var head struct {
		Method string    `json:"method,omitzero"`
		Rest   ahp.Value `json:",embed"`
	}
	if ahp.Unmarshal(raw, &head) != nil || head.Method != "" && head.Method != "action" {
		return m
	}
	if err := ahp.Unmarshal(raw, &m); err != nil {
		e.t.Fatalf("%v: %s", err, raw)
	}
	var a struct {
		Type   string `json:"type"`
		Canvas struct {
			URL  string    `json:"url,omitzero"`
			Rest ahp.Value `json:",embed"`
		} `json:"canvas,omitzero"`
		URL  string    `json:"url,omitzero"` // of canvas/updated
		Rest ahp.Value `json:",embed"`
	}
	if m.Params.Action != nil && ahp.Unmarshal(m.Params.Action, &a) == nil && a.Type == "canvas/stateChanged" {
		e.urls[m.Params.Channel] = a.Canvas.URL
	} else if a.URL != "" {
		e.urls[m.Params.Channel] = a.URL
	}
	return m
}

// subscribe returns the address of a canvas.
func (e *editor) subscribe(channel string) string {
	e.t.Helper()
	var r struct {
		Snapshot struct {
			State struct {
				URL  string    `json:"url,omitzero"`
				Rest ahp.Value `json:",embed"`
			} `json:"state"`
			Rest ahp.Value `json:",embed"`
		} `json:"snapshot"`
	}
	if err := ahp.Unmarshal(e.call("subscribe", `{"channel":"`+channel+`"}`), &r); err != nil {
		e.t.Fatal(err)
	}
	e.urls[channel] = r.Snapshot.State.URL
	return r.Snapshot.State.URL
}

// await reads until a canvas has an address, or none.
func (e *editor) await(channel string, has bool) string {
	e.t.Helper()
	for (e.urls[channel] != "") != has {
		e.next()
	}
	return e.urls[channel]
}

// app is a web app with everything that a canvas can need.
func app() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/start", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "login", Value: "s", Path: "/"})
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Link", "<https://evil.example>; rel=preconnect")
		w.Header().Set("Content-Security-Policy", "script-src 'nonce-abc'; frame-ancestors 'none'")
		fmt.Fprintf(w, "<!doctype html><p>%s %s %s", r.Method, r.URL.RawQuery, r.Host)
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %d cookie=%q origin=%s x=%s", r.Method, len(body), r.Header.Get("Cookie"), r.Header.Get("Origin"), r.Header.Get("X-Mine"))
	})
	mux.Handle("/away", http.RedirectHandler("/start", http.StatusFound))
	mux.Handle("/evil", http.RedirectHandler("https://evil.example/", http.StatusFound))
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, http.Header{"Set-Cookie": {"sock=1"}}) // it checks that Origin is its own Host
		if err != nil {
			return
		}
		defer c.Close()
		for {
			kind, text, err := c.ReadMessage()
			if err != nil || c.WriteMessage(kind, text) != nil {
				return
			}
		}
	})
	return mux
}

// TestAddress: only who has the secret of a canvas, or its cookie, sees it, and only under
// its name.
func TestAddress(t *testing.T) {
	s := newStage(t, app())
	app, board := s.open("app"), s.open("board")
	at, cookie := s.enter(app)
	u, _ := url.Parse(at)
	if !strings.HasPrefix(u.Host, "g-") || !strings.HasSuffix(u.Hostname(), ".localhost") || at != u.Scheme+"://"+u.Host+"/start?x=1" {
		t.Fatalf("it is at %s", at)
	}
	_, other := s.enter(board)
	_, secret, _ := strings.Cut(app, "~t=")
	for _, tc := range []struct {
		name   string
		at     string
		want   int
		header []string
	}{
		{"nothing", at, 401, nil},
		{"the cookie", at, 200, []string{"Cookie", cookie}},
		{"the cookie among others", at, 200, []string{"Cookie", "a=b; " + cookie + "; c=d"}},
		{"another canvas's cookie", at, 401, []string{"Cookie", other}},
		{"a wrong secret", strings.Replace(app, secret, strings.Repeat("A", 43), 1), 401, nil},
		{"a wrong secret with the cookie", strings.Replace(app, secret, "x", 1), 401, []string{"Cookie", cookie}},
		{"the secret of another canvas", at + "&~t=" + board[strings.Index(board, "~t=")+3:], 401, nil},
		{"the secret again", app, 303, nil},
		{"an unknown label", strings.Replace(at, "g-", "g-"+strings.Repeat("0", 32), 1)[:9] + strings.Repeat("0", 32) + at[strings.Index(at, ".localhost"):], 401, []string{"Cookie", cookie}},
		{"another port", at, 421, []string{"Cookie", cookie, "Host", "" + u.Hostname() + ":1"}},
		{"another name", at, 421, []string{"Cookie", cookie, "Host", "evil.example"}},
		{"a foreign page's fetch", at, 403, []string{"Cookie", cookie, "Origin", "https://evil.example"}},
		{"an opaque origin", at, 403, []string{"Cookie", cookie, "Origin", "null"}},
		{"a foreign image", at, 403, []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}},
		{"a neighbor's fetch", at, 403, []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}},
		{"an embedding page", at, 200, []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}},
		{"a service worker", at, 404, []string{"Cookie", cookie, "Service-Worker", "script"}},
		{"its script", u.Scheme + "://" + u.Host + "/.ahp/sw.js", 404, []string{"Cookie", cookie}},
	} {
		res, body := s.do("GET", tc.at, nil, tc.header...)
		if res.StatusCode != tc.want {
			t.Errorf("%s: %d %.100s, want %d", tc.name, res.StatusCode, body, tc.want)
		}
		if policy := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "frame-ancestors") {
			t.Errorf("%s: the policy is %q", tc.name, policy)
		}
	}
	if res, _ := s.do("POST", app, nil); res.StatusCode != 401 {
		t.Errorf("POST with the secret: %d", res.StatusCode)
	}
}

// TestApp: a web app has all of HTTP, and learns nothing of the gateway.
func TestApp(t *testing.T) {
	s := newStage(t, app())
	at, cookie := s.enter(s.open("app"))
	own := s.app.URL
	_, port, _ := strings.Cut(own[len("http://"):], ":")
	res, body := s.do("GET", at, nil, "Cookie", cookie, "Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	if want := `<!doctype html><script nonce="abc" data-cookies="login=s" data-port="` + port + `" src="/.ahp/shim.js"></script><p>GET x=1 ` + own[len("http://"):]; body != want {
		t.Errorf("got %s, want %s", body, want)
	}
	for name, want := range map[string]string{"Set-Cookie": "", "X-Frame-Options": "", "Link": "", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Ahp-Port": ""} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if all := res.Header["Content-Security-Policy"]; len(all) != 2 || all[1] != "script-src 'nonce-abc'" {
		t.Errorf("policies: %q", all)
	}
	base := at[:strings.Index(at, "/start")]
	origin := base
	res, body = s.do("PUT", base+"/echo", strings.NewReader(strings.Repeat("x", 300_000)), "Cookie", cookie, "X-Mine", "yes", "Origin", origin)
	if want := `PUT 300000 cookie="login=s" origin=` + own + " x=yes"; res.StatusCode != http.StatusTeapot || body != want {
		t.Errorf("%d %s, want %s", res.StatusCode, body, want)
	}
	if res, _ := s.do("GET", base+"/away", nil, "Cookie", cookie); res.StatusCode != 302 || res.Header.Get("Location") != "/start" {
		t.Errorf("redirect: %d %s", res.StatusCode, res.Header.Get("Location"))
	}
	if res, body := s.do("GET", base+"/evil", nil, "Cookie", cookie); res.StatusCode != 502 || strings.Contains(body, "evil") {
		t.Errorf("redirect to another origin: %d %s", res.StatusCode, body)
	}
	dialer := websocket.Dialer{NetDialContext: s.dial}
	header := http.Header{"Cookie": {cookie}, "Origin": {origin}}
	conn, upgraded, err := dialer.DialContext(t.Context(), strings.Replace(base, "http", "ws", 1)+"/ws", header)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if upgraded.Header.Get("Set-Cookie") != "" || upgraded.Header.Get("X-Ahp-Port") != "" || upgraded.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("upgraded with %v", upgraded.Header)
	}
	if err := conn.WriteMessage(websocket.BinaryMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if kind, got, err := conn.ReadMessage(); err != nil || kind != websocket.BinaryMessage || string(got) != "hello" {
		t.Errorf("%d %q %v", kind, got, err)
	}
	header.Set("Origin", "https://evil.example")
	if _, refused, err := dialer.DialContext(t.Context(), strings.Replace(base, "http", "ws", 1)+"/ws", header); err == nil || refused.StatusCode != 403 {
		t.Errorf("a foreign page's socket: %v", err)
	}
	if err := s.host.Canvases().Close(t.Context(), host.DefaultSession, "app"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.ReadMessage(); err == nil {
		t.Error("the socket outlives its canvas")
	}
}

// TestLife: there is no address while a canvas is stale; afterwards, and after a close,
// the old one opens nothing.
func TestLife(t *testing.T) {
	s := newStage(t, app())
	first := s.open("app")
	at, cookie := s.enter(first)
	channel := ""
	for channel = range s.urls {
	}
	s.reg.SetReachable(false)
	s.await(channel, false)
	res, _ := s.do("GET", at, nil, "Cookie", cookie)
	if res.StatusCode != 401 || res.Header.Get("Clear-Site-Data") == "" {
		t.Errorf("while it is stale: %d %v", res.StatusCode, res.Header)
	}
	s.reg.SetReachable(true)
	second := s.await(channel, true)
	u1, _ := url.Parse(first)
	u2, _ := url.Parse(second)
	if u1.Host == u2.Host || u1.Query().Get("~t") == u2.Query().Get("~t") || u1.Path != u2.Path {
		t.Errorf("it was at %s, and is at %s", first, second)
	}
	if res, _ := s.do("GET", first, nil, "Cookie", cookie); res.StatusCode != 401 {
		t.Errorf("the old address: %d", res.StatusCode)
	}
	at, cookie = s.enter(second)
	if res, _ := s.do("GET", at, nil, "Cookie", cookie); res.StatusCode != 200 {
		t.Errorf("the new address: %d", res.StatusCode)
	}
	if err := s.host.Canvases().Close(t.Context(), host.DefaultSession, "app"); err != nil {
		t.Fatal(err)
	}
	if res, _ := s.do("GET", at, nil, "Cookie", cookie); res.StatusCode != 401 || !strings.Contains(res.Header.Get("Clear-Site-Data"), "storage") {
		t.Errorf("closed: %d %v", res.StatusCode, res.Header)
	}
	for _, address := range []string{first, second} {
		u, _ := url.Parse(address)
		for _, part := range []string{u.Hostname(), u.Query().Get("~t"), cookie[strings.Index(cookie, "=")+1:]} {
			if strings.Contains(s.log.String(), part) {
				t.Errorf("the log has %s", part)
			}
		}
	}
}

// TestContent: a canvas without a server is read, and its pages are Views.
func TestContent(t *testing.T) {
	s := newStage(t, app())
	at, cookie := s.enter(s.open("board"))
	res, body := s.do("GET", at, nil, "Cookie", cookie, "Sec-Fetch-Dest", "document")
	if res.StatusCode != 200 || !strings.Contains(body, `<script src="/.ahp/local.js"></script>`) {
		t.Fatalf("%d %.300s", res.StatusCode, body)
	}
	if res, _ := s.do("GET", at, nil, "Cookie", cookie, "If-None-Match", res.Header.Get("ETag")); res.StatusCode != 304 {
		t.Errorf("again: %d", res.StatusCode)
	}
	u, _ := url.Parse(at)
	base := "http://" + u.Host
	for path, want := range map[string]int{"/.ahp/canvas.js": 200, "/.ahp/local.js": 200, "/.ahp/view.js": 200, "/nothing": 404, "/%2e%2e/x": 404} {
		if res, body := s.do("GET", base+path, nil, "Cookie", cookie); res.StatusCode != want {
			t.Errorf("%s: %d %.80s", path, res.StatusCode, body)
		}
	}
	if res, _ := s.do("POST", at, nil, "Cookie", cookie); res.StatusCode != 501 {
		t.Errorf("POST: %d", res.StatusCode)
	}
}
