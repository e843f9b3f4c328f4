package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/relaytest"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// throughRelay starts a relay at which the host is registered, and returns the address for
// clients. Those that show the host nothing have a role.
func throughRelay(t *testing.T, h *host.Host, role string) string {
	t.Helper()
	origin := relaytest.Start(t, relaytest.Options{Serve: func(_ context.Context, socket *ws.Conn, lane relay.LaneInfo) {
		h.ServeSocket(socket, ws.Grant{Role: role, Name: "relay " + lane.Person})
	}})
	return "ws" + strings.TrimPrefix(origin, "http") + "/ahp/" + relaytest.Host
}

// TestTokensThroughARelay: a client behind a relay has what a token of the host grants,
// which the relay does not learn, and nothing without one if the host wants that.
func TestTokensThroughARelay(t *testing.T) {
	store := token.New()
	mint := func(role string) string {
		secret, _, err := store.Create(token.Request{Name: "Editor " + role, Role: role})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken, AccessTokens: store})
	at := throughRelay(t, h, "none")
	dial := func(hostToken string) (*client.Client, error) {
		return client.Dial(t.Context(), at, client.Options{Token: "relay-token", HostToken: hostToken})
	}
	editor := mint(host.RoleClient)
	for name, tc := range map[string]struct{ token, want string }{
		"none":     {"", "role_required"},
		"unknown":  {"a-token-of-another-host", "token_unknown"},
		"an agent": {mint(host.RoleAgent), "token_unknown"},
	} {
		_, err := dial(tc.token)
		if failed, ok := errors.AsType[*ahp.Error](err); !ok || !strings.Contains(string(failed.Data), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
	c, err := dial(editor)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hello := canvas.New("hello", "Says hello.")
	if err := c.Provide(t.Context(), host.DefaultSession, "Desk", hello, hello.Declarations()...); err != nil {
		t.Errorf("a provider behind a relay: %v", err)
	}
	watcher, err := dial(mint(host.RoleView))
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	if err := watcher.Provide(t.Context(), host.DefaultSession, "Desk", hello, hello.Declarations()...); err == nil {
		t.Error("a person behind a relay provides a canvas")
	}
	for _, e := range store.List() {
		if e.Role == host.RoleClient {
			if _, err := h.RevokeToken(e.ID); err != nil {
				t.Error(err)
			}
		}
	}
	<-c.Disconnected()
	if _, err := dial(editor); err == nil {
		t.Error("a revoked token opens the host through a relay")
	}
}

// TestInvitationThroughARelay: an invitation is exchanged in the handshake, once; the token
// opens the host again, and a proof is good for one challenge of one client only.
func TestInvitationThroughARelay(t *testing.T) {
	store := token.New()
	code, _, err := store.Create(token.Request{Kind: token.Invitation, Name: "Ann", Role: host.RoleRead})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken, AccessTokens: store})
	at := throughRelay(t, h, "none")
	socket := func() *ws.Conn {
		c, err := ws.Dial(t.Context(), at, ws.DialOptions{Token: "relay-token"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(ws.CodeNormal, ""); c.Wait() })
		return c
	}
	type answer struct {
		Result struct {
			Meta map[string]ahp.Value `json:"_meta,omitzero"`
		} `json:"result,omitzero"`
		Error struct {
			Data struct {
				Code      string `json:"code,omitzero"`
				Challenge string `json:"challenge,omitzero"`
			} `json:"data,omitzero"`
		} `json:"error,omitzero"`
	}
	handshake := func(c *ws.Conn, id string, shown ahp.ShownToken) answer {
		text := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientId":"` + id + `","protocolVersions":["0.6.0"],"_meta":{"` + ahp.MetaToken + `":` + string(ahp.MustMarshal(shown)) + `}}}`
		if err := c.WriteBatch([][]byte{[]byte(text)}); err != nil {
			t.Fatal(err)
		}
		data, err := c.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		var a answer
		if err := ahp.Unmarshal(data, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	var made struct {
		Token string `json:"token"`
		Role  string `json:"role"`
	}
	if err := ahp.Unmarshal(handshake(socket(), "ann", ahp.ShownToken{Invitation: code}).Result.Meta[ahp.MetaToken], &made); err != nil {
		t.Fatal(err)
	}
	if made.Role != host.RoleRead || made.Token == "" {
		t.Fatalf("the invitation was exchanged for %+v", made)
	}
	if a := handshake(socket(), "eve", ahp.ShownToken{Invitation: code}); a.Error.Data.Code != "invitation_used" {
		t.Errorf("an invitation is good twice: %+v", a)
	}
	hash := token.HashOf(made.Token)
	c := socket()
	asked := handshake(c, "ann-2", ahp.ShownToken{ID: hash[:16]}).Error.Data
	if asked.Code != ahp.CodeProofRequired {
		t.Fatalf("%+v, want a challenge", asked)
	}
	proof := ahp.ShownToken{ID: hash[:16], Proof: ahp.LaneProof(hash, "ann-2", asked.Challenge)}
	if a := handshake(c, "eve", proof); a.Error.Data.Code != "token_unknown" {
		t.Errorf("the proof of another client: %+v", a)
	}
	if a := handshake(c, "ann-2", proof); a.Error.Data.Code != ahp.CodeProofRequired {
		t.Errorf("a challenge is good twice: %+v", a)
	}
	asked = handshake(c, "ann-2", ahp.ShownToken{ID: hash[:16]}).Error.Data
	proof.Proof = ahp.LaneProof(hash, "ann-2", asked.Challenge)
	if a := handshake(c, "ann-2", proof); a.Error.Data.Code != "" || a.Result.Meta[ahp.MetaResume] == nil {
		t.Errorf("a proof: %+v", a)
	}
}
