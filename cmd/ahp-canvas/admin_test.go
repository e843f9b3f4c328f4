package main

import (
	"log/slog"
	"net/http"
	"testing"
)

// Health and metrics are for programs and for who types the address, not for a
// page that found a way to it.
func TestAdminIsNotForPages(t *testing.T) {
	address := "127.0.0.1:" + freePort(t)
	stop, err := startAdmin(address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, c := range []struct {
		path   string
		header http.Header
		want   int
	}{
		{"/healthz", nil, 200},
		{"/metrics", nil, 200},
		{"/metrics", http.Header{"Sec-Fetch-Site": {"none"}}, 200},
		{"/metrics", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 403},
		{"/metrics", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"/healthz", http.Header{"Origin": {"http://evil.test"}}, 403},
		{"/", nil, 404},
		{"/debug/pprof/", nil, 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.header != nil {
			req.Header = c.header
		}
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s with %v: %d, want %d", c.path, c.header, resp.StatusCode, c.want)
		}
	}
}
