package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"testing"
)

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

// TestPackedScript: the page's script is sent in gzip to a client that takes it.
func TestPackedScript(t *testing.T) {
	h := local(t)
	want := body(h, "localhost:8080", "/page.js")
	for accepted, coding := range map[string]string{"gzip, deflate, br": "gzip", "br,GZIP": "gzip", "": "", "br": "", "gzip;q=0": ""} {
		r := get(h, "GET", "localhost:8080", "/page.js", http.Header{"Accept-Encoding": {accepted}})
		if got := r.Header.Get("Content-Encoding"); got != coding {
			t.Errorf("%q: coding %q", accepted, got)
			continue
		}
		var text io.Reader = r.Body
		if coding != "" {
			if r.ContentLength > int64(len(want)/2) {
				t.Errorf("%d bytes of %d", r.ContentLength, len(want))
			}
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			text = z
		}
		if got, err := io.ReadAll(text); err != nil || string(got) != want {
			t.Errorf("%q: %d bytes, %v", accepted, len(got), err)
		}
	}
}
