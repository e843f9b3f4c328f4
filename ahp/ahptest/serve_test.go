package ahptest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestConnLifetime(t *testing.T) {
	for within, want := range map[time.Duration]time.Duration{5 * time.Second: 5 * time.Second, 0: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			srv := &http.Server{Handler: http.NotFoundHandler(), IdleTimeout: within}
			if kept := ConnLifetime(t, srv, "GET / HTTP/1.1\r\nHost: mem\r\n\r\n"); kept != want {
				t.Errorf("an idle timeout of %v, kept for %v", within, kept)
			}
		})
	}
}

func TestWatchProxyLookups(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	t.Run("default transport", func(t *testing.T) {
		lookedUp := WatchProxyLookups(t)
		if lookedUp() {
			t.Error("a lookup before the request")
		}
		resp, err := http.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if !lookedUp() {
			t.Error("no lookup of a proxy")
		}
	})
	lookedUp := WatchProxyLookups(t)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if lookedUp() {
		t.Error("another transport looked for a proxy")
	}
}
