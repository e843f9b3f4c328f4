package web_test

import "testing"

func TestMediaTypes(t *testing.T) {
	h := local(t)
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/page.js": "text/javascript; charset=utf-8", "/app.js": "text/javascript; charset=utf-8",
		"/app.css": "text/css; charset=utf-8", "/favicon.svg": "image/svg+xml",
	} {
		if got := get(h, "GET", "localhost:8080", path, nil).Header.Get("Content-Type"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
