package host_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// A host proves that it knows a token without disclosing it, and only for its own
// addresses.
func TestProof(t *testing.T) {
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken})
	u, err := url.Parse(h.Endpoints().Page)
	if err != nil {
		t.Fatal(err)
	}
	const nonce = "0123456789abcdef0123456789abcdef"
	client := httpClient(t)
	ask := func(hostName, at, nonce string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+u.Host+"/proof?at="+url.QueryEscape(at)+"&nonce="+nonce, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = hostName
		resp, err := client.Do(localhost(req))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	status, body := ask(u.Host, u.Host, nonce)
	lines := strings.Split(strings.TrimSpace(body), "\n")
	if status != http.StatusOK || len(lines) != 2 {
		t.Fatalf("status %d: %s", status, body)
	}
	for token, known := range map[string]bool{viewToken: true, agentToken: true, "another": false} {
		mac := hmac.New(sha256.New, []byte(token))
		mac.Write([]byte("ahp-canvas host\n" + u.Host + "\n" + nonce))
		if slices.Contains(lines, hex.EncodeToString(mac.Sum(nil))) != known {
			t.Errorf("%s is proven: %t", token, !known)
		}
		if strings.Contains(body, token) {
			t.Errorf("the answer discloses %s", token)
		}
	}
	for _, tc := range []struct {
		hostName, at, nonce string
		want                int
	}{
		{"evil.example", u.Host, nonce, http.StatusMisdirectedRequest},
		{u.Host, "localhost:1", nonce, http.StatusMisdirectedRequest},
		{u.Host, "", nonce, http.StatusMisdirectedRequest},
		{u.Host, u.Host, "", http.StatusBadRequest},
		{u.Host, u.Host, nonce[1:], http.StatusBadRequest},
		{u.Host, u.Host, nonce + "%0A", http.StatusBadRequest},
		{u.Host, u.Host, strings.Repeat(nonce, 3), http.StatusBadRequest},
	} {
		if got, body := ask(tc.hostName, tc.at, tc.nonce); got != tc.want {
			t.Errorf("%+v: status %d: %s", tc, got, body)
		}
	}
}

// A client that reconnects verifies the host on the connection that it then uses, and
// rejects another program at the host's address.
func TestProofOnAConnection(t *testing.T) {
	h, stop := serve(t, host.Options{ViewToken: viewToken})
	u, err := url.Parse(h.Endpoints().AHP)
	if err != nil {
		t.Fatal(err)
	}
	near := "127.0.0.1:" + u.Port()
	verifier := proof.NewVerifier(u.String(), viewToken, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, near)
	})
	for range 2 {
		c, err := ws.Dial(t.Context(), u.String(), ws.DialOptions{Token: viewToken, NetDial: verifier.Dial})
		if err != nil {
			t.Fatal(err)
		}
		c.Close(ws.CodeNormal, "")
		c.Wait()
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", near)
	if err != nil {
		t.Fatal(err)
	}
	ahptest.Serve(t, ln, &http.Server{Handler: http.NotFoundHandler()})
	if _, err := verifier.Dial(t.Context(), "tcp", u.Host); !errors.Is(err, proof.ErrUnverified) {
		t.Errorf("the error is %v", err)
	}
}
