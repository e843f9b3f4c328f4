package loopback_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// loginApp logs in at /login, and answers anything else with its cookies.
func loginApp(t *testing.T) *server {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: r.URL.RawQuery, Path: "/", HttpOnly: true})
			http.SetCookie(w, &http.Cookie{Name: "theme", Value: "dark", Path: "/"})
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("X-Ahp-Cookies", "the app's own")
		_, _ = io.WriteString(w, r.Header.Get("Cookie"))
	})
}

// named makes a page of a browser.
func (h *host) named(browser string) *page {
	pg := h.look()
	pg.say <- `{"x-ahp":"http/1","type":"browser","id":0,"browser":"` + strings.Repeat(browser, 32) + `"}`
	return pg
}

// TestBrowsers: a login in one browser is none in another, unless the operator shares it. A
// browser is what its page says, also on the host's listener; otherwise each client is one.
func TestBrowsers(t *testing.T) {
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			opts := loginApp(t).options()
			opts.SharedCookies = shared
			h := open(t, newProvider(t, "http://127.0.0.1:3000/", opts))
			a, b, c := h.named("a"), h.named("b"), h.named("a")
			if resp, _, err := a.get(t, "/login?me"); err != nil || resp.Header.Get("X-Ahp-Cookies") != "theme=dark" || (resp.Header.Get("X-Ahp-Jar") == "1") == shared {
				t.Fatalf("the login was answered with %v, %v", resp, err)
			}
			for name, pg := range map[string]struct {
				*page
				same bool
			}{"the same page": {a, true}, "another browser": {b, shared}, "another page of the browser": {c, true}, "a client without a name": {h.look(), shared}} {
				want := ""
				if pg.same {
					want = "sid=me; theme=dark"
				}
				if _, got, err := pg.get(t, "/"); got != want || err != nil {
					t.Errorf("shared %v, %s: the app got %q, %v, want %q", shared, name, got, err, want)
				}
			}
		})
	}
}

// direct serves requests as a host does on its listener.
func direct(app *loopback.App, browser, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://canvas"+target, strings.NewReader(body))
	w := httptest.NewRecorder()
	app.ServeApp(w, r.WithContext(canvas.WithBrowser(context.Background(), strings.Repeat(browser, 32))))
	return w
}

// TestDocumentCookie: scripts read and write the cookies of their browser, but for HttpOnly
// ones, which they can neither see nor replace.
func TestDocumentCookie(t *testing.T) {
	s := loginApp(t)
	opts := s.options()
	opts.Jars, opts.Probe = loopback.NewJars(false), -1
	app := newApp(t, "http://127.0.0.1:3000/", opts)
	direct(app, "a", "GET", "/login?me", "")
	for _, tt := range []struct{ browser, method, at, line, want string }{
		{"a", "GET", "/", "", "theme=dark"},
		{"b", "GET", "/", "", ""},
		{"a", "POST", "/app/page", "own=1; path=/app", "theme=dark; own=1"},
		{"a", "GET", "/", "", "theme=dark"},
		{"a", "POST", "/app/page", "sid=stolen", "theme=dark; own=1"},
		{"a", "POST", "/app/page", "new=1; HttpOnly", "theme=dark; own=1"},
		{"a", "POST", "/", "theme=; max-age=0; path=/", ""},
		{"a", "POST", "/", "large=" + strings.Repeat("x", 8000), ""},
		{"a", "POST", "/", "none of it", ""},
	} {
		w := direct(app, tt.browser, tt.method, "/.ahp/cookies?at="+tt.at, tt.line)
		got := w.Body.String()
		if tt.at == "/app/page" && got == "own=1; theme=dark" {
			got = tt.want // the longer path is first
		}
		if w.Code != 200 || got != tt.want {
			t.Errorf("%s %s %.20q of %s: %d %q, want %q", tt.method, tt.at, tt.line, tt.browser, w.Code, got, tt.want)
		}
	}
	if got := direct(app, "a", "GET", "/app/x", "").Body.String(); !strings.Contains(got, "sid=me") || !strings.Contains(got, "own=1") || strings.Contains(got, "stolen") {
		t.Errorf("the app got %q", got)
	}
	for i := range 70 { // the oldest browsers give way
		direct(app, fmt.Sprintf("%x", i%10), "GET", "/", "")
	}
}
