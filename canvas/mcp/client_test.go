package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// guarded is a server behind a token check, like in canvas/host.
func guarded(t *testing.T, service mcp.Service) *httptest.Server {
	t.Helper()
	server := mcp.Handler(mcp.New(service, mcp.Options{Version: "1.2.3"}))
	return listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame" {
			http.Error(w, "a valid token is needed", http.StatusUnauthorized)
			return
		}
		server.ServeHTTP(w, r)
	}))
}

func TestClient(t *testing.T) {
	srv := guarded(t, newFake())
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: srv.URL, Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Call(t.Context(), mcp.ToolInvoke, ahp.Value(`{"instanceId":"c","actionName":"a","input":{"n":9007199254740993}}`))
	if err != nil || string(got) != `{"value":{"n":9007199254740993}}` {
		t.Errorf("%s, %v", got, err)
	}
	_, err = c.Call(t.Context(), mcp.ToolClose, ahp.Value(`{"instanceId":"c"}`))
	want := &canvas.Error{Code: canvas.CodeInstanceNotFound, Message: `no canvas "c" is open`}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Error(diff)
	}
}

func TestDialFails(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	other := listen(t, http.NotFoundHandler())
	full := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	for _, tc := range []struct{ url, token, code, text string }{
		{guarded(t, newFake()).URL, "wrong", mcp.CodeTokenRefused, "token"},
		{gone.URL, "sesame", mcp.CodeUnreachable, "refused"},
		{other.URL, "sesame", mcp.CodeUnreachable, "not a canvas host"},
		{full.URL, "sesame", mcp.CodeUnreachable, "too many"},
	} {
		_, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: tc.url, Token: tc.token})
		e, ok := errors.AsType[*canvas.Error](err)
		if !ok || e.Code != tc.code || !strings.Contains(e.Message, tc.text) || strings.Contains(e.Message, tc.token) {
			t.Errorf("%v, want %s with %q", err, tc.code, tc.text)
		}
	}
}

// A client begins a new session if the host no longer knows it, or was unreachable: an
// agent's proxy survives a restart of the host.
func TestClientBeginsNewSession(t *testing.T) {
	service := newFake()
	first := guarded(t, service)
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: first.URL, Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list := func() error { _, err := c.Call(t.Context(), mcp.ToolList, nil); return err }

	first.Config.Handler = guarded(t, service).Config.Handler // it knows no session of the old one
	if err := list(); err != nil {
		t.Errorf("forgotten: %v", err)
	}
	address := first.Listener.Addr().String()
	first.CloseClientConnections()
	first.Close()
	if err := list(); !errors.Is(err, &canvas.Error{Code: mcp.CodeUnreachable}) {
		t.Errorf("away: %v", err)
	}
	if err := list(); !errors.Is(err, &canvas.Error{Code: mcp.CodeUnreachable}) {
		t.Errorf("still away: %v", err)
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	again := &http.Server{Handler: guarded(t, service).Config.Handler}
	go again.Serve(ln)
	t.Cleanup(func() { again.Close() })
	if err := list(); err != nil {
		t.Errorf("back: %v", err)
	}
}

// An agent's proxy survives its host, and does not send the token to another program
// that takes over the host's port.
func TestTokenIsNotSentToAnotherProgram(t *testing.T) {
	server := guarded(t, newFake()).Config.Handler
	var gone atomic.Bool
	var mu sync.Mutex
	var seen []string // by the stranger
	srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case gone.Load():
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprint(r.URL.Path, r.Header))
		case r.URL.Path == proof.Path:
			fmt.Fprintln(w, proof.Of("sesame", q.Get("at"), q.Get("nonce")))
		default:
			server.ServeHTTP(w, r)
		}
	}))
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: srv.URL + "/mcp", Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list := func() error { _, err := c.Call(t.Context(), mcp.ToolList, nil); return err }
	gone.Store(true)
	srv.CloseClientConnections()
	_ = list() // perhaps on the connection that has just ended
	for range 2 {
		if err := list(); err == nil || !strings.Contains(err.Error(), "not the host that was there before") {
			t.Errorf("the call: %v", err)
		}
	}
	mu.Lock()
	if saw := strings.Join(seen, "\n"); strings.Contains(saw, "sesame") || !strings.Contains(saw, proof.Path) {
		t.Errorf("the stranger saw\n%s", saw)
	}
	mu.Unlock()
	gone.Store(false)
	if err := list(); err != nil {
		t.Errorf("back: %v", err)
	}
}

// An unexpected refusal ends the session, and so can an incomplete answer; the next
// call begins a new one.
func TestClientSurvives(t *testing.T) {
	service := newFake()
	var abort, refuse atomic.Bool
	server := guarded(t, service).Config.Handler
	srv := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if abort.CompareAndSwap(true, false) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		if refuse.CompareAndSwap(true, false) {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		server.ServeHTTP(w, r)
	}))
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: srv.URL, Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, mishap := range []*atomic.Bool{&abort, &refuse} {
		mishap.Store(true)
		if _, err := c.Call(t.Context(), mcp.ToolList, nil); !errors.Is(err, &canvas.Error{Code: mcp.CodeUnreachable}) {
			t.Errorf("the call: %v", err)
		}
		if _, err := c.Call(t.Context(), mcp.ToolList, nil); err != nil {
			t.Errorf("the next call: %v", err)
		}
	}
}

// A client does not follow redirects, so the token does not reach another host.
func TestNoRedirects(t *testing.T) {
	asked := false
	elsewhere := listen(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	srv := listen(t, http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	_, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: srv.URL, Token: "sesame"})
	if !errors.Is(err, &canvas.Error{Code: mcp.CodeUnreachable}) || asked {
		t.Errorf("%v, asked %v", err, asked)
	}
}

// An agent on standard streams works with a host elsewhere like with a local one, and
// gets an error when the host is unreachable.
func TestProxy(t *testing.T) {
	service := newFake()
	srv := guarded(t, service)
	remote, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: srv.URL, Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	toProxy, agentOut := io.Pipe()
	agentIn, fromProxy := io.Pipe()
	ended := make(chan error, 1)
	proxy, err := remote.Proxy(t.Context(), mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- proxy.ServeStdio(t.Context(), toProxy, fromProxy) }()
	agent := enter(t, &sdk.IOTransport{Reader: agentIn, Writer: agentOut}, "")

	if host := agent.InitializeResult(); host.ServerInfo.Version != "1.2.3" || host.Instructions == "" {
		t.Errorf("the agent sees %+v", host.ServerInfo)
	}
	r := call(t, agent, mcp.ToolInvoke, `{"instanceId":"c","actionName":"a","input":{"n":9007199254740993}}`)
	if got := structured(t, r); got != `{"value":{"n":9007199254740993}}` {
		t.Error(got)
	}
	if e := mcp.Failure(call(t, agent, mcp.ToolOpen, `{}`)); e == nil || e.Path != "/canvasId" {
		t.Errorf("%+v", e)
	}
	srv.CloseClientConnections()
	srv.Close()
	r = call(t, agent, mcp.ToolList, `{}`)
	if e := mcp.Failure(r); e == nil || e.Code != mcp.CodeUnreachable {
		t.Errorf("%+v", e)
	}
	if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, "may have been done anyway") {
		t.Errorf("the model reads %q", text)
	}
	agent.Close()
	if err := <-ended; err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// serveStdio serves an agent's pipe; ended returns how that ended.
func serveStdio(ctx context.Context, service mcp.Service) (agent *sdk.IOTransport, ended <-chan error) {
	in, agentOut := io.Pipe()
	agentIn, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- mcp.New(service, mcp.Options{}).ServeStdio(ctx, in, out) }()
	return &sdk.IOTransport{Reader: agentIn, Writer: agentOut}, done
}

func TestServeStdio(t *testing.T) {
	pipe, ended := serveStdio(t.Context(), newFake())
	agent := enter(t, pipe, "")
	call(t, agent, mcp.ToolOpen, `{"canvasId":"counter"}`)
	agent.Close()
	if err := <-ended; err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// On shutdown, the active call is answered first.
func TestServeStdioDrains(t *testing.T) {
	service := newFake()
	begun, proceed := make(chan struct{}), make(chan struct{})
	service.block = func(context.Context) error { close(begun); <-proceed; return nil }
	ctx, stop := context.WithCancel(t.Context())
	pipe, ended := serveStdio(ctx, service)
	agent := enter(t, pipe, "")
	answered := calling(t.Context(), agent, mcp.ToolInvoke, `{"instanceId":"c","actionName":"wait"}`)
	<-begun
	stop()
	close(proceed)
	if err := <-answered; err != nil {
		t.Errorf("the call got %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// The token reaches only the host, whatever proxy the environment names.
func TestClientUsesNoProxy(t *testing.T) {
	asked := ahptest.WatchProxyLookups(t)
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: guarded(t, newFake()).URL, Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if asked() {
		t.Error("it looked for a proxy")
	}
}
