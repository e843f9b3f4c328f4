package ahptest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestKept(t *testing.T) {
	for within, want := range map[time.Duration]time.Duration{5 * time.Second: 5 * time.Second, 0: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			srv := &http.Server{Handler: http.NotFoundHandler(), IdleTimeout: within}
			if kept := Kept(t, srv, "GET / HTTP/1.1\r\nHost: mem\r\n\r\n"); kept != want {
				t.Errorf("idle for %v at most, kept for %v", within, kept)
			}
		})
	}
}

func TestWithProxy(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	t.Run("somebody looks", func(t *testing.T) {
		asked := WithProxy(t)
		if asked() {
			t.Error("before anything was sent")
		}
		resp, err := http.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if !asked() {
			t.Error("nobody looked for a proxy")
		}
	})
	asked := WithProxy(t)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if asked() {
		t.Error("a transport of one's own looked for a proxy")
	}
}
