package relay

import (
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// TestCertificateIsRenewed checks that a renewed certificate is used within a minute, and
// that a broken one is not used.
func TestCertificateIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cert, key := ahptest.WriteCertificate(t, dir, 1, "a")
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
		ahptest.WriteCertificate(t, dir, 2, "a")
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
