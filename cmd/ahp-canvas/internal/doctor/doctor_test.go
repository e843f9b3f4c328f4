package doctor

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// TestDoctorUsesNoProxy checks that doctor reaches the host as the other commands do.
func TestDoctorUsesNoProxy(t *testing.T) {
	asked := ahptest.WatchProxyLookups(t)
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	base, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := get(t.Context(), base, "/", ""); err != nil || resp.status != http.StatusNotFound || asked() {
		t.Errorf("status %d, %v; it looked for a proxy: %t", resp.status, err, asked())
	}
}
