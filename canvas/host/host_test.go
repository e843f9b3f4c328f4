package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

// serve runs a host on a real port until the test ends.
func serve(t testing.TB, opts host.Options, set ...canvas.Declaration) (*host.Host, func() error) {
	t.Helper()
	h, err := host.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(set) > 0 {
		if _, err := h.Canvases().Register(canvas.Extension{ID: "demo", Name: "Demo"}, demo{}, set...); err != nil {
			t.Fatal(err)
		}
	}
	return h, hosttest.Serve(t, h)
}

// httpClient returns an HTTP client whose idle connections are closed after the test.
func httpClient(t testing.TB) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Every endpoint checks name, origin, token and role, in this order.
func TestEndpoints(t *testing.T) {
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken})
	page := h.Endpoints().Page
	content := strings.Replace(page, "localhost", "c-0123456789abcdef0123456789abcdef.localhost", 1)
	for _, tc := range []struct {
		name, url string
		header    http.Header
		hostName  string
		want      int
	}{
		{"page", page, nil, "", 200},
		{"health", page + "healthz", nil, "", 200},
		{"unknown path", page + "nothing", nil, "", 404},
		{"unknown host", page, nil, "evil.example", 421},
		{"unknown host, with a token", page + "mcp", http.Header{"Authorization": {"Bearer " + agentToken}}, "evil.example", 421},
		{"foreign origin", page + "ahp", http.Header{"Origin": {"https://evil.example"}, "Authorization": {"Bearer " + viewToken}}, "", 403},
		{"null origin", page + "ahp", http.Header{"Origin": {"null"}, "Authorization": {"Bearer " + viewToken}}, "", 403},
		{"content origin", page + "ahp", http.Header{"Origin": {strings.TrimSuffix(content, "/")}, "Authorization": {"Bearer " + viewToken}}, "", 403},
		{"an editor's origin", page + "ahp", http.Header{"Origin": {host.EditorOrigin}, "Authorization": {"Bearer " + viewToken}}, "", 400},
		{"an editor's origin without a token", page + "ahp", http.Header{"Origin": {host.EditorOrigin}}, "", 401},
		{"an editor's origin at MCP", page + "mcp", http.Header{"Origin": {host.EditorOrigin}, "Authorization": {"Bearer " + agentToken}}, "", 403},
		{"AHP at the root without a token", page, http.Header{"Upgrade": {"websocket"}, "Connection": {"upgrade"}}, "", 401},
		{"AHP at the root from a foreign origin", page, http.Header{"Upgrade": {"websocket"}, "Connection": {"upgrade"}, "Origin": {"https://evil.example"}, "Authorization": {"Bearer " + viewToken}}, "", 403},
		{"AHP at the root of a content host", content, http.Header{"Upgrade": {"websocket"}, "Connection": {"upgrade"}, "Authorization": {"Bearer " + viewToken}}, "", 421},
		{"AHP without a token", page + "ahp", nil, "", 401},
		{"AHP with a wrong token", page + "ahp", http.Header{"Authorization": {"Bearer wrong"}}, "", 401},
		{"AHP without an upgrade", page + "ahp", http.Header{"Authorization": {"Bearer " + viewToken}}, "", 400},
		{"AHP by query", page + "ahp?tkn=" + viewToken, nil, "", 400},
		{"MCP without a token", page + "mcp", nil, "", 401},
		{"MCP with the view token", page + "mcp", http.Header{"Authorization": {"Bearer " + viewToken}}, "", 403},
		{"a frame file", content + ".ahp/frame.html", nil, "", 200},
		{"AHP on a content host", content + "ahp", http.Header{"Authorization": {"Bearer " + viewToken}}, "", 404},
		{"MCP on a content host", content + "mcp", http.Header{"Authorization": {"Bearer " + agentToken}}, "", 404},
		{"health on a content host", content + "healthz", nil, "", 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, _ := http.NewRequestWithContext(t.Context(), "GET", tc.url, nil)
			req.Header = tc.header
			if tc.hostName != "" {
				req.Host = tc.hostName
			}
			resp, err := httpClient(t).Do(localhost(req))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tc.want {
				body, _ := io.ReadAll(resp.Body)
				t.Errorf("status %d, want %d: %s", resp.StatusCode, tc.want, body)
			}
		})
	}
}

// TestEditorsElsewhere: beyond loopback the origin of editors is one that Options.Origins
// has to name.
func TestEditorsElsewhere(t *testing.T) {
	for want, origins := range map[int][]string{
		403: {"https://canvas.example"},
		400: {"https://canvas.example", host.EditorOrigin},
	} {
		h, err := host.New(host.Options{ViewToken: viewToken, Origins: origins})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		req := httptest.NewRequest("GET", "https://canvas.example/ahp", nil)
		req.Header = http.Header{"Origin": {host.EditorOrigin}, "Authorization": {"Bearer " + viewToken}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("with %v: status %d, want %d", origins, w.Code, want)
		}
	}
}

// A host with Origins is behind a proxy, which logs URLs: it accepts no token in one.
func TestNoQueryTokenBehindAProxy(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{ViewToken: viewToken, Origins: []string{"https://canvas.example"}})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.ServeOn(t, h, ln)
	for _, name := range []string{"canvas.example", ln.Addr().String()} {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+ln.Addr().String()+"/ahp?tkn="+viewToken, nil)
		req.Host = name
		resp, err := httpClient(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: status %d, want 401", name, resp.StatusCode)
		}
	}
}

// localhost sends a request for a name below localhost to 127.0.0.1: not every resolver
// knows such names.
func localhost(req *http.Request) *http.Request {
	if req.Host == "" {
		req.Host = req.URL.Host
	}
	req.URL.Host = "127.0.0.1:" + req.URL.Port()
	return req
}

// Another implementation of MCP drives the host over real HTTP.
func TestForeignAgent(t *testing.T) {
	h, stop := serve(t, host.Options{}, demoDeclaration)
	session := agent(t, h)
	opened := call(t, session, "open_canvas", map[string]any{"canvasId": "counter", "instanceId": "c1", "input": map[string]any{"start": 40}})
	if opened["availability"] != "ready" || opened["title"] != "Counter 40" {
		t.Errorf("opened %v", opened)
	}
	if link, _ := opened["link"].(string); !strings.HasPrefix(link, h.Endpoints().Page+"#") {
		t.Errorf("the link for the person is %q", link)
	}
	invoked := call(t, session, "invoke_canvas_action", map[string]any{"instanceId": "c1", "actionName": "add", "input": map[string]any{"by": 2}})
	if fmt.Sprint(invoked["value"]) != "map[n:42]" {
		t.Errorf("invoked %v", invoked)
	}
	call(t, session, "close_canvas", map[string]any{"instanceId": "c1"})
	if open := call(t, session, "list_open_canvases", nil); fmt.Sprint(open) != "map[openCanvases:[]]" {
		t.Errorf("still open: %v", open)
	}
	session.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func agent(t testing.TB, h *host.Host) *mcp.ClientSession {
	t.Helper()
	_, token := h.Tokens()
	c := httpClient(t)
	c.Transport = bearer{token, c.Transport}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "foreign"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.Endpoints().MCP, HTTPClient: c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func call(t testing.TB, s *mcp.ClientSession, tool string, args map[string]any) map[string]any {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || result.IsError {
		t.Fatalf("%s: %v %v", tool, err, result)
	}
	raw, _ := json.Marshal(result.StructuredContent)
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%s: %s: %v", tool, raw, err)
	}
	return m
}

// dial opens an AHP connection and completes the handshake.
func dial(t testing.TB, h *host.Host, clientID string, subscriptions ...string) *ws.Conn {
	t.Helper()
	view, _ := h.Tokens()
	c, err := ws.Dial(t.Context(), h.Endpoints().AHP, ws.DialOptions{Token: view})
	if err != nil {
		t.Fatal(err)
	}
	patience := time.AfterFunc(3*time.Minute, func() { c.Close(ws.CodeNormal, "the test has hung") })
	t.Cleanup(func() { patience.Stop(); c.Close(ws.CodeNormal, ""); c.Wait() })
	c.SetReadLimit(64 << 20)
	subs := ahp.MustMarshal(append([]string{}, subscriptions...))
	send(t, c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientId":"`+clientID+`","protocolVersions":["0.6.0"],"capabilities":{"canvas":{}},"initialSubscriptions":`+string(subs)+`}}`)
	receive(t, c)
	return c
}

func send(t testing.TB, c *ws.Conn, frame string) {
	t.Helper()
	if err := c.WriteBatch([][]byte{[]byte(frame)}); err != nil {
		t.Fatal(err)
	}
}

func receive(t testing.TB, c *ws.Conn) string {
	t.Helper()
	msg, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return string(msg)
}

// No log line contains a token, an address or a payload.
func TestNothingSecretIsLogged(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	h, stop := serve(t, host.Options{
		ViewToken: "secret-view", AgentToken: "secret-agent",
		Logger: slog.New(slog.NewJSONHandler(writer(func(b []byte) { mu.Lock(); defer mu.Unlock(); log.Write(b) }), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, demoDeclaration)
	get := func(url string, header http.Header) {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		req.Header = header
		if resp, err := httpClient(t).Do(req); err == nil {
			resp.Body.Close()
		}
	}
	get(h.Endpoints().Page+"ahp?tkn=secret-wrong", nil)
	get(h.Endpoints().MCP, http.Header{"Authorization": {"Bearer secret-view"}})
	c := dial(t, h, "secret-client", host.DefaultSession)
	session := agent(t, h)
	call(t, session, "open_canvas", map[string]any{"canvasId": "counter", "instanceId": "c1"})
	for _, action := range []string{"fail", "say"} {
		session.CallTool(t.Context(), &mcp.CallToolParams{Name: "invoke_canvas_action", Arguments: map[string]any{
			"instanceId": "c1", "actionName": action, "input": map[string]any{"text": "secret-payload"},
		}})
	}
	send(t, c, `{"jsonrpc":"2.0","id":1,"method":"resourceRead","params":{"uri":"ahp-canvas-content:/secret-path"}}`)
	send(t, c, `{"jsonrpc":"2.0","id":2,"method":"secret-method","params":["secret-params"]}`)
	send(t, c, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"secret":"secret-notification"}}`)
	send(t, c, `secret garbage`)
	for !strings.Contains(receive(t, c), "-32700") { // the answer to the last message
	}
	session.Close()
	stop()
	if log.Len() == 0 {
		t.Fatal("nothing was logged, so the test checks nothing")
	}
	for line := range strings.Lines(log.String()) {
		for _, secret := range []string{"secret-view", "secret-agent", "secret-wrong", "secret-p", "secret-notification", "garbage", "://", "ahp-canvas-content"} {
			if strings.Contains(line, secret) {
				t.Errorf("%q in the log: %s", secret, line)
			}
		}
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// A drain answers accepted requests, and closes connections with a reason.
func TestDrainAnswersWhatWasAccepted(t *testing.T) {
	release := make(chan struct{})
	entered := make(chan struct{})
	h, stop := serve(t, host.Options{})
	slow := canvas.Declaration{CanvasID: "slow", DisplayName: "Slow", Description: "Opens when the test permits it."}
	_, err := h.Canvases().Register(canvas.Extension{ID: "slow"}, openFunc(func(ctx context.Context, req canvas.OpenRequest, hd *canvas.Handle) (canvas.Opened, error) {
		close(entered)
		<-release
		return demo{}.Open(ctx, req, hd)
	}), slow)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, h, "c1", host.DefaultSession)
	session := agent(t, h)
	answered := make(chan *mcp.CallToolResult, 1)
	go func() {
		result, _ := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "open_canvas", Arguments: map[string]any{"canvasId": "slow", "instanceId": "s1"}})
		answered <- result
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	refused := func() bool { // the drain has begun when new connections fail
		resp, err := httpClient(t).Get(h.Endpoints().Page + "healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err != nil
	}
	for deadline := time.Now().Add(5 * time.Second); !refused(); {
		if time.Now().After(deadline) {
			t.Fatal("the host still accepts connections")
		}
	}
	close(release)
	if result := <-answered; result == nil || result.IsError {
		t.Errorf("the active open was answered with %v", result)
	}
	for {
		if _, err := c.ReadMessage(); err != nil {
			if code := ws.CodeOf(err); code != ws.CodeGoingAway {
				t.Errorf("closed with %d, want %d", code, ws.CodeGoingAway)
			}
			break
		}
	}
	session.Close()
	if err := <-stopped; err != nil {
		t.Errorf("drain: %v", err)
	}
}

type openFunc func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error)

func (f openFunc) Open(ctx context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	return f(ctx, req, h)
}
