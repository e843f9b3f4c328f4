package aam_test

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamid"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamid/issuer"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

const neighbors = "../../../testcases/neighbors"

// startNode runs a script of the neighbors, and returns its input and output.
func startNode(t *testing.T, args ...string) (io.Writer, *bufio.Reader) {
	t.Helper()
	if testing.Short() {
		t.Skip("proven in the run without -short")
	}
	if _, err := os.Stat(neighbors + "/node_modules/viem"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("run 'npm ci' in testcases/neighbors")
		}
		t.Skip("NOT PROVEN: run 'npm ci' in testcases/neighbors")
	}
	cmd := exec.Command("node", args...)
	cmd.Dir, cmd.Stderr = neighbors, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return in, bufio.NewReader(out)
}

// nodeCrypto asks viem and jose.
type nodeCrypto struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func (n nodeCrypto) ask(request map[string]any, value any) string {
	n.t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.in.Write(append(raw, '\n')); err != nil {
		n.t.Fatal(err)
	}
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		n.t.Fatal(err)
	}
	var answer struct {
		Value json.RawMessage
		Error string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		n.t.Fatal(err)
	}
	if answer.Error == "" && json.Unmarshal(answer.Value, value) != nil {
		n.t.Fatalf("answer %s", line)
	}
	return answer.Error
}

// TestViem: viem signs what we verify, and verifies what we sign.
func TestViem(t *testing.T) {
	t.Parallel()
	in, out := startNode(t, "crypto.mjs")
	n := nodeCrypto{t, in, out}
	now := time.Now()
	for _, network := range []string{x402.Base, x402.BaseSepolia} {
		net, _ := x402.NetworkOf(network)
		req := x402.Requirement{Scheme: "exact", Network: network, MaxAmount: "50000", Asset: net.Asset.String(), PayTo: payTo}
		var header string
		if why := n.ask(map[string]any{"op": "pay", "key": "0x" + devKey, "network": network, "to": payTo, "value": "50000", "validAfter": "0",
			"validBefore": jsonNumber(now.Add(time.Minute)), "nonce": "0x" + strings.Repeat("ab", 32)}, &header); why != "" {
			t.Fatal(why)
		}
		if p, reason := x402.Verify(req, header, now, nil); reason != nil || p.Data.Network.Name != network {
			t.Errorf("%s: what viem signed: %v", network, reason)
		}
	}
	key, err := x402.ParseKey(devKey)
	if err != nil {
		t.Fatal(err)
	}
	net, _ := x402.NetworkOf(x402.BaseSepolia)
	to, _ := x402.ParseAddress(payTo)
	amount, _ := x402.ParsePrice("0.05")
	for range 20 {
		data, err := x402.Authorize(key.Account(), x402.Price{Network: net, Amount: amount, PayTo: to}, time.Minute, now)
		if err != nil {
			t.Fatal(err)
		}
		sig, err := key.Sign(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		var good bool
		if why := n.ask(map[string]any{"op": "verifyPayment", "header": x402.Header(data, sig)}, &good); why != "" || !good {
			t.Errorf("viem about our header: %v %s", good, why)
		}
		if why := n.ask(map[string]any{"op": "verifyTyped", "typed": data.JSON(), "signature": "0x" + hex.EncodeToString(sig), "address": key.Account()}, &good); why != "" || !good {
			t.Errorf("viem about our typed data: %v %s", good, why)
		}
	}
}

func jsonNumber(t time.Time) string { return string(ahp.MustMarshal(t.Unix())) }

// newIssuer serves an issuer at which alice is signed in.
func newIssuer(t *testing.T) (*issuer.Issuer, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	var i *issuer.Issuer
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { i.ServeHTTP(w, r) }))
	t.Cleanup(srv.Close)
	i, err = issuer.New(issuer.Options{Origin: srv.URL, Key: key, Person: func(*http.Request) (issuer.Person, bool) {
		return issuer.Person{Email: "alice@example.com", Method: "test"}, true
	}})
	if err != nil {
		t.Fatal(err)
	}
	return i, srv.URL
}

// TestJose: jose signs what we verify, and verifies what we sign.
func TestJose(t *testing.T) {
	t.Parallel()
	in, out := startNode(t, "crypto.mjs")
	n := nodeCrypto{t, in, out}
	now := time.Now()
	var signed struct {
		JWT  string
		JWKS json.RawMessage
	}
	claims := map[string]any{"iss": "https://id.example", "sub": "alice@example.com", "aud": "salon.example", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"agent_vendor": "claude-code", "scopes": []string{"book"}, "email_verified": true}
	if why := n.ask(map[string]any{"op": "signCredential", "claims": claims, "kid": "k1"}, &signed); why != "" {
		t.Fatal(why)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(signed.JWKS) }))
	t.Cleanup(srv.Close)
	v := &aamid.Verifier{Issuers: map[string]string{"https://id.example": srv.URL}, Keys: aamid.NewKeys(http.DefaultClient, nil)}
	if _, err := v.Verify(t.Context(), signed.JWT, aamid.Want{Audience: "salon.example", Vendor: "claude-code", Scope: "book", Now: now}); err != nil {
		t.Errorf("what jose signed: %v", err)
	}
	i, origin := newIssuer(t)
	ours, err := i.Issue(issuer.Person{Email: "alice@example.com"}, "salon.example", "claude-code", []string{"book"})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(origin + issuer.PathJWKS)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	keys, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if why := n.ask(map[string]any{"op": "verifyCredential", "jwt": ours, "jwks": json.RawMessage(keys), "issuer": origin, "audience": "salon.example"}, &got); why != "" || got["agent_vendor"] != "claude-code" {
		t.Errorf("jose about our credential: %v %s", got, why)
	}
	if why := n.ask(map[string]any{"op": "verifyCredential", "jwt": ours, "jwks": json.RawMessage(keys), "issuer": origin, "audience": "bank.example"}, &got); why == "" {
		t.Error("jose accepts it for another site")
	}
}

// TestForeignSite uses a site that has none of our code, with addresses below a path and
// AAM's own challenge: with a code, and with a credential of AAM ID.
func TestForeignSite(t *testing.T) {
	t.Parallel()
	i, origin := newIssuer(t)
	_, out := startNode(t, "site.mjs", origin)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for _, credential := range []bool{false, true} {
		e := newEnv(t)
		if e.at, err = aam.ParseSite(strings.TrimSpace(line), true); err != nil {
			t.Fatal(err)
		}
		m := e.manifest(t)
		call := aam.Call{ID: aam.CallID(), Action: "book_appointment", Person: "maria", Params: ahp.Value(`{"time":"10:00"}`)}
		o, err := e.Invoke(t.Context(), m, e.at, call)
		if err != nil || o.Kind != aam.SignIn {
			t.Fatalf("first: %+v, %v", o, err)
		}
		code := visit(t, o.AuthorizeURL)
		if credential {
			if code, err = i.Issue(issuer.Person{Email: "alice@example.com"}, "127.0.0.1", "anthropic.com", []string{"book:appointment"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := e.Exchange(t.Context(), m, e.at, "maria", code); err != nil {
			t.Fatal(err)
		}
		due := e.due(t, m, call)
		if o, err = e.Pay(t.Context(), m, e.at, call, due, "", false); err != nil || o.Status != 201 || string(o.Data) != `{"booked":"10:00"}` {
			t.Fatalf("paid: %+v, %v", o, err)
		}
		if ran, err := out.ReadString('\n'); err != nil || strings.TrimSpace(ran) != "ran book_appointment "+o.RunID {
			t.Errorf("the site says %q, %v", ran, err)
		}
		o, err = e.Invoke(t.Context(), m, e.at, aam.Call{Action: "list_slots", Params: ahp.Value(`{"day":"2026-05-02"}`)})
		if err != nil || !strings.Contains(string(o.Data), "2026-05-02") {
			t.Errorf("slots: %s, %v", o.Data, err)
		}
	}
}

// visit opens the site's page as the person does, and returns the code.
func visit(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct{ Code string }
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	return page.Code
}
