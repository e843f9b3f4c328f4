package listener

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// adminStatus returns the status of a request to an admin listener, under a host name, or
// under its address for "".
func adminStatus(t *testing.T, address, path, host string, header http.Header) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
	}
	req.Host = host
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
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

// startAdmin starts an admin listener that stops with the test.
func startAdmin(t *testing.T, a Admin) {
	t.Helper()
	stop, err := a.Start(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

// TestAdminIsNotForPages checks that programs and people can read health and metrics, and
// web pages cannot.
func TestAdminIsNotForPages(t *testing.T) {
	address := "127.0.0.1:" + freePort(t)
	startAdmin(t, Admin{Listen: address})
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
		if got := adminStatus(t, address, c.path, "", c.header); got != c.want {
			t.Errorf("%s with %v: %d, want %d", c.path, c.header, got, c.want)
		}
	}
}

// TestAdminTakesItsOwnNamesOnly checks that only the names of the listener are accepted. A
// page can rebind its own name to any address, and over plain http its requests carry no
// mark of that.
func TestAdminTakesItsOwnNamesOnly(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(machine, ".")
	if short == "localhost" {
		t.Skip("this machine has no name besides localhost")
	}
	for _, listens := range []struct {
		at      string
		names   []string
		machine int // status under the machine's own name
		given   int // status under the name of --admin-name
	}{
		{"127.0.0.1", nil, 421, 421},
		{"127.0.0.1", []string{"Metrics.Example"}, 421, 200},
		{"0.0.0.0", nil, 200, 421},
		{"0.0.0.0", []string{"other.example", "metrics.example"}, 200, 200},
	} {
		port := freePort(t)
		startAdmin(t, Admin{Listen: listens.at + ":" + port, Names: listens.names})
		for host, want := range map[string]int{
			"":                     200,
			"localhost:9090":       200,
			"[::1]:9090":           200,
			"192.0.2.7:9090":       200,
			"evil.test:9090":       421,
			"localhost.evil.test":  421,
			"127.0.0.1.evil.test":  421,
			machine + ":9090":      listens.machine,
			short:                  listens.machine,
			machine + ".evil.test": 421,
			"METRICS.example:9090": listens.given,
		} {
			if got := adminStatus(t, "127.0.0.1:"+port, "/metrics", host, nil); got != want {
				t.Errorf("%s with %q, asked as %q: %d, want %d", listens.at, listens.names, host, got, want)
			}
		}
	}
}

func TestAdminNamesAreNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"metrics.example": true, "relay": true,
		"": false, "http://metrics.example": false, "metrics.example:9090": false, "*.example": false,
	} {
		if err := (Admin{Names: []string{name}}).Check(); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestAdminKeepsNoConnection checks that a connection is closed if it sends no further
// request or no body, or does not read the response.
func TestAdminKeepsNoConnection(t *testing.T) {
	for name, request := range map[string]string{
		"idle":      "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"no body":   "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n",
		"no header": "GET / HTTP/1.1\r\n",
		"unread":    "GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mux := http.NewServeMux()
				mux.HandleFunc("/much", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
				srv := adminServer(mux, adminNames(nil, true), slog.New(slog.DiscardHandler))
				if kept := ahptest.ConnLifetime(t, srv, request); kept >= time.Hour {
					t.Error("it is still open after", kept)
				}
			})
		})
	}
}
