package web_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// TestContentOrigins: which content origins a page gets, and which content hosts are
// served.
func TestContentOrigins(t *testing.T) {
	const id = "c-0123456789abcdef0123456789abcdef"
	for _, tt := range []struct {
		name          string
		apps          []string
		pattern       string
		app           string // the host whose page is looked at
		told          string
		served, other string // content hosts: 200, and 421
		ancestors     string
	}{
		{
			name: "loopback by name", apps: []string{"http://localhost:8080"}, app: "localhost:8080",
			told: "http://*.localhost:8080", served: id + ".localhost:8080", other: id + ".localhost", ancestors: "frame-ancestors http://localhost:8080",
		},
		{
			name: "loopback by address", apps: []string{"http://[::1]:8080"}, app: "[::1]:8080",
			told: "http://*.localhost:8080", served: id + ".localhost:8080", other: id + ".localhost", ancestors: "frame-ancestors http://[::1]:8080",
		},
		{
			name: "not loopback", apps: []string{"http://192.168.0.7:8080"}, app: "192.168.0.7:8080",
			told: "", other: id + ".localhost:8080",
		},
		{
			name: "both: the remote name gets none", apps: []string{"http://localhost:8080", "http://192.168.0.7:8080"}, app: "192.168.0.7:8080",
			told: "", served: id + ".localhost:8080", other: id + ".168.0.7:8080", ancestors: "frame-ancestors http://localhost:8080",
		},
		{
			name: "given", apps: []string{"https://canvas.example"}, pattern: "https://*.canvas-content.example", app: "canvas.example",
			told: "https://*.canvas-content.example", served: id + ".canvas-content.example", other: id + ".localhost", ancestors: "frame-ancestors https://canvas.example",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, err := web.New(web.Options{AppOrigins: tt.apps, ContentOrigin: tt.pattern})
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "http://"+tt.app+"/", nil))
			if meta := `<meta name="content-origin" content="` + tt.told + `">`; !strings.Contains(w.Body.String(), meta) {
				t.Errorf("the page has no %s", meta)
			}
			if frames := strings.TrimSpace("frame-src 'self' " + tt.told); !hasDirective(w.Header(), frames) {
				t.Errorf("the page's policy has no %q: %s", frames, w.Header().Get("Content-Security-Policy"))
			}
			if tt.served != "" {
				got := get(h, "GET", tt.served, "/.ahp/frame.html", nil)
				if got.StatusCode != 200 || !hasDirective(got.Header, tt.ancestors) {
					t.Errorf("%s: %d, %s; want 200 and %s", tt.served, got.StatusCode, got.Header.Get("Content-Security-Policy"), tt.ancestors)
				}
			}
			if got := get(h, "GET", tt.other, "/.ahp/frame.html", nil).StatusCode; got != 421 {
				t.Errorf("%s: %d, want 421", tt.other, got)
			}
		})
	}
}

func hasDirective(h http.Header, directive string) bool {
	return slices.Contains(strings.Split(h.Get("Content-Security-Policy"), "; "), directive)
}
