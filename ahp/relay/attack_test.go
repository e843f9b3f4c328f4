package relay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// handshake sends an upgrade request exactly as given and returns the status of
// the response.
func handshake(t testing.TB, n *network, path, host string, header http.Header) (int, string) {
	t.Helper()
	c, err := n.dial(context.Background(), "tcp", edgeHost)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", path, host)
	for name, values := range header {
		for _, v := range values {
			fmt.Fprintf(&b, "%s: %s\r\n", name, v)
		}
	}
	if _, err := io.WriteString(c, b.String()+"\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all strings.Builder
	_ = resp.Header.Write(&all)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		_, _ = io.Copy(&all, resp.Body)
	}
	return resp.StatusCode, all.String()
}

// Each of the three endpoints accepts only requests with the right Host, the
// right Origin and the right token.
func TestEndpoints(t *testing.T) {
	n := inMemory()
	var lines logs
	tokens := testTokens()
	tokens["everywhere"] = TokenEntry{Audience: ForClient, Subject: "root", Hosts: []string{AnyHost}}
	e := startEdge(t, n, EdgeOptions{Authorizer: tokens, Logger: lines.logger(), Handshake: time.Hour})
	control := register(t, n, 1)
	dialHost(t, n, "laptop", userToken, ws.Options{})
	offer := readOffer(t, control)
	endpoints := map[string]struct{ path, token string }{
		"client": {"/ahp/laptop", userToken},
		"host":   {"/host/laptop", hostToken},
		"lane":   {"/lane/" + offer.Lane, offer.Secret},
	}
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	with := func(token, name string, values ...string) http.Header {
		h := bearer(token)
		h[name] = values
		return h
	}
	type attempt struct {
		endpoint, path, host string
		header               http.Header
		want                 int
		why                  Reason
	}
	var all []attempt
	for name, d := range endpoints {
		all = append(all,
			attempt{name, d.path, "evil.test:80", bearer(d.token), 421, RefusedAddress},
			attempt{name, d.path, "relay.test", bearer(d.token), 421, RefusedAddress},
			attempt{name, d.path, "relay.test:80.evil.test", bearer(d.token), 421, RefusedAddress},
			attempt{name, d.path, edgeHost, with(d.token, "Origin", "http://evil.test"), 403, RefusedOrigin},
			attempt{name, d.path, edgeHost, with(d.token, "Origin", "null"), 403, RefusedOrigin},
			attempt{name, d.path, edgeHost, with(d.token, "Origin", pageOrigin, pageOrigin), 403, RefusedOrigin},
			attempt{name, d.path, edgeHost, with(d.token, "Origin", "http://evil.test"), 403, RefusedOrigin},
			attempt{name, d.path, "evil.test", http.Header{"Origin": {"null"}}, 421, RefusedAddress},
			attempt{name, d.path, edgeHost, http.Header{"Origin": {"null"}}, 403, RefusedOrigin},
			attempt{name, d.path + "?tkn=" + d.token, edgeHost, nil, 401, RefusedQuery},
			attempt{name, d.path + "?tkn=" + d.token, edgeHost, bearer(d.token), 401, RefusedQuery},
		)
		noToken := RefusedToken
		if name == "lane" {
			noToken = RefusedSecret
		}
		for _, h := range []http.Header{nil, bearer(""), bearer(d.token + "x"), bearer(d.token[1:]), {"Authorization": {"Basic " + d.token}}, {"Cookie": {"tkn=" + d.token}}} {
			all = append(all, attempt{name, d.path, edgeHost, h, 401, noToken})
		}
	}
	all = append(all,
		attempt{"host", "/host/laptop", edgeHost, with(hostToken, "Origin", pageOrigin), 403, RefusedOrigin}, // web pages cannot be hosts
		attempt{"lane", "/lane/" + offer.Lane, edgeHost, with(offer.Secret, "Origin", pageOrigin), 403, RefusedOrigin},
		attempt{"client", "/ahp/laptop", edgeHost, bearer(hostToken), 403, RefusedForbidden}, // the other audience
		attempt{"host", "/host/laptop", edgeHost, bearer(userToken), 403, RefusedForbidden},
		attempt{"client", "/ahp/laptop", edgeHost, bearer("other"), 403, RefusedForbidden}, // another host's
		attempt{"host", "/host/desktop", edgeHost, bearer(hostToken), 403, RefusedForbidden},
		attempt{"client", "/ahp/", edgeHost, bearer(userToken), 403, RefusedForbidden},
		attempt{"client", "/ahp/laptop/..", edgeHost, bearer(userToken), 403, RefusedForbidden},
		attempt{"client", "/ahp/LAPTOP", edgeHost, bearer(userToken), 403, RefusedForbidden},
		attempt{"client", "/ahp/LAPTOP", edgeHost, bearer("everywhere"), 403, RefusedForbidden}, // not a valid host name
		attempt{"client", "/ahp/%0Alaptop", edgeHost, bearer("everywhere"), 403, RefusedForbidden},
		attempt{"lane", "/lane/" + offer.Lane, edgeHost, bearer(hostToken), 401, RefusedSecret},
		attempt{"lane", "/lane/" + offer.Lane, edgeHost, bearer(userToken), 401, RefusedSecret},
		attempt{"lane", "/lane/" + offer.Secret, edgeHost, bearer(offer.Lane), 401, RefusedSecret},
		attempt{"lane", "/lane/", edgeHost, bearer(offer.Secret), 401, RefusedSecret},
		attempt{"none", "//ahp/laptop?tkn=" + userToken, edgeHost, nil, 401, RefusedQuery},
		attempt{"none", "/mcp", edgeHost, bearer(userToken), 404, RefusedPath},
		attempt{"none", "/", edgeHost, bearer(userToken), 404, RefusedPath},
	)
	for _, a := range all {
		before := e.Stats().Refused[a.why]
		status, answer := handshake(t, n, a.path, a.host, a.header)
		if status != a.want || e.Stats().Refused[a.why] != before+1 {
			t.Errorf("%s endpoint, %s, Host %s, %v: %d, want %d (%s)", a.endpoint, a.path, a.host, a.header, status, a.want, a.why)
		}
		for _, d := range endpoints {
			if strings.Contains(answer, d.token) {
				t.Errorf("%s endpoint: the answer repeats a token: %s", a.endpoint, answer)
			}
		}
	}
	for name, header := range map[string]http.Header{
		"client": with(userToken, "Origin", pageOrigin), "host": bearer(hostToken), "lane": bearer(offer.Secret),
	} {
		if status, _ := handshake(t, n, endpoints[name].path, edgeHost, header); status != 101 {
			t.Errorf("%s endpoint: the right one gets %d", name, status)
		}
	}
	browser := http.Header{"Origin": {pageOrigin}, "Sec-WebSocket-Protocol": {"ahp, bearer." + userToken}}
	if status, answer := handshake(t, n, "/ahp/laptop", edgeHost, browser); status != 101 || strings.Contains(answer, userToken) {
		t.Errorf("a browser gets %d: %s", status, answer)
	}
	wantNoSecrets(t, lines.String(), hostToken, userToken, offer.Secret)
}

func wantNoSecrets(t testing.TB, log string, secrets ...string) {
	t.Helper()
	if log == "" {
		t.Error("nothing was logged, so that nothing is proven")
	}
	for _, s := range append(secrets, "?tkn", "bearer.", "://") {
		if strings.Contains(log, s) {
			t.Errorf("the log has %q", s)
		}
	}
}

func TestASecretOpensOneLaneOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		e := startEdge(t, n, EdgeOptions{})
		control := register(t, n, 1)
		lane := func(id, secret string) error {
			_, err := tryDial(t, n, "lane/"+id, ws.DialOptions{Token: secret})
			return err
		}
		c := dialHost(t, n, "laptop", userToken, ws.Options{})
		offer := readOffer(t, control)
		dialHost(t, n, "laptop", userToken, ws.Options{})
		second := readOffer(t, control)
		for what, err := range map[string]error{
			"wrong":          lane(offer.Lane, "x"),
			"of another one": lane(offer.Lane, second.Secret),
			"of no lane":     lane("abc", offer.Secret),
		} {
			if he, ok := err.(*ws.HandshakeError); !ok || he.Status != 401 {
				t.Errorf("a secret that is %s: %v", what, err)
			}
		}
		if err := lane(offer.Lane, offer.Secret); err != nil { // the wrong secrets did not use up the lane
			t.Fatal(err)
		}
		if err := lane(offer.Lane, offer.Secret); err == nil {
			t.Error("a secret was taken twice")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if err := lane(second.Lane, second.Secret); err == nil {
			t.Error("a secret outlived its time")
		}
		if err := c.Err(); err != nil {
			t.Errorf("the lane that was opened in time ended: %v", err)
		}
		if s := e.Stats(); s.Refused[RefusedSecret] != 5 || s.Waiting != 0 || s.Lanes != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

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

// Floods end with a close code, and those of one client do not reduce another
// client's limits.
func TestFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		tokens := testTokens()
		for _, name := range []string{"cat", "dan"} {
			tokens[name] = TokenEntry{Audience: ForClient, Subject: name, Hosts: []string{AnyHost}}
		}
		e := startEdge(t, n, EdgeOptions{Authorizer: tokens, LanesPerHost: 20, ClientBurst: 10, HostBurst: 1000})
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
