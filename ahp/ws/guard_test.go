package ws

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
)

func TestGuard(t *testing.T) {
	const origin = "http://localhost:4000"
	guard := &Guard{
		Hosts:   []string{"localhost:4000", "127.0.0.1:4000"},
		Origins: []string{origin},
		Tokens:  []Token{{Secret: "v", Role: "view"}, {Secret: "a", Role: "agent", ClientID: "c1"}, {Secret: "", Role: "agent"}},
	}
	query := *guard
	query.QueryToken = true
	view, agent := Grant{Role: "view"}, Grant{Role: "agent", ClientID: "c1"}
	for name, c := range map[string]struct {
		guard  *Guard
		host   string
		target string
		header http.Header
		roles  []string
		status int
		grant  Grant
	}{
		"bearer":                        {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer v"}}, nil, 0, view},
		"bearer in another case":        {guard, "LOCALHOST:4000", "/", http.Header{"Authorization": {"bearer a"}}, nil, 0, agent},
		"subprotocol":                   {guard, "127.0.0.1:4000", "/", http.Header{"Sec-Websocket-Protocol": {"ahp, bearer.v"}}, nil, 0, view},
		"subprotocols on two lines":     {guard, "127.0.0.1:4000", "/", http.Header{"Sec-Websocket-Protocol": {"ahp", "bearer.v"}}, nil, 0, view},
		"query on loopback":             {&query, "localhost:4000", "/?tkn=v", nil, nil, 0, view},
		"query elsewhere":               {guard, "localhost:4000", "/?tkn=v", nil, nil, 401, Grant{}},
		"wrong header, right query":     {&query, "localhost:4000", "/?tkn=v", http.Header{"Authorization": {"Bearer x"}}, nil, 401, Grant{}},
		"basic":                         {&query, "localhost:4000", "/?tkn=v", http.Header{"Authorization": {"Basic v"}}, nil, 401, Grant{}},
		"no token":                      {guard, "localhost:4000", "/", nil, nil, 401, Grant{}},
		"empty token":                   {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer "}}, nil, 401, Grant{}},
		"token with a tail":             {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer vv"}}, nil, 401, Grant{}},
		"own origin":                    {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer v"}, "Origin": {origin}}, nil, 0, view},
		"foreign origin":                {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer v"}, "Origin": {"http://evil.test"}}, nil, 403, Grant{}},
		"null origin":                   {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer v"}, "Origin": {"null"}}, nil, 403, Grant{}},
		"empty origin":                  {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer v"}, "Origin": {""}}, nil, 403, Grant{}},
		"two origins":                   {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer v"}, "Origin": {origin, origin}}, nil, 403, Grant{}},
		"rebound name":                  {guard, "evil.test:4000", "/", http.Header{"Authorization": {"Bearer v"}}, nil, 421, Grant{}},
		"another port":                  {guard, "localhost:4001", "/", http.Header{"Authorization": {"Bearer v"}}, nil, 421, Grant{}},
		"no port":                       {guard, "localhost", "/", http.Header{"Authorization": {"Bearer v"}}, nil, 421, Grant{}},
		"host is judged before origin":  {guard, "evil.test", "/", http.Header{"Origin": {"null"}}, nil, 421, Grant{}},
		"origin is judged before token": {guard, "localhost:4000", "/", http.Header{"Origin": {"null"}}, nil, 403, Grant{}},
		"right role":                    {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer a"}}, []string{"agent"}, 0, agent},
		"wrong role":                    {guard, "localhost:4000", "/", http.Header{"Authorization": {"Bearer v"}}, []string{"agent"}, 403, Grant{}},
		"a guard of nothing":            {&Guard{}, "localhost:4000", "/", http.Header{"Authorization": {"Bearer "}}, nil, 421, Grant{}},
		"a guard without tokens":        {&Guard{Hosts: []string{"localhost:4000"}}, "localhost:4000", "/", http.Header{"Authorization": {"Bearer "}}, nil, 401, Grant{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", c.target, nil)
			r.Host = c.host
			if c.header != nil {
				r.Header = c.header
			}
			grant, refusal := c.guard.Check(r, c.roles...)
			status := 0
			if refusal != nil {
				status = refusal.Status
			}
			if refusal == nil {
				c.grant.Token = TokenID(c.guard.RequestToken(r))
			}
			if status != c.status || grant != c.grant {
				t.Errorf("have %d %+v (%v), want %d %+v", status, grant, refusal, c.status, c.grant)
			}
		})
	}
}

// A request without its token is otherwise the same.
func TestRemoveToken(t *testing.T) {
	guard := &Guard{QueryToken: true}
	r := httptest.NewRequest("GET", "/api?tkn=v&a=1", nil)
	r.Header = http.Header{"Authorization": {"Bearer v"}, "Sec-Websocket-Protocol": {"ahp, bearer.v"}, "Accept": {"*/*"}}
	guard.RemoveToken(r)
	if guard.RequestToken(r) != "" || r.RequestURI != "/api?a=1" || r.URL.RawQuery != "a=1" {
		t.Errorf("%s %v", r.RequestURI, r.URL)
	}
	if diff := cmp.Diff(http.Header{"Sec-Websocket-Protocol": {"ahp"}, "Accept": {"*/*"}}, r.Header); diff != "" {
		t.Error(diff)
	}
}

// The guard's answers as a client sees them, and the selected subprotocol.
func TestAcceptAnswers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := Accept(w, r, AcceptOptions{Guard: testGuard(), Roles: []string{"view"}})
		if err == nil {
			c.Close(CodeNormal, "")
			c.Wait()
		}
	})
	for _, c := range []struct {
		header http.Header
		status int
	}{
		{http.Header{"Authorization": {"Bearer " + testToken}}, 101},
		{http.Header{"Authorization": {"Bearer x"}}, 401},
		{http.Header{"Host": {"evil.test"}}, 421},
		{http.Header{"Origin": {"null"}}, 403},
	} {
		d := websocket.Dialer{NetDialContext: s.net.Dial}
		g, resp, err := d.Dial(testURL, c.header)
		if g != nil {
			g.Close()
		}
		if resp == nil || resp.StatusCode != c.status {
			t.Errorf("%v: have %v %v, want %d", c.header, resp, err, c.status)
		}
	}
}

// A browser sends the token among the subprotocols. Only "ahp" is selected, so that the
// token is not in the answer.
func TestSubprotocolToken(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := Accept(w, r, AcceptOptions{Guard: testGuard()})
		if err == nil {
			c.Close(CodeNormal, "")
			c.Wait()
		}
	})
	c, err := Dial(t.Context(), testURL, DialOptions{NetDial: s.net.Dial, Subprotocols: []string{"ahp", "bearer." + testToken}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Subprotocol(); got != "ahp" {
		t.Errorf("selected %q", got)
	}
	_, err = c.ReadMessage()
	wantClosed(t, err, CodeNormal, true)
	c.Wait()
}

func TestDialErrors(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	const secret = "s3cret"
	for name, c := range map[string]struct {
		url  string
		want error
	}{
		"refused":      {"ws://" + testHost + "/?tkn=" + secret, &HandshakeError{Status: http.StatusTeapot}},
		"nobody there": {"ws://nobody:1/?tkn=" + secret, nil},
		"no url":       {"ws://%zz/?tkn=" + secret, nil},
		"user info":    {"ws://a:" + secret + "@host/", nil},
		"wrong scheme": {"http://host/?tkn=" + secret, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Dial(t.Context(), c.url, DialOptions{NetDial: s.net.Dial, Token: secret})
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v", err)
			}
			if c.want != nil {
				if diff := cmp.Diff(c.want, err); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ctx, testURL, DialOptions{NetDial: s.net.Dial}); !errors.Is(err, context.Canceled) {
		t.Errorf("have %v, want the context's error", err)
	}
}
