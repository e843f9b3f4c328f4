package programtest

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
)

const (
	relayPort  = "8443"
	adminPort  = "9100"
	relayWords = "wss://relay.test:" + relayPort + "/"
)

// far is the evidence with a host that the browser can reach only through a relay.
type far struct {
	*evidence
	net       network
	relayM    *machine
	relayArgs []string
	relayCmd  *exec.Cmd
	key       relaykey.Key
	roots     *x509.CertPool
	spki      string
}

// newFar starts the relay and the host, each in its own namespace.
func newFar(t *testing.T) *far {
	n := newNetwork(t)
	f := &far{evidence: newEvidence(t, newMachine(t)), net: n, relayM: newMachine(t)}
	f.m.via, f.relayM.via = via(n.host), via(n.relay)
	dir := t.TempDir()
	cert, key := ahptest.WriteCertificate(t, dir, 1, "relay.test", "*.canvas.test")
	f.trust(t, cert)
	tokens, laptop := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "laptop.json")
	made := f.relayM.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")
	if err := json.Unmarshal([]byte(made), &f.key); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(laptop, []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
	f.relayArgs = []string{
		"relay", "--listen", "0.0.0.0:" + relayPort, "--tokens", tokens, "--tls-cert", cert, "--tls-key", key, "--admin", "127.0.0.1:" + adminPort,
		"--origin", "https://relay.test:" + relayPort, "--content-origin", "https://*.canvas.test:" + relayPort,
	}
	f.startRelay(t)
	t.Cleanup(f.killRelay)
	f.m.env = append(f.m.env, "SSL_CERT_FILE="+cert)
	f.serve(t, "--relay", relayWords, "--relay-token-file", laptop, "--admin", hostAddress+":"+adminPort)
	f.registered(t)
	return f
}

// trust makes the browser accept the self-signed certificate, as an authority of the user
// would.
func (f *far) trust(t *testing.T, cert string) {
	t.Helper()
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	f.roots = x509.NewCertPool()
	f.roots.AppendCertsFromPEM(text)
	block, _ := pem.Decode(text)
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(parsed.RawSubjectPublicKeyInfo)
	f.spki = base64.StdEncoding.EncodeToString(sum[:])
}

// startRelay starts the relay and returns once it listens.
func (f *far) startRelay(t *testing.T) {
	t.Helper()
	f.relayCmd = f.relayM.command(t.Context(), f.relayArgs...)
	f.relayCmd.Cancel = nil // the test ends the relay, after the browser
	out, err := f.relayCmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs := &lockedBuffer{}
	f.relayCmd.Stderr = errs
	if err := f.relayCmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len(relayWords))); err != nil {
		t.Fatalf("relay: %v\n%s", err, errs)
	}
}

func (f *far) killRelay() {
	_ = f.relayCmd.Process.Kill()
	_ = f.relayCmd.Wait()
}

// fetched requests a URL from within a namespace.
func fetched(t *testing.T, ns, address string) (string, error) {
	t.Helper()
	transport := &http.Transport{DialContext: dialer(ns), DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Get(address)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// numberOf returns a number from a program's metrics.
func numberOf(t *testing.T, ns, address, name string) float64 {
	t.Helper()
	text, err := fetched(t, ns, "http://"+address+":"+adminPort+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("there is no %s among the metrics", name)
	}
	v, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// registered waits until the host is registered with the relay.
func (f *far) registered(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); numberOf(t, f.net.host, hostAddress, "ahp_canvas_relay_registered") != 1; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("the host is not registered:\n%s", f.server.errs)
		}
	}
}

// open opens the host's link in a browser, in the client's namespace.
func (f *far) open(t *testing.T) {
	t.Helper()
	browserIn(t, f.net.client)
	f.evidence.open(t, "ignore-certificate-errors-spki-list="+f.spki,
		fmt.Sprintf("host-resolver-rules=MAP relay.test %s,MAP *.canvas.test %s", relayToClient, relayToClient))
}

// dial connects a client to the host, in the client's namespace and through the relay.
func (f *far) dial(t *testing.T, opts client.Options) *client.Client {
	t.Helper()
	opts.Token, opts.HostToken, opts.TLS, opts.Seal = f.key.ClientToken, f.server.ViewToken, &tls.Config{RootCAs: f.roots}, identityOf(t, f.server.Link)
	from := dialer(f.net.client)
	opts.NetDial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return from(ctx, network, relayToClient+":"+relayPort)
	}
	c, err := client.Dial(t.Context(), relayWords+"ahp/"+f.key.Host, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
