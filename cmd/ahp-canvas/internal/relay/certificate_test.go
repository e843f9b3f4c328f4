package relay

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// writeCertificate writes a self-signed certificate for host names.
func writeCertificate(t *testing.T, dir string, serial int64, names ...string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), DNSNames: names, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestCertificateIsRenewed checks that a renewed certificate is used within a minute, and
// that a broken one is not used.
func TestCertificateIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cert, key := writeCertificate(t, dir, 1, "a")
		c := &certificate{cert: cert, key: key, logger: slog.New(slog.DiscardHandler)}
		if err := c.load(); err != nil {
			t.Fatal(err)
		}
		want := func(serial int64) {
			t.Helper()
			pair, err := c.get(nil)
			if err != nil || pair.Leaf.SerialNumber.Int64() != serial {
				t.Errorf("serial %v, want %d, %v", pair.Leaf.SerialNumber, serial, err)
			}
		}
		want(1)
		writeCertificate(t, dir, 2, "a")
		want(1)
		time.Sleep(certificateInterval)
		want(2)
		if err := os.WriteFile(cert, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(certificateInterval)
		want(2)
	})
}
