package programtest

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// TestRelayWithTLS runs a relay with TLS, a name for itself and a wildcard name for
// canvases. A host registers over wss, and each name serves only what it is for.
func TestRelayWithTLS(t *testing.T) {
	m := newMachine(t)
	dir := t.TempDir()
	cert, key := ahptest.WriteCertificate(t, dir, 1, "localhost", "*.canvas.example")
	tokens, laptop := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "laptop.json")
	if err := os.WriteFile(laptop, []byte(m.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	r := m.start("relay", "--listen", "0.0.0.0:"+port, "--tokens", tokens, "--tls-cert", cert, "--tls-key", key,
		"--origin", "https://localhost:"+port, "--content-origin", "https://*.canvas.example")
	if to := strings.TrimSpace(r.line); to != "wss://localhost:"+port+"/" {
		t.Fatalf("it is at %q", to)
	}
	m.env = append(m.env, "SSL_CERT_FILE="+cert)
	s := m.serve("--state", "memory", "--relay", strings.TrimSpace(r.line), "--relay-token-file", laptop)
	r.errs.await(t, `"host registered"`)
	if !strings.HasPrefix(s.Link, "https://localhost:"+port+"/#tkn=") {
		t.Errorf("the link is %s", s.Link)
	}
	pem, _ := os.ReadFile(cert)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer hc.CloseIdleConnections()
	content := "c-" + strings.Repeat("0", 32) + ".canvas.example"
	for _, c := range []struct {
		host, path string
		want       int
	}{
		{"localhost:" + port, "/", 200},
		{"localhost:" + port, "/ahp/laptop", 401},
		{"localhost:" + port, "/mcp", 404},
		{"127.0.0.1:" + port, "/", 421},
		{content, "/.ahp/frame.html", 200},
		{content, "/ahp/laptop", 404},
		{content, "/host/laptop", 404},
		{"x.canvas.example", "/.ahp/frame.html", 421},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://localhost:"+port+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		resp, err := hc.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s%s: %d, want %d", c.host, c.path, resp.StatusCode, c.want)
		}
	}
}
