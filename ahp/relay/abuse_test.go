package relay

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// A message above a limit ends its connection with a close code.
func TestMessagesAboveTheLimit(t *testing.T) {
	n := inMemory()
	startEdge(t, n, EdgeOptions{ClientMessage: 5000, HostMessage: 10000})
	u := startUplink(t, n, UplinkOptions{Serve: func(ctx context.Context, c *ws.Conn, info LaneInfo) {
		for {
			m, err := c.ReadMessage()
			if err != nil || c.WriteBatch([][]byte{append(m, m...), append(append(m, m...), m...)}) != nil {
				return
			}
		}
	}})
	u.await(t, Registered)
	c := dialHost(t, n, "laptop", userToken, ws.Options{})
	_ = c.WriteBatch([][]byte{[]byte(randomText(5001))})
	wantClose(t, c, ws.CodeTooBig, "message above the limit")
	c = dialHost(t, n, "laptop", userToken, ws.Options{})
	_ = c.WriteBatch([][]byte{[]byte(randomText(4000))})
	if m, err := c.ReadMessage(); err != nil || len(m) != 8000 {
		t.Errorf("%d bytes, %v", len(m), err)
	}
	wantClose(t, c, ws.CodeTooBig, "other end: message above the limit")
	control := register(t, n, time.Now().Add(time.Hour).UnixNano())
	_ = control.WriteBatch([][]byte{[]byte(randomText(messageLimit + 1))})
	wantClose(t, control, ws.CodeTooBig, "message above the limit")
	status, answer := handshake(t, n, "/ahp/laptop", edgeHost, http.Header{"Authorization": {"Bearer " + userToken}, "Sec-WebSocket-Extensions": {"permessage-deflate"}})
	if status != 101 || strings.Contains(strings.ToLower(answer), "deflate") {
		t.Errorf("compression was negotiated: %d %s", status, answer)
	}
}

// Floods end with a close code, and a client's flood does not reduce another
// client's limits.
func TestFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		tokens := testTokens()
		for _, name := range []string{"cat", "dan"} {
			tokens[name] = TokenEntry{Audience: ForClient, Subject: name, Hosts: []string{AnyHost}}
		}
		e := startEdge(t, n, EdgeOptions{Authorizer: tokens, LanesPerHost: 20, LanesPerClient: 8, ClientRate: 4, ClientBurst: 10, HostBurst: 1000})
		u := startUplink(t, n, UplinkOptions{})
		u.await(t, Registered)
		for range 8 {
			wantEcho(t, dialHost(t, n, "laptop", "cat", ws.Options{}), "in")
		}
		wantClose(t, dialHost(t, n, "laptop", "cat", ws.Options{}), CodeTooMany, "too many connections of this client")
		wantEcho(t, dialHost(t, n, "laptop", "dan", ws.Options{}), "dan is in")
		for range 11 { // ann may have 300
			wantEcho(t, dialHost(t, n, "laptop", userToken, ws.Options{}), "in")
		}
		wantClose(t, dialHost(t, n, "laptop", "dan", ws.Options{}), CodeTooMany, "too many connections to this host")
		time.Sleep(time.Minute)
		for range 300 {
			wantClose(t, dialHost(t, n, "absent", userToken, ws.Options{}), CodeHostOffline, "host offline")
		}
		wantClose(t, dialHost(t, n, "absent", userToken, ws.Options{}), CodeTooMany, "too many new connections")
		time.Sleep(time.Second) // four a second
		wantClose(t, dialHost(t, n, "absent", userToken, ws.Options{}), CodeHostOffline, "host offline")
		if r := e.Stats().Refused; r[RefusedClient] != 1 || r[RefusedHostFull] != 1 || r[RefusedRate] != 1 || r[RefusedOffline] != 301 {
			t.Errorf("refused %v", r)
		}
	})
}

// A host that dials repeatedly, and registers or not, does not use up MaxHosts.
func TestAHostDoesNotUseUpTheRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		tokens := testTokens()
		tokens["desktop"] = TokenEntry{Audience: ForHost, Subject: "desktop", Hosts: []string{"desktop"}}
		e := startEdge(t, n, EdgeOptions{Authorizer: tokens, MaxHosts: 20})
		for range 8 {
			if _, err := tryDial(t, n, "host/laptop", ws.DialOptions{Token: hostToken}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait() // they count only after the handshake
		for range 30 {
			conn, err := tryDial(t, n, "host/laptop", ws.DialOptions{Token: hostToken})
			if err != nil {
				t.Fatal(err)
			}
			wantClose(t, conn, CodeTooMany, "too many connections to this host")
		}
		startUplink(t, n, UplinkOptions{Token: "desktop", Host: "desktop"}).await(t, Registered)
		time.Sleep(11 * time.Second) // the unregistered ones have timed out
		startUplink(t, n, UplinkOptions{}).await(t, Registered)
		synctest.Wait()
		if r := e.Stats().Refused[RefusedHostFull]; r != 30 || len(e.dialed) != 2 {
			t.Errorf("refused %d, counted %v", r, e.dialed)
		}
	})
}

// Connections that pass an endpoint's checks but then do not follow the
// protocol are closed.
func TestProtocolViolations(t *testing.T) {
	for name, c := range map[string]struct {
		do     func(c *ws.Conn)
		code   ws.CloseCode
		reason string
		after  time.Duration
	}{
		"no registration":     {func(*ws.Conn) {}, ws.CodePolicy, "no registration in time", 10 * time.Second},
		"something else":      {sends(`{"type":"drain"}`), ws.CodePolicy, "the first message must be a registration", 0},
		"no generation":       {sends(`{"type":"register"}`), ws.CodePolicy, "the first message must be a registration", 0},
		"no JSON":             {sends(`register`), ws.CodePolicy, "the first message must be a registration", 0},
		"no JSON afterwards":  {sends(`{"type":"register","generation":1}`, `hello`), ws.CodePolicy, "a message is not valid", 0},
		"a flood afterwards":  {sends(append([]string{`{"type":"register","generation":1}`}, many(`{"type":"hi"}`, 1001)...)...), ws.CodePolicy, "too many messages", 0},
		"declines of nothing": {sends(append([]string{`{"type":"register","generation":1}`}, many(`{"type":"decline","lane":"abc"}`, 1001)...)...), ws.CodePolicy, "too many messages", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := inMemory()
				startEdge(t, n, EdgeOptions{})
				began := time.Now()
				conn, err := tryDial(t, n, "host/laptop", ws.DialOptions{Token: hostToken})
				if err != nil {
					t.Fatal(err)
				}
				go c.do(conn)
				wantClose(t, conn, c.code, c.reason)
				if d := time.Since(began); d != c.after {
					t.Errorf("after %s", d)
				}
			})
		})
	}
}

func sends(texts ...string) func(*ws.Conn) {
	return func(c *ws.Conn) {
		for _, text := range texts {
			_ = c.WriteBatch([][]byte{[]byte(text)})
		}
	}
}

func many(text string, n int) []string {
	return strings.Split(strings.Repeat(text+"\n", n-1)+text, "\n")
}

// A request whose header never ends is cut off by the header timeout, and a
// silent peer by the keep-alive.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		u := startUplink(t, n, UplinkOptions{})
		u.await(t, Registered)
		raw, err := n.dial(t.Context(), "tcp", edgeHost)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		_, _ = io.WriteString(raw, "GET /ahp/laptop HTTP/1.1\r\nHost: "+edgeHost+"\r\n")
		began := time.Now()
		if _, err := io.ReadAll(raw); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		wantEcho(t, c, "alive")
		go func() { _, _ = c.ReadMessage() }() // answers pings
		time.Sleep(10 * time.Minute)
		if s := e.Stats(); s.Lanes != 1 || s.Hosts != 1 {
			t.Errorf("an idle lane did not live: %+v", s)
		}
	})
}
