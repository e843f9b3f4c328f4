package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// begin sends a handshake as the client "c" and returns the answer.
func begin(t *testing.T, c *ws.Conn, method, secret string) string {
	t.Helper()
	meta := ""
	if secret != "" {
		meta = fmt.Sprintf(`,"_meta":{%q:%q}`, ahp.MetaResume, secret)
	}
	rest := `"protocolVersions":["0.6.0"]`
	if method == "reconnect" {
		rest = `"lastSeenServerSeq":1,"subscriptions":[]`
	}
	sendText(t, c, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"channel":"ahp-root://","clientId":"c",%s%s}}`, method, rest, meta)
	m, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return string(m)
}

func secretIn(t *testing.T, answer string) string {
	t.Helper()
	var m struct {
		Result ahp.InitializeResult `json:"result"`
	}
	if err := ahp.Unmarshal(ahp.Value(answer), &m); err != nil {
		t.Fatal(err)
	}
	return ahp.ResumeSecret(m.Result.Meta)
}

type received struct {
	message string
	err     error
}

// reading reads the next message of a connection, which answers pings meanwhile.
func reading(t *testing.T, c *ws.Conn) <-chan received {
	next := make(chan received, 1)
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { c.Close(ws.CodeNormal, "") })
	wg.Go(func() {
		m, err := c.ReadMessage()
		next <- received{string(m), err}
	})
	return next
}

// TestClaims: a client id belongs to the token that used it first, and while a connection
// has it, to the holder of the resume secret (ahp/PROTOCOL.md section 2g).
func TestClaims(t *testing.T) {
	for name, tc := range map[string]struct {
		grant         ws.Grant
		left          bool // the first connection has ended
		method        string
		secret        string // "right", "wrong" or ""
		want          string // in the answer
		replacesFirst bool
	}{
		"same token":                       {ws.Grant{Token: "a"}, false, "initialize", "", "client_in_use", false},
		"wrong secret":                     {ws.Grant{Token: "a"}, false, "initialize", "wrong", "client_in_use", false},
		"right secret":                     {ws.Grant{Token: "a"}, false, "initialize", "right", `"result"`, true},
		"right secret, other token":        {ws.Grant{Token: "b"}, false, "initialize", "right", "client_of_another_token", false},
		"a token of this client":           {ws.Grant{Token: "a", ClientID: "c"}, false, "initialize", "", `"result"`, true},
		"reconnect":                        {ws.Grant{Token: "a"}, false, "reconnect", "", "client_in_use", false},
		"reconnect with secret":            {ws.Grant{Token: "a"}, false, "reconnect", "right", `"result"`, true},
		"after the first left":             {ws.Grant{Token: "a"}, true, "initialize", "", `"result"`, false},
		"reconnect after the first left":   {ws.Grant{Token: "a"}, true, "reconnect", "", `"result"`, false},
		"other token, after it left":       {ws.Grant{Token: "b"}, true, "initialize", "", "client_of_another_token", false},
		"other token, reconnects after it": {ws.Grant{Token: "b"}, true, "reconnect", "", "client_of_another_token", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, dial := serveGrants(t, server.Options{})
				first := dial(ws.Grant{Token: "a"})
				secret := secretIn(t, begin(t, first, "initialize", ""))
				if secret == "" {
					t.Fatal("no resume secret")
				}
				if tc.left {
					first.Close(ws.CodeNormal, "")
					first.Wait()
					synctest.Wait()
				}
				next := reading(t, first)
				shown := map[string]string{"right": secret, "wrong": "wrong"}[tc.secret]
				second := dial(tc.grant)
				if answer := begin(t, second, tc.method, shown); !strings.Contains(answer, tc.want) {
					t.Errorf("answer %s, want %s", answer, tc.want)
				}
				synctest.Wait()
				if tc.left {
					return
				}
				if tc.replacesFirst {
					if r := <-next; ws.CodeOf(r.err) != ws.CodeReplaced {
						t.Errorf("the first connection: %v, want a close with %d", r.err, ws.CodeReplaced)
					}
				} else {
					sendText(t, first, pinging)
					if r := <-next; !strings.Contains(r.message, `"id":1`) {
						t.Errorf("the first connection: %q %v", r.message, r.err)
					}
				}
			})
		})
	}
}

// TestExpectedClientsKeepTheirToken: after a restart a listed client id belongs to the
// token that used it, unless that token has ended.
func TestExpectedClientsKeepTheirToken(t *testing.T) {
	for name, tc := range map[string]struct {
		expected string
		grant    ws.Grant
		want     string
	}{
		"the same token":            {"a", ws.Grant{Token: "a"}, `"result"`},
		"another token":             {"a", ws.Grant{Token: "b"}, "client_of_another_token"},
		"a token that names it":     {"a", ws.Grant{Token: "b", ClientID: "c"}, `"result"`},
		"another, and it has ended": {"ended", ws.Grant{Token: "b"}, `"result"`},
		"a record without a token":  {"", ws.Grant{Token: "b"}, `"result"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, dial := serveGrants(t, server.Options{ValidToken: func(token string) bool { return token != "ended" }})
				s.Expect("c", tc.expected, nil)
				if answer := begin(t, dial(tc.grant), "initialize", ""); !strings.Contains(answer, tc.want) {
					t.Errorf("answer %s, want %s", answer, tc.want)
				}
			})
		})
	}
}

// TestEndToken: the connections of a token that ends are closed, others are not, and a
// connection that arrives too late is closed too.
func TestEndToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		valid := true
		gone := &goneList{}
		s, dial := serveGrants(t, server.Options{Presence: gone, ValidToken: func(id string) bool { return id != "a" || valid }})
		ending, other := dial(ws.Grant{Token: "a"}), dial(ws.Grant{Token: "b"})
		begin(t, ending, "initialize", "")
		sendText(t, other, "%s", strings.Replace(initializing, `"c"`, `"d"`, 1))
		expect(t, other, `"result"`)
		valid = false
		s.EndToken("a")
		if _, err := ending.ReadMessage(); ws.CodeOf(err) != ws.CodeTokenEnded {
			t.Errorf("the connection of the token: %v", err)
		}
		synctest.Wait()
		if got := strings.Join(gone.ids, " "); got != "c" {
			t.Errorf("gone: %q, want c without a grace period", got)
		}
		if _, err := dial(ws.Grant{Token: "a"}).ReadMessage(); ws.CodeOf(err) != ws.CodeTokenEnded {
			t.Errorf("a late connection: %v", err)
		}
		sendText(t, other, pinging)
		expect(t, other, `"id":1`)
	})
}

// goneList is a Presence that records the clients that are gone.
type goneList struct{ ids []string }

func (g *goneList) ClientLeft(string, string)                 {}
func (g *goneList) ClientGone(id string, _ func(string) bool) { g.ids = append(g.ids, id) }

// TestVanishedNetwork: a client without a resume secret whose network vanished is not
// refused until its dead connection is noticed: the connection has 3 s to answer a ping.
func TestVanishedNetwork(t *testing.T) {
	for name, vanished := range map[string]bool{"vanished": true, "silent": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var wire *ahptest.Conn
				_, dial := serveOver(t, server.Options{}, func(c *ahptest.Conn) { wire = c })
				first := dial(ws.Grant{Token: "a"})
				begin(t, first, "initialize", "")
				dead := wire
				if vanished {
					dead.Freeze()
				}
				reading(t, first)
				time.Sleep(time.Second)
				began := time.Now()
				answer := begin(t, dial(ws.Grant{Token: "a"}), "initialize", "")
				took := time.Since(began)
				if strings.Contains(answer, `"result"`) != vanished || strings.Contains(answer, "client_in_use") == vanished {
					t.Errorf("answer %s", answer)
				}
				if limit := map[bool]time.Duration{true: 3 * time.Second, false: 250 * time.Millisecond}[vanished]; took != limit {
					t.Errorf("the answer took %v, want %v", took, limit)
				}
				_ = dead.Close()
			})
		})
	}
}
