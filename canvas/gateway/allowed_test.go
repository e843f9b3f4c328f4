package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// TestAllowed: the responses of a canvas have the origins that the operator allows it, and
// those of another canvas do not. mayLoad of canvas.js knows them.
func TestAllowed(t *testing.T) {
	app := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) })
	s := newStage(t, app, func(o *host.Options) {
		o.AllowOrigins = map[string][]string{"app": {"https://cdn.example", "wss://live.example"}}
	})
	for id, want := range map[string][2]string{
		"app":   {"connect-src 'self' data: blob: https://cdn.example wss://live.example;", `(response-origin "https://cdn.example" "https://live.example")`},
		"board": {"connect-src 'self' data: blob:;", "(response-origin)"},
	} {
		at, cookie := s.enter(s.open(id))
		for _, path := range []string{"", "none"} {
			res, _ := s.do("GET", at+path, nil, "Cookie", cookie)
			csp := strings.Join(res.Header["Content-Security-Policy"], "; ")
			if !strings.Contains(csp+";", want[0]) || strings.Contains(csp, "img-src 'self' data: blob: https://cdn.example") != (id == "app") || !strings.HasPrefix(res.Header.Get("Connection-Allowlist"), want[1]) {
				t.Errorf("%s%s: %s, %s", id, path, csp, res.Header.Get("Connection-Allowlist"))
			}
		}
		base := at[:strings.Index(at[len("http://"):], "/")+len("http://")]
		res, script := s.do("GET", base+"/.ahp/canvas.js", nil, "Cookie", cookie)
		if want := map[string]string{"app": `const ALLOWED = ["https://cdn.example","wss://live.example"];`, "board": "const ALLOWED = [];"}[id]; res.StatusCode != 200 || !strings.Contains(script, want) ||
			!strings.HasPrefix(res.Header.Get("Content-Type"), "text/javascript") {
			t.Errorf("%s: canvas.js: %d %v, without %s", id, res.StatusCode, res.Header, want)
		}
	}
}
