package actionsbridge_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// serve serves a bridge's door on a real listener.
func serve(t testing.TB, b *ab.Bridge) (addr string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	addr = srv.Listener.Addr().String()
	srv.Config.Handler = b.Handler(ab.DoorOptions{Hosts: []string{addr, "localhost"}, Token: "secret", Lookup: func(s string) bool { return s == "minted" }})
	srv.Start()
	t.Cleanup(srv.Close)
	t.Cleanup(b.Close)
	return addr
}

func dial(t testing.TB, addr, query string, h http.Header) (*websocket.Conn, int) {
	t.Helper()
	c, resp, err := websocket.DefaultDialer.DialContext(context.Background(), "ws://"+addr+"/extension"+query, h)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
		return c, 101
	}
	if resp == nil {
		t.Fatal(err)
	}
	return nil, resp.StatusCode
}

func origin(o string) http.Header { return http.Header{"Origin": {o}} }

// TestDoor: Host, then Origin null, then a wrong token, then a program without one.
func TestDoor(t *testing.T) {
	b := ab.New(ab.Options{Origins: []string{"https://known.example"}})
	addr := serve(t, b)
	for _, c := range []struct {
		name, query string
		header      http.Header
		want        int
	}{
		{"another Host", "", http.Header{"Host": {"evil.example"}, "Origin": {"null"}}, 421},
		{"a Host in other letters", "?tkn=secret", http.Header{"Host": {"LOCALHOST"}}, 421},
		{"Origin null", "?tkn=wrong", origin("null"), 403},
		{"Origin null, right token", "?tkn=secret", origin("null"), 403},
		{"wrong token", "?tkn=wrong", origin(shop.Origin), 401},
		{"empty token", "?tkn=", origin(shop.Origin), 401},
		{"program without token", "", nil, 401},
		{"program with token", "?tkn=secret", nil, 101},
		{"program with minted token", "?tkn=minted", nil, 101},
		{"program with bearer", "", http.Header{"Authorization": {"Bearer secret"}}, 101},
		{"program with wrong bearer", "", http.Header{"Authorization": {"Bearer x"}}, 401},
		{"page", "", origin(shop.Origin), 101},
		{"page with bearer", "", http.Header{"Origin": {shop.Origin}, "Authorization": {"Bearer x"}}, 101},
		{"extension", "", origin("chrome-extension://abc"), 101},
		{"known page", "", origin("https://known.example"), 101},
	} {
		if _, got := dial(t, addr, c.query, c.header); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for path, want := range map[string]int{"/extension": 426, "/other": 404, "/": 404, "/health": 200} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
		req.Header.Set("Authorization", "Bearer secret")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != want || want == 200 && string(body) != "{\"ok\":true}\n" {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not in 30 s: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// TestSocket calls a runtime over a real socket.
func TestSocket(t *testing.T) {
	b := ab.New(ab.Options{})
	addr := serve(t, b)
	c, _ := dial(t, addr, "?tkn=secret", nil)
	send := func(raw []byte) {
		if err := c.WriteMessage(websocket.TextMessage, raw); err != nil {
			t.Error(err)
		}
	}
	send(ready("r", "https://a.example/"))
	go func() {
		for {
			_, raw, err := c.ReadMessage()
			if err != nil {
				return
			}
			if item, _ := ab.DecodeItem(raw); item.Type == ab.TypeCall {
				send(output(item, `{"ok":true}`))
			}
		}
	}()
	eventually(t, "a runtime", func() bool { return len(b.Runtimes()) == 1 })
	v, err := b.Call(t.Context(), ab.Call{RuntimeID: "r", Name: "a"})
	if err != nil || string(v) != `{"ok":true}` {
		t.Errorf("%s %v", v, err)
	}
	_ = c.Close()
	eventually(t, "no runtime", func() bool { return len(b.Runtimes()) == 0 })
}

// TestCloseCodes: binary 1003, too large 1009, too many malformed items 1008, too many
// waiting pages 1013, the end 1001.
func TestCloseCodes(t *testing.T) {
	b := ab.New(ab.Options{Limits: ab.Limits{Waiting: 1}})
	addr := serve(t, b)
	closed := func(c *websocket.Conn) int {
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
		for {
			if _, _, err := c.ReadMessage(); err != nil {
				e, _ := err.(*websocket.CloseError)
				if e == nil {
					t.Errorf("ended with %v", err)
					return 0
				}
				return e.Code
			}
		}
	}
	send := func(h http.Header, query string, kind int, raw []byte, n int) *websocket.Conn {
		c, _ := dial(t, addr, query, h)
		for range n {
			_ = c.WriteMessage(kind, raw)
		}
		return c
	}
	if got := closed(send(nil, "?tkn=secret", websocket.BinaryMessage, []byte("{}"), 1)); got != 1003 {
		t.Errorf("binary: %d", got)
	}
	if got := closed(send(nil, "?tkn=secret", websocket.TextMessage, []byte(strings.Repeat(" ", ab.MaxItem+1)), 1)); got != 1009 {
		t.Errorf("too large: %d", got)
	}
	if got := closed(send(nil, "?tkn=secret", websocket.TextMessage, []byte("{"), 20)); got != 1008 {
		t.Errorf("malformed: %d", got)
	}
	kept := send(origin(shop.Origin), "", websocket.TextMessage, ready("w1", "https://shop.example/"), 1)
	eventually(t, "one waits", func() bool { return len(b.Runtimes()) == 1 })
	if got := closed(send(origin(bank.Origin), "", websocket.TextMessage, ready("w2", "https://bank.example/"), 1)); got != 1013 {
		t.Errorf("too many wait: %d", got)
	}
	b.Close()
	if got := closed(kept); got != 1001 {
		t.Errorf("the end: %d", got)
	}
}

func TestDoorIsFull(t *testing.T) {
	b := ab.New(ab.Options{Limits: ab.Limits{Connections: 1}})
	addr := serve(t, b)
	dial(t, addr, "?tkn=secret", nil)
	if _, got := dial(t, addr, "?tkn=secret", nil); got != 503 {
		t.Errorf("%d", got)
	}
}

// TestSlowSocket: a socket that takes nothing ends when 4 MiB wait for it.
func TestSlowSocket(t *testing.T) {
	b := ab.New(ab.Options{Limits: ab.Limits{Unsent: 1 << 20, InFlight: 1000}})
	addr := serve(t, b)
	c, _ := dial(t, addr, "?tkn=secret", nil)
	if err := c.WriteMessage(websocket.TextMessage, ready("r", "https://a.example/", `"manifest":{"tools":[{"name":"a"}]}`)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a runtime", func() bool { return len(b.Runtimes()) == 1 })
	args := []byte(`{"x":"` + strings.Repeat("x", 200<<10) + `"}`)
	var last *ab.Error
	for range 200 {
		ctx, cancel := context.WithTimeout(t.Context(), 510*time.Millisecond)
		_, last = b.Call(ctx, ab.Call{RuntimeID: "r", Name: "a", Arguments: args})
		cancel()
		if last.Code == ab.CodeTransportFailed {
			break
		}
	}
	wantError(t, last, ab.CodeTransportFailed)
	eventually(t, "no runtime", func() bool { return len(b.Runtimes()) == 0 })
}

// TestNothingIsLogged: no URL, argument, payload, token or authorization id is logged.
func TestNothingIsLogged(t *testing.T) {
	var log strings.Builder
	b := ab.New(ab.Options{Logger: logger(&log)})
	addr := serve(t, b)
	c, _ := dial(t, addr, "?tkn=secret", nil)
	_ = c.WriteMessage(websocket.TextMessage, ready("r", "https://a.example/private?q=hidden", `"authorization_id":"hidden-id"`))
	eventually(t, "a runtime", func() bool { return len(b.Runtimes()) == 1 })
	send := func(raw []byte) { _ = c.WriteMessage(websocket.TextMessage, raw) }
	for _, answer := range []string{`"hidden"`, `{"ok":false,"error":{"code":"own","message":"hidden","evidence":{"hidden":1}}}`} {
		call := start(t, b, ab.Call{RuntimeID: "r", Name: "a", Arguments: []byte(`{"x":"hidden"}`)})
		for item := (ab.Item{}); item.Type != ab.TypeCall; {
			_, raw, err := c.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			if item, _ = ab.DecodeItem(raw); item.Type == ab.TypeCall {
				send([]byte(`{"type":"dom_event","runtime_id":"r","event_id":"e","name":"overlay.closed","payload":{"overlay_id":"hidden"}}`))
				send(output(item, answer))
			}
		}
		<-call
	}
	_, _ = b.Call(t.Context(), ab.Call{RuntimeID: "r", Name: "a", Arguments: []byte(`{"hidden":1}`)}) // does not fit the schema
	for range 20 {
		send([]byte(`{"hidden`))
	}
	eventually(t, "no runtime", func() bool { return len(b.Runtimes()) == 0 })
	b.Close()
	for _, s := range []string{"hidden", "secret", "a.example"} {
		if strings.Contains(log.String(), s) {
			t.Errorf("the log has %q: %s", s, log.String())
		}
	}
	if !strings.Contains(log.String(), ab.ReasonBroken) {
		t.Errorf("the log has no reason: %s", log.String())
	}
}

// pipes is a listener whose connections have no buffers.
type pipes struct {
	net.Listener // only its address
	conns        chan net.Conn
	done         chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 17345} }

// TestUnsentLimit: 4 MiB of items wait for a socket that takes nothing, and not a call more;
// what was written does not count.
func TestUnsentLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBridge(t, ab.Options{Limits: ab.Limits{InFlight: 100}})
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		srv := &http.Server{Handler: b.Handler(ab.DoorOptions{Hosts: []string{"door"}, Token: "secret"})}
		go func() { _ = srv.Serve(l) }() // until Close
		defer srv.Close()
		dialer := websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			l.conns <- server
			return client, nil
		}}
		c, _, err := dialer.DialContext(t.Context(), "ws://door/extension?tkn=secret", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		send := func(raw []byte) {
			if err := c.WriteMessage(websocket.TextMessage, raw); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		send(ready("r", "https://a.example/", `"manifest":{"tools":[{"name":"a"}]}`))
		call := func() <-chan outcome { // 250,000 bytes and a little more: 16 fit
			out := start(t, b, ab.Call{RuntimeID: "r", Name: "a", Arguments: []byte(`{"x":"` + strings.Repeat("x", 250_000) + `"}`)})
			synctest.Wait()
			return out
		}
		for n := 0; n < 20; { // more than the limit, but each is read
			out := call()
			for item := (ab.Item{}); item.Type != ab.TypeCall; {
				_, raw, err := c.ReadMessage()
				if err != nil {
					t.Fatal(err)
				}
				item, _ = ab.DecodeItem(raw)
				if item.Type == ab.TypeCall {
					send(output(item, "1"))
					n++
				}
			}
			if o := <-out; o.err != nil {
				t.Fatalf("call %d of a socket that reads: %v", n, o.err)
			}
		}
		var calls []<-chan outcome
		for range 16 {
			calls = append(calls, call())
		}
		if len(b.Runtimes()) != 1 {
			t.Fatal("the socket ended at less than 4 MiB")
		}
		select { // at once: later the socket ends because nothing is read
		case o := <-call():
			wantError(t, o.err, ab.CodeTransportFailed)
		default:
			t.Error("more than 4 MiB wait")
		}
		for _, out := range calls {
			wantError(t, (<-out).err, ab.CodeTransportFailed)
		}
		if len(b.Runtimes()) != 0 {
			t.Error("the socket did not end")
		}
	})
}

// TestDoorWithoutToken: an empty token lets nothing in, also if the door has none.
func TestDoorWithoutToken(t *testing.T) {
	door := newBridge(t, ab.Options{}).Handler(ab.DoorOptions{Hosts: []string{"door"}, Lookup: func(string) bool { return true }})
	for token, want := range map[string]int{"": 401, "minted": 426} { // let in, but no WebSocket
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://door/extension?tkn="+token, nil)
		w := httptest.NewRecorder()
		if door.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d, want %d", token, w.Code, want)
		}
		r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://door/extension", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w = httptest.NewRecorder()
		if door.ServeHTTP(w, r); w.Code != want {
			t.Errorf("Bearer %q: %d, want %d", token, w.Code, want)
		}
	}
}
