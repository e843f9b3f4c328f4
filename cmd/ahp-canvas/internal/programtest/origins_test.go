package programtest

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
)

// get requests a path from a port of this machine, under a host name.
func get(t *testing.T, port, host, path string) (int, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode, resp.Header
}

// freePort returns a port that no program uses now.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}

// TestOrigin checks --origin and --content-origin: links have the origin, the page is
// served under it and on loopback, and canvases get origins of the pattern.
func TestOrigin(t *testing.T) {
	m := newMachine(t)
	for _, tc := range []struct{ args, want string }{
		{"--origin canvas.example", "not a web origin"},
		{"--origin https://canvas.example --content-origin https://canvas.example", "not a pattern of content origins"},
	} {
		m.do(2, append([]string{"serve", "--state", "memory"}, strings.Fields(tc.args)...)...)
		if !strings.Contains(m.err, tc.want) {
			t.Errorf("%s: %s", tc.args, m.err)
		}
	}
	port := freePort(t)
	s := m.serve("--state", "memory", "--listen", "127.0.0.1:"+port, "--origin", "https://Canvas.Example/", "--content-origin", "https://*.c.example")
	if !strings.HasPrefix(s.Link, "https://canvas.example/#tkn=") || s.AHP != "wss://canvas.example/ahp" || s.MCP != "https://canvas.example/mcp" {
		t.Errorf("%+v", s.Endpoint)
	}
	for host, want := range map[string]int{"canvas.example": 200, "localhost:" + port: 200, "evil.example": 421} {
		got, header := get(t, port, host, "/")
		if got != want {
			t.Errorf("%s: status %d, want %d", host, got, want)
		}
		if csp := header.Get("Content-Security-Policy"); host == "canvas.example" && !strings.Contains(csp, "https://*.c.example") {
			t.Errorf("the page's policy does not name the content origins: %s", csp)
		}
	}
}

// TestListenBeyondLoopback checks that beyond loopback no token is accepted in a query,
// because others log URLs.
func TestListenBeyondLoopback(t *testing.T) {
	m := newMachine(t)
	for _, tc := range []struct {
		listen string
		want   int
	}{{"127.0.0.1:0", http.StatusBadRequest}, {"0.0.0.0:0", http.StatusUnauthorized}} {
		s := m.serve("--state", "memory", "--listen", tc.listen)
		u, err := url.Parse(s.MCP)
		if err != nil {
			t.Fatal(err)
		}
		// With an accepted token, the request fails because it is not for a WebSocket.
		if got, _ := get(t, u.Port(), "localhost:"+u.Port(), "/ahp?tkn="+s.ViewToken); got != tc.want {
			t.Errorf("%s: a token in the query: status %d, want %d", tc.listen, got, tc.want)
		}
		c, err := client.Dial(t.Context(), s.AHP, client.Options{Token: s.ViewToken})
		if err != nil {
			t.Fatalf("%s: %v", tc.listen, err)
		}
		c.Close()
	}
}

// TestNotEncrypted checks that a host warns about plain http beyond loopback, unless
// people use an https address.
func TestNotEncrypted(t *testing.T) {
	m := newMachine(t)
	for args, want := range map[string]bool{
		"--listen 127.0.0.1:0": false,
		"--listen 0.0.0.0:0":   true,
		"--listen 0.0.0.0:0 --origin https://canvas.example --content-origin https://*.canvas.example": false,
	} {
		s := m.serve(append([]string{"--state", "memory"}, strings.Fields(args)...)...)
		s.stop(syscall.SIGTERM) // so that its output is complete
		if got := strings.Contains(s.noise(), "not encrypted"); got != want {
			t.Errorf("%s: %q", args, s.noise())
		}
	}
}
