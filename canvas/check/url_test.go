package check_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// checkURL checks a URL against the policy.
func checkURL(instanceID, url string, client bool, allowed ...string) error {
	source := session.CanvasProviderSource{Kind: session.SourceServer}
	if client {
		source.Kind = session.SourceClient
	}
	limits := check.Limits{AllowSchemes: allowed}
	return limits.URL(instanceID, url, source)
}

func TestURLPolicy(t *testing.T) {
	for _, c := range []struct {
		url            string
		server, client bool // whether it is allowed from each
	}{
		{"https://example.com/a?b#c", true, true},
		{"HTTPS://example.com", true, true},
		{"https://user:s3cret@example.com/", false, false},
		{"https:///nohost", false, false},
		{"https:opaque", false, false},
		{"http://localhost:8080/", true, true},
		{"http://127.0.0.1/", true, true},
		{"http://[::1]/", false, false},
		{"http://127.0.0.2/", false, false},
		{"http://localhost.evil.example/", false, false},
		{"http://localhost@evil.example/", false, false},
		{"http://example.com/", false, false},
		{"ahp-canvas-content:/one/", true, true},
		{"ahp-canvas-content:/two/", false, false},
		{"ahp-canvas-content:/one/../x", false, false},
		{"vscode-webview://abc/index.html", false, true},
		{"tauri-app://localhost/", false, true},
		{"file:///etc/passwd", false, false},
		{"data:text/html,x", false, false},
		{"javascript:alert(1)", false, false},
		{" https://example.com/", false, false},
		{"//example.com/", false, false},
		{"/relative", false, false},
		{"", false, false},
		{"https://example.com/\n", false, false},
		{"https://example.com/\xff", false, false},
		{"https://example.com/" + strings.Repeat("x", 8<<10), false, false},
	} {
		for client, want := range map[bool]bool{false: c.server, true: c.client} {
			err := checkURL("one", c.url, client)
			if (err == nil) != want {
				t.Errorf("%.60q, client %v: %v", c.url, client, err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the url stands in %q", err)
			}
		}
	}
	if err := checkURL("one", "FILE:///x", false, "file"); err != nil {
		t.Errorf("an allowed scheme: %v", err)
	}
}
