package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// post sends one message without the MCP library.
func post(t *testing.T, url, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	return send(t, http.MethodPost, url, body, header...)
}

// send sends one request; header contains names and values in turn.
func send(t *testing.T, method, url, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer), resp.Header
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

func serve(t *testing.T, opts mcp.Options) string {
	t.Helper()
	return listen(t, mcp.Handler(mcp.New(newFake(), opts))).URL
}

func TestRefusals(t *testing.T) {
	server := mcp.New(newFake(), mcp.Options{MaxBody: 1000, MaxSessions: 1})
	url := listen(t, mcp.Handler(server)).URL
	for _, tc := range []struct {
		name, body string
		header     []string
		want       int
	}{
		{"another web origin", initialize, []string{"Origin", "http://evil.example"}, http.StatusForbidden},
		{"a null origin", initialize, []string{"Origin", "null"}, http.StatusForbidden},
		{"another name of loopback", initialize, []string{"Host", "evil.example"}, http.StatusForbidden},
		{"a large body", initialize + strings.Repeat(" ", 1000), nil, http.StatusRequestEntityTooLarge},
		{"a session that is not there", initialize, []string{"Mcp-Session-Id", "x"}, http.StatusNotFound},
		{"the first session", initialize, nil, http.StatusOK},
		{"one session too many, which replaces the first", initialize, nil, http.StatusOK},
		{"a single request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{"Mcp-Protocol-Version", "2026-07-28"}, http.StatusBadRequest},
	} {
		if got, answer, _ := post(t, url, tc.body, tc.header...); got != tc.want {
			t.Errorf("%s: status %d, want %d: %s", tc.name, got, tc.want, answer)
		}
	}
	if err := server.Shutdown(t.Context()); err != nil { // refused calls are not active
		t.Error(err)
	}
}

func TestHostChecked(t *testing.T) {
	url := serve(t, mcp.Options{HostChecked: true})
	if got, answer, _ := post(t, url, initialize, "Host", "canvas.example", "Origin", "https://canvas.example"); got != http.StatusOK {
		t.Errorf("status %d: %s", got, answer)
	}
}

// The digits of a client's numbers are unchanged in the answer.
func TestDigitsOnTheWire(t *testing.T) {
	url := serve(t, mcp.Options{})
	_, _, header := post(t, url, initialize)
	status, answer, _ := post(t, url,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke_canvas_action","arguments":{"instanceId":"c","actionName":"add","input":{"n":1e400,"m":0.10000000000000000001}}}}`,
		"Mcp-Session-Id", header.Get("Mcp-Session-Id"))
	if want := `"structuredContent":{"value":{"n":1e400,"m":0.10000000000000000001}}`; status != http.StatusOK || !strings.Contains(answer, want) {
		t.Errorf("status %d, %s: want something with %s", status, answer, want)
	}
}

// ask sends one request of a session without a socket, which would stop a fake clock.
func ask(t *testing.T, server http.Handler, body, session string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w
}

// A session ends after its timeout without a request; each request restarts the
// timeout.
func TestSessionTimeout(t *testing.T) {
	for given, timeout := range map[time.Duration]time.Duration{0: 30 * time.Minute, time.Minute: time.Minute} {
		synctest.Test(t, func(t *testing.T) { testSessionTimeout(t, mcp.Options{SessionTimeout: given}, timeout) })
	}
}

func testSessionTimeout(t *testing.T, opts mcp.Options, timeout time.Duration) {
	server := mcp.New(newFake(), opts)
	handler := mcp.Handler(server)
	session := ask(t, handler, initialize, "").Header().Get("Mcp-Session-Id")
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for _, step := range []struct {
		wait time.Duration
		want int
	}{
		{timeout - time.Nanosecond, http.StatusOK},
		{timeout - time.Nanosecond, http.StatusOK},
		{timeout, http.StatusNotFound},
	} {
		<-time.After(step.wait)
		synctest.Wait() // what the session's own timer does is done
		if got := ask(t, handler, ping, session); got.Code != step.want {
			t.Errorf("after %v: status %d, want %d: %s", step.wait, got.Code, step.want, got.Body)
		}
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// A client's cancellation ends the flow, on each transport.
func TestCancel(t *testing.T) {
	testCanceled(t, mcp.ToolInvoke, `{"instanceId":"c","actionName":"wait"}`)
}

// testCanceled cancels a call: it ends for the caller and in the service.
func testCanceled(t *testing.T, tool, args string) {
	for name, connect := range ways {
		t.Run(name, func(t *testing.T) {
			service := newFake()
			begun, ended := service.hold()
			c := connect(t, mcp.New(service, mcp.Options{}))
			ctx, cancel := context.WithCancel(t.Context())
			answered := calling(ctx, c, tool, args)
			<-begun
			cancel()
			if err := <-answered; !errors.Is(err, context.Canceled) {
				t.Errorf("the caller got %v", err)
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the service got %v", err)
			}
		})
	}
}

// Accepted calls are answered before the server closes.
func TestShutdownAnswers(t *testing.T) {
	for name, connect := range ways {
		t.Run(name, func(t *testing.T) {
			service := newFake()
			begun, proceed := make(chan struct{}), make(chan struct{})
			service.block = func(context.Context) error { close(begun); <-proceed; return nil }
			server := mcp.New(service, mcp.Options{})
			c := connect(t, server)
			answered := calling(t.Context(), c, mcp.ToolInvoke, `{"instanceId":"c","actionName":"wait"}`)
			<-begun
			closed := make(chan error, 1)
			go func() { closed <- server.Shutdown(t.Context()) }()
			for handler := mcp.Handler(server); ; { // until it refuses: then it waits for the call
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
				if w.Code == http.StatusServiceUnavailable {
					break
				}
			}
			select {
			case <-closed:
				t.Error("closed under a call")
			default:
			}
			close(proceed)
			if err := <-answered; err != nil {
				t.Errorf("the call got %v", err)
			}
			if err := <-closed; err != nil {
				t.Errorf("Shutdown: %v", err)
			}
		})
	}
}

// A call that does not end is canceled when the drain timeout is over.
func TestShutdownCancels(t *testing.T) {
	service := newFake()
	begun, _ := service.hold()
	server := mcp.New(service, mcp.Options{})
	c := ways["in memory"](t, server)
	calling(t.Context(), c, mcp.ToolInvoke, `{"instanceId":"c","actionName":"wait"}`)
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestShutdownRefuses(t *testing.T) {
	server := mcp.New(newFake(), mcp.Options{})
	url := listen(t, mcp.Handler(server)).URL
	if err := server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, _, header := post(t, url, initialize); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("status %d, %v", status, header)
	}
}
