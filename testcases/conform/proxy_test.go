package conform_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// The token of a recording is for programs without one: a web page that found
// the port does not get into the host with it.
func TestNoTokenIsLentToAWebPage(t *testing.T) {
	h := startHost(t, false)
	r := &conform.Recorder{}
	proxy := &conform.Proxy{To: h.url, Token: viewToken, Watcher: r}
	server := httptest.NewServer(proxy)
	defer server.Close()
	defer proxy.Close()
	url := "ws" + strings.TrimPrefix(server.URL, "http") + "/ahp"
	for _, c := range []struct {
		name, token, origin string
		want                int // of the refusal; 0 is none
	}{
		{"a program", "", "", 0},
		{"a page", "", "http://evil.example", 403},
		{"a page without an origin", "", "null", 403},
		{"a page of the recorder's own address", "", server.URL, 403},
		{"a page with a token", viewToken, "http://evil.example", 0},
		{"a page with a wrong token", "wrong", "http://evil.example", 401},
	} {
		header := http.Header{}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		conn, err := ws.Dial(t.Context(), url, ws.DialOptions{Token: c.token, Header: header})
		got := 0
		if e, ok := err.(*ws.HandshakeError); ok {
			got = e.Status
		} else if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got != c.want {
			t.Errorf("%s: refused with %d, want %d", c.name, got, c.want)
		}
		if conn != nil {
			conn.Close(ws.CodeNormal, "")
			conn.Wait()
		}
	}
}

// A recording may run for days: connections that have ended leave nothing behind.
func TestEndedConnectionsAreLetGo(t *testing.T) {
	h := startHost(t, false)
	proxy := &conform.Proxy{To: h.url, Token: viewToken, Watcher: &conform.Recorder{}}
	server := httptest.NewServer(proxy)
	defer server.Close()
	defer proxy.Close()
	url := "ws" + strings.TrimPrefix(server.URL, "http") + "/ahp"
	for range 3 {
		conn, err := ws.Dial(t.Context(), url, ws.DialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		conn.Close(ws.CodeNormal, "")
		conn.Wait()
	}
	proxy.Wait()
	if n := proxy.Conns(); n != 0 {
		t.Errorf("%d connections are kept, and none is open", n)
	}
}
