package web_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// common are the headers that all responses must have.
var common = map[string]string{
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Origin-Agent-Cluster":         "?1",
	"Permissions-Policy":           "camera=(), microphone=(), geolocation=(), " + granted,
	"Cache-Control":                "no-store",
	"X-Dns-Prefetch-Control":       "off",
}

// granted is the Permissions-Policy where a frame's allow attribute decides.
const granted = "clipboard-read=(), payment=(), usb=(), serial=(), display-capture=()"

const (
	answerCSP = "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self' data: blob:; worker-src 'self' blob:; frame-src 'self' blob: data:; object-src 'none'; base-uri 'self'; form-action 'self'"
	frameCSP  = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; frame-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors http://localhost:8080 http://127.0.0.1:8080"
	clearCSP  = "default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors http://localhost:8080 http://127.0.0.1:8080"
	appCSP    = "default-src 'none'; script-src 'self' HASH; style-src 'self' HASH HASH HASH; img-src 'self' data:; connect-src 'self' ws://localhost:8080; frame-src 'self' http://*.localhost:8080; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'; manifest-src 'self'"
	directCSP = "default-src 'none'; script-src 'self'; style-src 'self'; frame-src https: http://localhost:* http://127.0.0.1:*; frame-ancestors 'self'; base-uri 'none'; form-action 'none'; object-src 'none'"
	singleCSP = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data:; style-src 'unsafe-inline' data:; img-src data: blob:; font-src data:; media-src data: blob:; frame-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
	confined  = "(response-origin)"
)

// hashes are those of what index.html has inline.
var hashes = regexp.MustCompile(`'sha256-[^']+'`)

// TestHeaders lists all headers of all kinds of response a second time, so that a
// change of the table is deliberate.
func TestHeaders(t *testing.T) {
	h := local(t)
	for _, tt := range []struct {
		name, method, host, path string
		more                     map[string]string
	}{
		{"page", "GET", "localhost:8080", "/", map[string]string{"Content-Security-Policy": appCSP}},
		{"page refused", "PUT", "localhost:8080", "/", map[string]string{"Content-Security-Policy": appCSP, "Allow": "GET, HEAD"}},
		{"page script", "GET", "localhost:8080", "/page.js", map[string]string{"Content-Security-Policy": appCSP, "Vary": "Accept-Encoding"}},
		{"direct", "GET", "localhost:8080", "/direct.html", map[string]string{"Content-Security-Policy": directCSP}},
		{"single", "GET", "localhost:8080", "/single.html", map[string]string{"Content-Security-Policy": singleCSP, "Connection-Allowlist": confined}},
		{"offline worker", "GET", "localhost:8080", "/offline-worker.js", map[string]string{"Content-Security-Policy": "default-src 'none'; connect-src 'self'", "Connection-Allowlist": confined}},
		{"frame", "GET", contentHost, "/.ahp/frame.html", map[string]string{"Content-Security-Policy": frameCSP, "Connection-Allowlist": confined}},
		{"frame refused", "PUT", contentHost, "/.ahp/frame.html", map[string]string{"Content-Security-Policy": frameCSP, "Connection-Allowlist": confined, "Allow": "GET, HEAD"}},
		{"frame script", "GET", contentHost, "/.ahp/frame.js", map[string]string{"Content-Security-Policy": "default-src 'none'", "Connection-Allowlist": confined}},
		{"frame that clears", "GET", contentHost, "/.ahp/clear.html", map[string]string{"Content-Security-Policy": clearCSP, "Connection-Allowlist": confined, "Clear-Site-Data": `"storage", "cookies"`}},
		{"worker", "GET", contentHost, "/.ahp/sw.js", map[string]string{"Content-Security-Policy": "default-src 'none'", "Connection-Allowlist": confined, "Service-Worker-Allowed": "/"}},
		{"absent content", "GET", contentHost, "/nothing.js", map[string]string{"Content-Security-Policy": answerCSP, "Connection-Allowlist": confined}},
		{"absent below .ahp", "GET", contentHost, "/.ahp/nothing", map[string]string{"Content-Security-Policy": answerCSP, "Connection-Allowlist": confined}},
		{"unknown host", "GET", "evil.example", "/", map[string]string{"Content-Security-Policy": "default-src 'none'", "Connection-Allowlist": confined}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := maps.Clone(common)
			maps.Copy(want, tt.more)
			if strings.HasPrefix(tt.name, "frame") && strings.HasSuffix(tt.path, ".html") {
				delete(want, "Origin-Agent-Cluster") // each of these hosts is a site
			}
			if csp := want["Content-Security-Policy"]; csp == appCSP || csp == frameCSP || csp == answerCSP {
				want["Permissions-Policy"] = granted
			}
			got := map[string]string{}
			for name, values := range get(h, tt.method, tt.host, tt.path, asWorker(tt.path)).Header {
				if name != "Content-Type" && name != "Content-Length" {
					got[name] = hashes.ReplaceAllString(strings.Join(values, " | "), "HASH")
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWorkerCarriesThePolicies: sw.js as served contains the same headers as the host's
// own responses.
func TestWorkerCarriesThePolicies(t *testing.T) {
	h := local(t)
	want := maps.Clone(common)
	want["Content-Security-Policy"], want["Connection-Allowlist"], want["Permissions-Policy"] = answerCSP, confined, granted
	if diff := cmp.Diff(want, workerPolicy(t, []byte(body(h, contentHost, "/.ahp/sw.js")))); diff != "" {
		t.Errorf("POLICY of sw.js (-want +got):\n%s", diff)
	}
}

// TestOfflinePolicy: the page that the page's service worker shows runs its own script and
// style alone, and the worker is not served on content hosts.
func TestOfflinePolicy(t *testing.T) {
	h := local(t)
	body, err := io.ReadAll(get(h, "GET", "localhost:8080", "/offline-worker.js", nil).Body)
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile(`const HEADERS = (\{.*\});`).FindSubmatch(body)
	if script == nil {
		t.Fatal("the worker has no headers")
	}
	var got map[string]string
	if err := json.Unmarshal(script[1], &got); err != nil {
		t.Fatal(err)
	}
	csp := regexp.MustCompile(`sha256-[A-Za-z0-9+/]{43}=`).ReplaceAllString(got["Content-Security-Policy"], "HASH")
	if want := "default-src 'none'; script-src 'HASH'; style-src 'HASH'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"; csp != want {
		t.Errorf("its page has %s", csp)
	}
	if got["Connection-Allowlist"] != confined || got["Cache-Control"] != "no-store" || got["Permissions-Policy"] != common["Permissions-Policy"] {
		t.Errorf("its page has %v", got)
	}
	if status := get(h, "GET", contentHost, "/offline-worker.js", nil).StatusCode; status != 404 {
		t.Errorf("on a content host it is answered with %d", status)
	}
}

// TestCanvasesOfOneSite: if all canvases are one site, their frames ask for separate
// processes.
func TestCanvasesOfOneSite(t *testing.T) {
	h, err := web.New(web.Options{AppOrigins: []string{"https://canvas.example"}, ContentOrigin: "https://*.canvas.example"})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimSuffix(contentHost, "localhost:8080") + "canvas.example"
	if got := get(h, "GET", host, "/.ahp/frame.html", nil).Header.Get("Origin-Agent-Cluster"); got != "?1" {
		t.Errorf("the frame's Origin-Agent-Cluster is %q", got)
	}
}

// TestNoPlaceholderIsLeft: no policy contains an unfilled placeholder.
func TestNoPlaceholderIsLeft(t *testing.T) {
	h := local(t)
	for _, host := range []string{"localhost:8080", contentHost} {
		for _, path := range []string{"/", "/direct.html", "/.ahp/frame.html", "/.ahp/clear.html", "/.ahp/sw.js", "/.ahp/x"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", "http://"+host+path, nil)
			maps.Copy(r.Header, asWorker(path))
			h.ServeHTTP(w, r)
			for _, hole := range []string{"{app}", "{content}", "{sockets}"} {
				if csp := w.Header().Get("Content-Security-Policy"); strings.Contains(csp, hole) || strings.Contains(w.Body.String(), hole) {
					t.Errorf("%s%s: %s is not filled in", host, path, hole)
				}
			}
		}
	}
}
