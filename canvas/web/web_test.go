package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

const contentHost = "c-0123456789abcdef0123456789abcdef.localhost:8080"

// local is a handler for localhost:8080 whose Options.App answers 299.
func local(t *testing.T) http.Handler {
	t.Helper()
	h, err := web.New(web.Options{
		AppOrigins: []string{"http://localhost:8080", "http://127.0.0.1:8080"},
		App:        http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(299) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, method, host, path string, header http.Header) *http.Response {
	r := httptest.NewRequest(method, "http://"+host+path, nil)
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// asWorker returns the headers with which a browser loads a file: sw.js is served as a service
// worker only.
func asWorker(path string) http.Header {
	if path != "/.ahp/sw.js" {
		return nil
	}
	return http.Header{"Service-Worker": {"script"}}
}

func TestRouting(t *testing.T) {
	h := local(t)
	upgrade := http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}
	for _, tt := range []struct {
		method, host, path string
		header             http.Header
		want               int
	}{
		{"GET", "localhost:8080", "/", nil, 200},
		{"GET", "LOCALHOST:8080", "/", nil, 200},
		{"GET", "127.0.0.1:8080", "/app.js", nil, 200},
		{"HEAD", "localhost:8080", "/app.css", nil, 200},
		{"POST", "localhost:8080", "/", nil, 405},
		{"GET", "localhost:8080", "/direct.html", nil, 200},
		{"GET", "localhost:8080", "/page/app.js", nil, 299},
		{"GET", "localhost:8080", "/ahp", nil, 299},
		{"POST", "localhost:8080", "/mcp", nil, 299},
		{"GET", "localhost:8080", "/healthz", nil, 299},
		{"GET", "localhost:8080", "/.ahp/frame.html", nil, 299},

		{"GET", contentHost, "/.ahp/frame.html", nil, 200},
		{"GET", contentHost, "/.ahp/frame.js", nil, 200},
		{"GET", contentHost, "/.ahp/sw.js", nil, 404},
		{"GET", contentHost, "/.ahp/canvas.js", http.Header{"Sec-Fetch-Dest": {"sharedworker"}}, 404},
		{"GET", contentHost, "/.ahp/clear.html", nil, 200},
		{"GET", contentHost, "/.ahp/sw.js", http.Header{"Service-Worker": {"script"}}, 200},
		{"GET", contentHost, "/.ahp/sw.js?x", http.Header{"Service-Worker": {"script"}}, 404},
		{"GET", contentHost, "/.ahp/canvas.js", nil, 200},
		{"GET", contentHost, "/.ahp/canvas.js", http.Header{"Service-Worker": {"script"}}, 404},
		{"GET", contentHost, "/.ahp/shim.js", nil, 200},
		{"POST", contentHost, "/.ahp/frame.html", nil, 405},
		{"GET", contentHost, "/.ahp/", nil, 404},
		{"GET", contentHost, "/.ahp/../index.html", nil, 404},
		{"GET", contentHost, "/", nil, 404},
		{"GET", contentHost, "/app.js", nil, 404},
		{"GET", contentHost, "/index.html", nil, 404},
		{"GET", contentHost, "/ahp", upgrade, 404},
		{"POST", contentHost, "/mcp", nil, 404},
		{"GET", contentHost, "/healthz", nil, 404},

		{"GET", "localhost:8081", "/", nil, 421},
		{"GET", "localhost", "/", nil, 421},
		{"GET", "evil.example:8080", "/", nil, 421},
		{"GET", "localhost.:8080", "/", nil, 421},
		{"GET", "c-0123456789abcdef0123456789abcdef.localhost:8081", "/.ahp/sw.js", nil, 421},
		{"GET", "c-0123456789abcdef0123456789abcde.localhost:8080", "/.ahp/sw.js", nil, 421},
		{"GET", "c-0123456789abcdef0123456789abcdeg.localhost:8080", "/.ahp/sw.js", nil, 421},
		{"GET", "x.c-0123456789abcdef0123456789abcdef.localhost:8080", "/.ahp/sw.js", nil, 421},
		{"GET", "0123456789abcdef0123456789abcdef.localhost:8080", "/.ahp/sw.js", nil, 421},
		{"GET", "evil.localhost:8080", "/", nil, 421},
	} {
		if got := get(h, tt.method, tt.host, tt.path, tt.header); got.StatusCode != tt.want {
			t.Errorf("%s %s%s: %d, want %d", tt.method, tt.host, tt.path, got.StatusCode, tt.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts web.Options
		want string
	}{
		{"no origin", web.Options{}, "AppOrigins is empty"},
		{"a host", web.Options{AppOrigins: []string{"localhost:8080"}}, "is not a web origin"},
		{"a path", web.Options{AppOrigins: []string{"http://localhost:8080/x"}}, "is not a web origin"},
		{"a user", web.Options{AppOrigins: []string{"http://me@localhost:8080"}}, "is not a web origin"},
		{"another scheme", web.Options{AppOrigins: []string{"ftp://localhost"}}, "is not a web origin"},
		{"a pattern without a star", web.Options{AppOrigins: []string{"http://localhost"}, ContentOrigin: "https://canvas.example"}, "is not a pattern"},
		{"a pattern of everything", web.Options{AppOrigins: []string{"http://localhost"}, ContentOrigin: "https://*"}, "is not a pattern"},
		{"two stars", web.Options{AppOrigins: []string{"http://localhost"}, ContentOrigin: "https://*.*.example"}, "is not a pattern"},
		{"an app below its content", web.Options{AppOrigins: []string{"https://c-0123456789abcdef0123456789abcdef.x.example"}, ContentOrigin: "https://*.x.example"}, "use another domain"},
	} {
		if _, err := web.New(tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// FuzzHost: for any Host header, our files are served only under exact names, and each
// of our responses has a policy.
func FuzzHost(f *testing.F) {
	exact := regexp.MustCompile(`^(localhost:8080|127\.0\.0\.1:8080|c-[0-9a-f]{32}\.localhost:8080)$`)
	for _, host := range []string{"localhost:8080", "LOCALHOST:8080", contentHost, "", "localhost:8080.", contentHost + ".evil.example", "c-.localhost:8080"} {
		f.Add(host, "/.ahp/sw.js")
	}
	h, err := web.New(web.Options{AppOrigins: []string{"http://localhost:8080", "http://127.0.0.1:8080"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host, path string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.URL.Path = host, path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if known := exact.MatchString(strings.ToLower(host)); known == (w.Code == http.StatusMisdirectedRequest) {
			t.Errorf("%q: %d", host, w.Code)
		}
		if w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%q %q: no policy", host, path)
		}
	})
}

func Example() {
	api := http.NewServeMux() // requests that reached Options.App
	page, err := web.New(web.Options{AppOrigins: []string{"http://localhost:8080"}, App: api})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, host := range []string{"localhost:8080", contentHost, "evil.example"} {
		fmt.Println(get(page, "GET", host, "/", nil).StatusCode)
	}
	fmt.Println(web.Link("http://localhost:8080", "secret", "ahp-session:/default"))
	// Output:
	// 200
	// 404
	// 421
	// http://localhost:8080/#tkn=secret&session=ahp-session%3A%2Fdefault
}
