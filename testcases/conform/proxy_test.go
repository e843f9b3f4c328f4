package conform_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// Only programs may use the proxy's token: a web page that finds the port
// cannot get into the host with it.
func TestNoTokenForWebPages(t *testing.T) {
	h := startHost(t, false)
	r := &conform.Recorder{}
	proxy := &conform.Proxy{To: h.url, Token: agentToken, Watcher: r}
	server := httptest.NewServer(proxy)
	defer server.Close()
	defer proxy.Close()
	url := "ws" + strings.TrimPrefix(server.URL, "http") + "/ahp"
	for _, c := range []struct {
		name, token, origin string
		want                int // status of the refusal; 0 is none
	}{
		{"a program", "", "", 0},
		{"a page", "", "http://evil.example", 403},
		{"a page without an origin", "", "null", 403},
		{"a page of the recorder's own address", "", server.URL, 403},
		{"a page with a token", agentToken, "http://evil.example", 0},
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

// A recording survives a restart of its host and never sends the token to
// another program that takes the host's port in between.
func TestNoTokenForStrangers(t *testing.T) {
	var gone atomic.Bool
	var seen atomic.Value // of string: the headers of the last request
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(fmt.Sprint(r.Header))
		switch q := r.URL.Query(); {
		case gone.Load():
		case r.URL.Path == proof.Path:
			fmt.Fprintln(w, proof.Of(agentToken, q.Get("at"), q.Get("nonce")))
		default:
			http.Error(w, "", http.StatusTeapot) // a response that is forwarded
		}
	}))
	defer host.Close()
	proxy := &conform.Proxy{To: "ws" + strings.TrimPrefix(host.URL, "http") + "/ahp", Token: agentToken, Watcher: &conform.Recorder{}}
	server := httptest.NewServer(proxy)
	defer server.Close()
	defer proxy.Close()
	for _, want := range []int{http.StatusTeapot, http.StatusBadGateway} {
		gone.Store(want == http.StatusBadGateway)
		_, err := ws.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/ahp", ws.DialOptions{})
		if e, ok := err.(*ws.HandshakeError); !ok || e.Status != want {
			t.Errorf("the client got %v, want %d", err, want)
		}
		if lent := strings.Contains(seen.Load().(string), agentToken); lent == gone.Load() {
			t.Errorf("lent: %t", lent)
		}
	}
}

// A recording can run for days: connections that have ended leave nothing
// behind.
func TestEndedConnectionsAreForgotten(t *testing.T) {
	h := startHost(t, false)
	proxy := &conform.Proxy{To: h.url, Token: agentToken, Watcher: &conform.Recorder{}}
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
