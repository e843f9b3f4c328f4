package host_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// post calls an endpoint of tokens and decodes the answer.
func post(t *testing.T, h *host.Host, method, path, bearer, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.Endpoints().Page+strings.TrimPrefix(path, "/"), bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	_ = ahp.Unmarshal(data, &m)
	return resp.StatusCode, m
}

// TestRevoke: a token that is revoked opens nothing, its connection is closed with a code
// that says so, and what its client provides leaves the session at once. The token
// survives a restart of the host until then.
func TestRevoke(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	store, err := token.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	secret, entry, err := store.Create(token.Request{Name: "Editor", Role: host.RoleClient, ClientID: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	if store, err = token.Open(file); err != nil {
		t.Fatal(err)
	}
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken, AccessTokens: store})
	if _, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: agentToken, ClientID: "desk"}); err == nil || !strings.Contains(err.Error(), "belongs to another token") {
		t.Errorf("another token took the id of a client that has not connected yet: %v", err)
	}
	c, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: secret, ClientID: "desk"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hello := canvas.New("hello", "Says hello.")
	if err := c.Provide(t.Context(), host.DefaultSession, "Desk", hello, hello.Declarations()...); err != nil {
		t.Fatal(err)
	}
	watcher := dial(t, h, "watcher", host.DefaultSession)
	if _, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: agentToken, ClientID: "desk"}); err == nil || !strings.Contains(err.Error(), "belongs to another token") {
		t.Errorf("another token took the client's id: %v", err)
	}
	if status, _ := post(t, h, "DELETE", "/access/tokens/"+entry.ID, viewToken, ""); status != http.StatusForbidden {
		t.Errorf("revoked with the view token: %d", status)
	}
	if status, m := post(t, h, "DELETE", "/access/tokens/"+entry.ID, agentToken, ""); status != http.StatusOK || m["name"] != "Editor" {
		t.Fatalf("revoke: %d %v", status, m)
	}
	<-c.Disconnected()
	if err := c.Err(); ws.CodeOf(err) != ws.CodeTokenEnded {
		t.Errorf("the connection ended with %v", err)
	}
	for !strings.Contains(receive(t, watcher), "session/activeClientRemoved") {
	}
	if _, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: secret, ClientID: "desk"}); err == nil {
		t.Error("a revoked token opens the host")
	}
}

// TestRotate: the old view token opens nothing, and the program has stored the new one.
func TestRotate(t *testing.T) {
	var stored []string
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken, Rotated: func(role, secret string) error {
		stored = append(stored, role, secret)
		return nil
	}})
	c, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: viewToken})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	status, m := post(t, h, "POST", "/access/rotate", agentToken, `{"role":"view"}`)
	view, agent := h.Tokens()
	if status != http.StatusOK || m["token"] != view || agent != agentToken || fmt.Sprint(stored) != fmt.Sprint([]string{"view", view}) {
		t.Fatalf("rotate: %d %v, stored %q", status, m, stored)
	}
	<-c.Disconnected()
	if err := c.Err(); ws.CodeOf(err) != ws.CodeTokenEnded {
		t.Errorf("the connection ended with %v", err)
	}
	for secret, works := range map[string]bool{viewToken: false, view: true} {
		c, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: secret})
		if (err == nil) != works {
			t.Errorf("works %t: %v", works, err)
		}
		if err == nil {
			c.Close()
		}
	}
}

// TestInvitation: an agent gets an invitation while no person looks, and never the view
// token. It is exchanged once; the second use says when the first was, and is an event.
func TestInvitation(t *testing.T) {
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken})
	if _, err := h.Add(canvas.New("hello", "Says hello.")); err != nil {
		t.Fatal(err)
	}
	agent := dialAgent(t, h)
	value, err := agent.Call(t.Context(), "open_canvas", ahp.Value(`{"canvasId":"hello","instanceId":"one"}`))
	if err != nil {
		t.Fatal(err)
	}
	var opened struct {
		People int    `json:"people"`
		Link   string `json:"link"`
	}
	if err := ahp.Unmarshal(value, &opened); err != nil {
		t.Fatal(err)
	}
	_, code, ok := strings.Cut(opened.Link, "#invite=")
	code, _, _ = strings.Cut(code, "&")
	if !ok || strings.Contains(string(value), viewToken) || opened.People != 0 {
		t.Fatalf("open_canvas: %s", value)
	}
	again, err := agent.Call(t.Context(), "list_open_canvases", ahp.Value(`{}`))
	if err != nil || !strings.Contains(string(again), code) {
		t.Errorf("list_open_canvases: %s %v, want the same invitation", again, err)
	}
	status, m := post(t, h, "POST", "/access/redeem", "", `{"invitation":"`+code+`"}`)
	if status != http.StatusOK || m["role"] != "view" || m["kind"] != "person" {
		t.Fatalf("redeem: %d %v", status, m)
	}
	person, err := client.Dial(t.Context(), h.Endpoints().AHP, client.Options{Token: m["token"].(string), Subscriptions: []string{host.DefaultSession}})
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	if status, m = post(t, h, "POST", "/access/redeem", "", `{"invitation":"`+code+`"}`); status != http.StatusGone || m["code"] != "invitation_used" || m["at"] == nil {
		t.Errorf("redeem again: %d %v", status, m)
	}
	page, err := h.Canvases().Events(t.Context(), host.DefaultSession, 0, time.Second)
	if err != nil || len(page.Events) != 1 || !strings.Contains(string(page.Events[0].Event), "people/invitationReused") {
		t.Errorf("events %+v %v", page, err)
	}
	value, err = agent.Call(t.Context(), "open_canvas", ahp.Value(`{"canvasId":"hello","instanceId":"one"}`))
	if err != nil || !strings.Contains(string(value), `"people":1`) || strings.Contains(string(value), `"link"`) {
		t.Errorf("open_canvas while a person looks: %s %v", value, err)
	}
}

// TestMintedProof: a host proves that it knows a token of which it keeps only the hash, so
// a client of such a token does not send it to another program either.
func TestMintedProof(t *testing.T) {
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken})
	secret, _, err := h.AccessTokens().Create(token.Request{Name: "Editor", Role: host.RoleClient})
	if err != nil {
		t.Fatal(err)
	}
	if !proves(t, h, secret) {
		t.Error("the host does not prove a minted token")
	}
	if proves(t, h, "another") {
		t.Error("the host proves a token that it does not have")
	}
}

func dialAgent(t *testing.T, h *host.Host) *mcp.Client {
	t.Helper()
	_, agent := h.Tokens()
	c, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: h.Endpoints().MCP, Token: agent})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// proves reports whether the host proves a token to a Verifier, which otherwise remembers
// that it cannot and refuses nothing.
func proves(t *testing.T, h *host.Host, secret string) bool {
	t.Helper()
	const nonce = "0123456789abcdef0123456789abcdef"
	at := strings.TrimSuffix(strings.TrimPrefix(h.Endpoints().Page, "http://"), "/")
	resp, err := http.Get(h.Endpoints().Page + "proof?at=" + at + "&nonce=" + nonce + "&id=" + ws.TokenID(secret))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(data), proof.Of(token.HashOf(secret), at, nonce))
}

// TestAudit: the audit says who did what with which outcome, counts what a connection
// repeats, and holds no payload and no token. Only an agent's token reads it.
func TestAudit(t *testing.T) {
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken})
	if _, err := h.Add(canvas.New("hello", "Says hello.")); err != nil {
		t.Fatal(err)
	}
	value, err := dialAgent(t, h).Call(t.Context(), "open_canvas", ahp.Value(`{"canvasId":"hello","instanceId":"one"}`))
	if err != nil {
		t.Fatal(err)
	}
	var open canvas.OpenCanvas
	if err := ahp.Unmarshal(value, &open); err != nil {
		t.Fatal(err)
	}
	c := dial(t, h, "person", open.Channel)
	send(t, c, `{"jsonrpc":"2.0","id":1,"method":"createSession","params":{"channel":"ahp-session:/mine"}}`)
	receive(t, c)
	for n := range 3 {
		send(t, c, fmt.Sprintf(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":%q,"clientSeq":%d,"action":{"type":"canvas/message","payload":"secret words"}}}`, open.Channel, n))
		receive(t, c)
	}
	var got []string
	for _, e := range h.Audit() {
		got = append(got, fmt.Sprint(e.Token, " ", e.Client, " ", e.Method, " ", e.Target, " ", e.Outcome, " ", e.Count))
	}
	want := []string{
		"agent  open_canvas one ok 1", "view person initialize  ok 1", "view person createSession  role_required 1",
		"view person canvas/message " + open.Channel + " ok 3",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("audit:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	secret, _, err := h.AccessTokens().Create(token.Request{Role: host.RoleAgent, Name: "nightly"})
	if err != nil {
		t.Fatal(err)
	}
	named, err := mcp.Dial(t.Context(), mcp.ClientOptions{URL: h.Endpoints().MCP, Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	if _, err := named.Call(t.Context(), "close_canvas", ahp.Value(`{"instanceId":"one"}`)); err != nil {
		t.Fatal(err)
	}
	if all := h.Audit(); all[len(all)-1].Token != "nightly" {
		t.Errorf("a call with a named token: %+v", all[len(all)-1])
	}
	if status, _ := post(t, h, "GET", "/access/audit", viewToken, ""); status != http.StatusForbidden {
		t.Errorf("the audit with the view token: %d", status)
	}
	if status, m := post(t, h, "GET", "/access/audit", agentToken, ""); status != http.StatusOK || len(m["entries"].([]any)) != 5 {
		t.Errorf("the audit: %d %v", status, m)
	}
}
