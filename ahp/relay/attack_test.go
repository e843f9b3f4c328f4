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

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
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
	var lines ahptest.Log
	tokens := testTokens()
	tokens["everywhere"] = TokenEntry{Audience: ForClient, Subject: "root", Hosts: []string{AnyHost}}
	e := startEdge(t, n, EdgeOptions{Authorizer: tokens, Logger: lines.Logger(), Handshake: time.Hour})
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
