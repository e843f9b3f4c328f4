package natsdir

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// issuer is an operator of NATS with one account.
type issuer struct {
	t        testing.TB
	operator *jwt.OperatorClaims
	account  nkeys.KeyPair
	accounts server.AccountResolver
}

func newPair(t testing.TB, make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := make()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair, public
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	operator, operatorID := newPair(t, nkeys.CreateOperator)
	account, accountID := newPair(t, nkeys.CreateAccount)
	i := &issuer{t: t, account: account, accounts: &server.MemAccResolver{}}
	claims := jwt.NewOperatorClaims(operatorID)
	text, err := claims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	if i.operator, err = jwt.DecodeOperatorClaims(text); err != nil {
		t.Fatal(err)
	}
	if text, err = jwt.NewAccountClaims(accountID).Encode(operator); err != nil {
		t.Fatal(err)
	}
	if err := i.accounts.Store(accountID, text); err != nil {
		t.Fatal(err)
	}
	return i
}

// creds writes the credentials of a user.
func (i *issuer) creds(expires time.Time) string {
	i.t.Helper()
	user, userID := newPair(i.t, nkeys.CreateUser)
	claims := jwt.NewUserClaims(userID)
	claims.Expires = expires.Unix()
	text, err := claims.Encode(i.account)
	if err != nil {
		i.t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		i.t.Fatal(err)
	}
	data, err := jwt.FormatUserConfig(text, seed)
	if err != nil {
		i.t.Fatal(err)
	}
	file := filepath.Join(i.t.TempDir(), "edge.creds")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		i.t.Fatal(err)
	}
	return file
}

// A NATS server that demands credentials and certificates accepts an edge that has them.
// Another edge says what it lacks, in its health and once in its log, and comes in once it has
// it.
func TestAServerThatDemandsCredentials(t *testing.T) {
	t.Parallel()
	ours, other := newIssuer(t), newIssuer(t)
	dir := t.TempDir()
	cert, key := ahptest.WriteCertificate(t, dir, 1, "localhost")
	otherCert, otherKey := ahptest.WriteCertificate(t, t.TempDir(), 2, "localhost")
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pem, _ := os.ReadFile(cert)
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(pem)
	_, port, _ := net.SplitHostPort(freeAddress(t))
	s := startServer(t, &server.Options{
		Host: "127.0.0.1", Port: number(port), NoSigs: true, NoLog: true, TrustedOperators: []*jwt.OperatorClaims{ours.operator}, AccountResolver: ours.accounts,
		TLS: true, TLSVerify: true, TLSTimeout: 30, AuthTimeout: 30,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: known, ClientAuth: tls.RequireAndVerifyClientCert},
	})
	defer s.WaitForShutdown()
	defer s.Shutdown()
	valid := ours.creds(time.Now().Add(time.Hour))
	notCreds := filepath.Join(dir, "not.creds")
	if err := os.WriteFile(notCreds, []byte("hidden"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) []string { return []string{"tls://" + name + ":" + port} }
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"right":                      {Options{URLs: at("localhost"), CA: cert, Cert: cert, Key: key, Creds: valid}, ""},
		"no credentials":             {Options{URLs: at("localhost"), CA: cert, Cert: cert, Key: key}, "--nats-creds"},
		"of another operator":        {Options{URLs: at("localhost"), CA: cert, Cert: cert, Key: key, Creds: other.creds(time.Now().Add(time.Hour))}, "--nats-creds"},
		"expired":                    {Options{URLs: at("localhost"), CA: cert, Cert: cert, Key: key, Creds: ours.creds(time.Now().Add(-time.Hour))}, "--nats-creds"},
		"another file":               {Options{URLs: at("localhost"), CA: cert, Cert: cert, Key: key, Creds: notCreds}, "--nats-creds"},
		"an unknown authority":       {Options{URLs: at("localhost"), Cert: cert, Key: key, Creds: valid}, "--nats-ca"},
		"another name":               {Options{URLs: at("127.0.0.1"), CA: cert, Cert: cert, Key: key, Creds: valid}, "other names than the one in --nats"},
		"no client certificate":      {Options{URLs: at("localhost"), CA: cert, Creds: valid}, "--nats-cert"},
		"another client certificate": {Options{URLs: at("localhost"), CA: cert, Cert: otherCert, Key: otherKey, Creds: valid}, "--nats-cert"},
	} {
		t.Run(name, func(t *testing.T) {
			var log ahptest.Log
			c.o.Edges, c.o.Logger, c.o.Heartbeat = allEdges(t), log.Logger(), 100*time.Millisecond
			c.o.Connect = []nats.Option{nats.ReconnectWait(50 * time.Millisecond), nats.Timeout(30 * time.Second)}
			d, err := Open(c.o)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if c.want == "" {
				eventually(t, "the edge is accepted", func() bool { return d.Degraded() == nil })
				if _, err := d.Signal(t.Context(), "laptop", relay.Offer{Lane: "a", Secret: "s"}); err == nil {
					t.Error("a host that no edge has was reached")
				}
				return
			}
			eventually(t, "the edge says why", func() bool { return strings.Contains(fmt.Sprint(d.Degraded()), c.want) })
			eventually(t, "the log says why", func() bool { return strings.Contains(log.String(), c.want) })
			if text := log.String(); strings.Contains(text, "hidden") || strings.Contains(text, "SEED") {
				t.Errorf("the log has a secret:\n%s", text)
			}
		})
	}
}

// Credentials that are renewed in their file take effect without a restart.
func TestCredentialsAreRenewed(t *testing.T) {
	t.Parallel()
	ours, other := newIssuer(t), newIssuer(t)
	_, port, _ := net.SplitHostPort(freeAddress(t))
	s := startServer(t, &server.Options{Host: "127.0.0.1", Port: number(port), NoSigs: true, NoLog: true, TrustedOperators: []*jwt.OperatorClaims{ours.operator}, AccountResolver: ours.accounts})
	defer s.WaitForShutdown()
	defer s.Shutdown()
	file := other.creds(time.Now().Add(time.Hour))
	d, err := Open(Options{URLs: []string{"nats://127.0.0.1:" + port}, Edges: allEdges(t), Creds: file, Heartbeat: 100 * time.Millisecond, Connect: []nats.Option{nats.ReconnectWait(50 * time.Millisecond)}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	eventually(t, "the edge is refused", func() bool { return strings.Contains(fmt.Sprint(d.Degraded()), "--nats-creds") })
	if err := os.Rename(ours.creds(time.Now().Add(time.Hour)), file); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the edge is accepted", func() bool { return d.Degraded() == nil })
}
