package host_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// request sends a request to a server's address under another name, and returns the
// status and the body.
func request(t *testing.T, method, url, name string, header http.Header) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header, req.Host = header, name
	resp, err := httpClient(t).Do(localhost(req))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(body))
}

func bearerToken(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

// echo answers with what it knows about the caller, and the parts of the request that
// held the token.
func echo(w http.ResponseWriter, r *http.Request) {
	grant, ok := host.GrantFrom(r.Context())
	fmt.Fprintf(w, "%s|%s|%t|%s|%s|%s", grant.Role, grant.ClientID, ok, r.Header.Get("Authorization"), r.Header.Get("Sec-Websocket-Protocol"), r.RequestURI)
}

// Patterns of a program pass the host's checks in their order: name, origin, token, role.
func TestHandle(t *testing.T) {
	h, _ := serve(t, host.Options{ViewToken: viewToken, AgentToken: agentToken, Tokens: []ws.Token{
		{Secret: "hook-token", Role: "hook", ClientID: "c-1"},
	}})
	h.Handle("/api/", http.HandlerFunc(echo), host.RoleAgent, "hook")
	h.Handle("GET /any", http.HandlerFunc(echo), host.RoleView, host.RoleAgent)
	h.Handle("POST /open", http.HandlerFunc(echo))
	h.Handle("/{catchall...}", http.HandlerFunc(echo), host.RoleView)
	page := strings.TrimSuffix(h.Endpoints().Page, "/")
	with := func(header http.Header, name, value string) http.Header {
		header.Set(name, value)
		return header
	}
	for _, tc := range []struct {
		name, method, path, host string
		header                   http.Header
		status                   int
		body                     string
	}{
		{"agent", "GET", "/api/x", "", bearerToken(agentToken), 200, "agent||true|||/api/x"},
		{"a role of the program", "POST", "/api/x", "", bearerToken("hook-token"), 200, "hook|c-1|true|||/api/x"},
		{"wrong role", "GET", "/api/x", "", bearerToken(viewToken), 403, "-"},
		{"no token", "GET", "/api/x", "", nil, 401, "-"},
		{"wrong token", "GET", "/api/x", "", bearerToken("x"), 401, "-"},
		{"wrong host", "GET", "/api/x", "evil.example", bearerToken(agentToken), 421, "-"},
		{"another port", "GET", "/api/x", "localhost:1", bearerToken(agentToken), 421, "-"},
		{"wrong origin", "GET", "/api/x", "", with(bearerToken(agentToken), "Origin", "https://evil.example"), 403, "-"},
		{"null origin", "GET", "/api/x", "", with(bearerToken(agentToken), "Origin", "null"), 403, "-"},
		{"own origin", "GET", "/api/x", "", with(bearerToken(agentToken), "Origin", page), 200, "agent||true|||/api/x"},
		{"a token in the URL", "GET", "/any?tkn=" + viewToken + "&a=1", "", nil, 200, "view||true|||/any?a=1"},
		{"a token among the subprotocols", "GET", "/any", "", http.Header{"Sec-Websocket-Protocol": {"x, bearer." + viewToken}}, 200, "view||true||x|/any"},
		{"no roles", "POST", "/open", "", nil, 200, "||false|||/open"},
		{"no roles, a header of the handler's", "POST", "/open?tkn=1", "", bearerToken("other"), 200, "||false|Bearer other||/open?tkn=1"},
		{"no roles, wrong origin", "POST", "/open", "", http.Header{"Origin": {"https://evil.example"}}, 403, "-"},
		{"no roles, wrong host", "POST", "/open", "evil.example", nil, 421, "-"},
		{"a content host", "POST", "/open", "c-0123456789abcdef0123456789abcdef.localhost" + page[strings.LastIndexByte(page, ':'):], nil, 404, "-"},
		{"a wildcard", "GET", "/other", "", bearerToken(viewToken), 200, "view||true|||/other"},
		{"a wildcard and the host's own path", "GET", "/healthz", "", nil, 200, "ok"},
		{"a wildcard and another method", "POST", "/healthz", "", bearerToken(viewToken), 405, "-"},
		{"the program's role and AHP", "GET", "/ahp", "", bearerToken("hook-token"), 403, "-"},
		{"the program's role and MCP", "POST", "/mcp", "", bearerToken("hook-token"), 403, "-"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, body := request(t, tc.method, page+tc.path, tc.host, tc.header)
			if status != tc.status || tc.body != "-" && body != tc.body {
				t.Errorf("%d %q, want %d %q", status, body, tc.status, tc.body)
			}
		})
	}
}

// A pattern cannot replace what the host serves.
func TestHandlePanics(t *testing.T) {
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.Handle("/taken", http.NotFoundHandler())
	for _, pattern := range []string{
		"/", "/{$}", "GET /", "/ahp", "POST /ahp", "localhost/ahp", "GET localhost/mcp", "/mcp", "/mcp/", "/proof", "/healthz", "/healthz/x",
		"/index.html", "/app.js", "/.ahp/", "/.ahp/frame.html", "/taken", "", "GET", "/{",
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was registered", pattern)
				}
			}()
			h.Handle(pattern, http.NotFoundHandler(), host.RoleAgent)
		}()
	}
}

// A host that knows no address answers as a plain handler to loopback names, at the port
// of the connection.
func TestPlainHandler(t *testing.T) {
	h, err := host.New(host.Options{ViewToken: viewToken, AgentToken: agentToken})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	h.Handle("/api", http.HandlerFunc(echo), host.RoleView)
	if h.Link(host.DefaultSession) != "" || h.Endpoints() != (host.Endpoints{}) {
		t.Error("it has a link before it has an address")
	}
	server := httptest.NewServer(h)
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	port := address[strings.LastIndexByte(address, ':'):]
	content := "c-0123456789abcdef0123456789abcdef.localhost" + port
	proof := "/proof?nonce=0123456789abcdef0123456789abcdef&at="
	for _, tc := range []struct {
		name, path, host, origin, token string
		status                          int
		hint                            bool
	}{
		{"page", "/", "", "", "", 200, false},
		{"page on localhost", "/", "localhost" + port, "", "", 200, false},
		{"page on another port", "/", "localhost:1", "", "", 421, true},
		{"page without a port", "/", "localhost", "", "", 421, true},
		{"page on another loopback address", "/", "[::1]" + port, "", "", 421, true},
		{"rebound name", "/", "evil.example" + port, "", "", 421, true},
		{"rebound name with a token", "/api", "evil.example" + port, "", viewToken, 421, true},
		{"name that begins with localhost", "/", "localhost.evil.example" + port, "", "", 421, true},
		{"name below localhost", "/", "x.localhost" + port, "", "", 421, true},
		{"frame", "/.ahp/frame.html", content, "", "", 200, false},
		{"AHP on a content host", "/ahp", content, "", viewToken, 404, false},
		{"AHP", "/ahp", "localhost" + port, "http://localhost" + port, viewToken, 400, false},
		{"AHP without a token", "/ahp", "", "", "", 401, false},
		{"AHP from another port", "/ahp", "", "http://localhost:1", viewToken, 403, true},
		{"AHP from elsewhere", "/ahp", "", "https://evil.example", viewToken, 403, true},
		{"AHP from a content host", "/ahp", "", "http://" + content, viewToken, 403, true},
		{"AHP over https, it says", "/ahp", "", "https://localhost" + port, viewToken, 403, true},
		{"token in the URL", "/ahp?tkn=" + viewToken, "", "", "", 401, false},
		{"MCP from elsewhere", "/mcp", "", "https://evil.example", agentToken, 403, true},
		{"MCP with the view token", "/mcp", "", "", viewToken, 403, false},
		{"pattern", "/api", "", "", viewToken, 200, false},
		{"proof", proof + address, "", "", "", 200, false},
		{"proof at localhost", proof + "localhost" + port, "localhost" + port, "", "", 200, false},
		{"proof for another port", proof + "localhost:1", "", "", "", 421, false},
		{"proof for the port of the Host header", proof + "localhost:1", "localhost:1", "", "", 421, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			header := http.Header{}
			if tc.origin != "" {
				header.Set("Origin", tc.origin)
			}
			if tc.token != "" {
				header = http.Header{"Authorization": {"Bearer " + tc.token}, "Origin": header["Origin"]}
			}
			status, body := request(t, "GET", server.URL+tc.path, cmp.Or(tc.host, address), header)
			if status != tc.status || strings.Contains(body, "Options.Origins") != tc.hint {
				t.Errorf("%d %q, want %d", status, body, tc.status)
			}
		})
	}
}

// A connection that did not arrive on loopback has no name without Options.Origins.
func TestPlainHandlerBeyondLoopback(t *testing.T) {
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, local := range []net.Addr{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}, &net.UnixAddr{Name: "/run/host.sock", Net: "unix"}, nil} {
		for _, name := range []string{"localhost:8080", "192.0.2.1:8080", "localhost"} {
			r := httptest.NewRequest("GET", "http://"+name+"/", nil)
			if local != nil {
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusMisdirectedRequest || !strings.Contains(w.Body.String(), "Options.Origins") {
				t.Errorf("%v, %s: %d %s", local, name, w.Code, w.Body)
			}
		}
	}
}

// With origins, a plain handler answers to exactly those.
func TestPlainHandlerWithOrigins(t *testing.T) {
	h, err := host.New(host.Options{ViewToken: viewToken, Origins: []string{"https://canvas.example", "http://localhost:5000"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if want := "https://canvas.example/#tkn=" + viewToken; !strings.HasPrefix(h.Link(host.DefaultSession), want) {
		t.Errorf("link %s", h.Link(host.DefaultSession))
	}
	if at := h.Endpoints(); at.AHP != "wss://canvas.example/ahp" {
		t.Errorf("%+v", at)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	for name, want := range map[string]int{"canvas.example": 200, "localhost:5000": 200, strings.TrimPrefix(server.URL, "http://"): 421, "evil.example": 421} {
		if status, body := request(t, "GET", server.URL, name, nil); status != want {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// A program's own TLS server is known as https.
func TestPlainHandlerOverTLS(t *testing.T) {
	h, err := host.New(host.Options{ViewToken: viewToken})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	server := httptest.NewTLSServer(h)
	defer server.Close()
	for origin, want := range map[string]int{server.URL: 400, strings.Replace(server.URL, "https", "http", 1): 403} {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/ahp", nil)
		req.Header = http.Header{"Authorization": {"Bearer " + viewToken}, "Origin": {origin}}
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("origin %s: status %d, want %d", origin, resp.StatusCode, want)
		}
	}
}
