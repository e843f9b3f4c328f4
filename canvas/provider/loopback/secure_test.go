package loopback_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// Cookies are the host's: a page is logged in by them and never sees one; another
// instance has its own.
func TestCookies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/login" {
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: r.URL.RawQuery, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode})
				http.Redirect(w, r, "/", http.StatusSeeOther)
				return
			}
			_, _ = io.WriteString(w, r.Header.Get("Cookie"))
		})
		p := newProvider(t, "http://127.0.0.1:3000/", s.options())
		h := open(t, p)
		resp, _, err := h.page.get(t, "/login?me")
		if err != nil || resp.StatusCode != 303 || resp.Header.Get("Location") != "/" || len(resp.Cookies()) != 0 || resp.Header.Get("Set-Cookie") != "" {
			t.Fatalf("the login was answered with %+v, %v", resp, err)
		}
		if _, got, err := h.page.get(t, "/"); got != "sid=me" || err != nil {
			t.Errorf("the app got the cookies %q, %v", got, err)
		}
		two := h.lookAt(h.Open(p.ID(), "two", nil).Channel)
		if _, got, err := two.get(t, "/"); got != "" || err != nil {
			t.Errorf("the other instance has the cookies %q, %v", got, err)
		}
		s.down()
		time.Sleep(3 * time.Second)
		s.up()
		time.Sleep(3 * time.Second)
		if _, got, err := h.look().get(t, "/"); got != "sid=me" || err != nil {
			t.Errorf("after the app was away it got the cookies %q, %v", got, err)
		}
		if err := h.Canvases.Close(t.Context(), canvastest.Session, "one"); err != nil {
			t.Fatal(err)
		}
		again := h.lookAt(h.Open(p.ID(), "one", nil).Channel)
		if _, got, err := again.get(t, "/"); got != "" || err != nil {
			t.Errorf("a canvas that was closed has the cookies %q, %v", got, err)
		}
	})
}

// Whatever a page asks for, one address is dialed.
func TestOneOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/away" {
				http.Redirect(w, r, "http://10.0.0.1/", http.StatusTemporaryRedirect)
				return
			}
			_, _ = io.WriteString(w, r.Host+" "+r.Header.Get("Origin"))
		})
		var mu sync.Mutex
		dialed := map[string]int{}
		opts := s.options()
		dial := opts.Dial
		opts.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			dialed[network+" "+addr]++
			return dial(ctx, network, addr)
		}
		t.Setenv("HTTP_PROXY", "http://10.0.0.2:8080")
		h := open(t, newProvider(t, "http://127.0.0.1:3000/", opts))
		for _, path := range []string{"//10.0.0.1/x", "/@10.0.0.1", "/?http://10.0.0.1/"} {
			if _, got, err := h.page.get(t, path); err != nil || got != "127.0.0.1:3000 " {
				t.Errorf("%s: got %q, %v", path, got, err)
			}
		}
		if _, _, err := h.page.get(t, "/away"); !errors.Is(err, &bridge.Error{Code: bridge.CodeRedirect}) {
			t.Errorf("a redirect to another origin: %v", err)
		}
		req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://canvas/", strings.NewReader("x"))
		req.Header.Set("Origin", "http://c-123.localhost:8080")
		if resp, err := h.page.RoundTrip(req); err != nil {
			t.Error(err)
		} else if got, _ := io.ReadAll(resp.Body); string(got) != "127.0.0.1:3000 http://127.0.0.1:3000" {
			t.Errorf("a POST was seen as of %q", got)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(dialed) != 1 || dialed["tcp 127.0.0.1:3000"] == 0 {
			t.Errorf("dialed %v", dialed)
		}
	})
}

// Nothing of a url reaches the log.
func TestLogHoldsNoURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
		opts := s.options()
		opts.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		h := open(t, newProvider(t, "http://127.0.0.1:3000/?token=verysecret", opts))
		_, _, err := h.page.get(t, "/?token=verysecret")
		if !errors.Is(err, &bridge.Error{Code: bridge.CodeBroken}) {
			t.Errorf("got %v", err)
		}
		if log.Len() == 0 || strings.Contains(log.String(), "secret") || strings.Contains(log.String(), "3000") {
			t.Errorf("the log is %q", log.String())
		}
	})
}
