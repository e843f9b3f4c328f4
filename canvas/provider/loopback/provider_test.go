package loopback_test

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

// server is a web app on a network in memory; a test can stop and restart it.
type server struct {
	t       testing.TB
	net     *ahptest.Net
	handler http.Handler

	mu  sync.Mutex
	srv *http.Server
}

const appAddr = "127.0.0.1:3000"

func serve(t testing.TB, h http.HandlerFunc) *server {
	s := &server{t: t, net: &ahptest.Net{}, handler: h}
	s.up()
	t.Cleanup(s.down)
	return s
}

func (s *server) up() {
	s.t.Helper()
	l, err := s.net.Listen(appAddr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.srv = &http.Server{Handler: s.handler}
	go func(srv *http.Server) { _ = srv.Serve(l) }(s.srv)
}

func (s *server) down() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.srv.Close()
}

func (s *server) options() loopback.Options { return loopback.Options{Dial: s.net.Dial} }

func hello(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, "<p>hello")
}

func newProvider(t *testing.T, url string, opts loopback.Options) *loopback.Provider {
	t.Helper()
	p, err := loopback.New("app", url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestProvider(t *testing.T) {
	s := serve(t, hello)
	p := newProvider(t, "http://127.0.0.1:3000/", s.options())
	canvastest.TestProvider(t, canvastest.Config{Provider: p, Declaration: p.Declarations()[0], Path: "/"})
}

func (h *host) availability() session.CanvasAvailability { return h.State(h.channel).Availability }

// A probe every 2 s, also where Options.Probe asks for none of an App's own, sees
// that the app is gone and that it is back; pages live on.
func TestGoneAndBack(t *testing.T) {
	for _, probe := range []time.Duration{0, -1} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, hello)
			opts := s.options()
			opts.Probe = probe
			p := newProvider(t, "http://127.0.0.1:3000/", opts)
			begun := time.Now()
			h := open(t, p)
			is := func(at time.Duration, want session.CanvasAvailability) {
				t.Helper()
				time.Sleep(at - time.Since(begun))
				synctest.Wait()
				if a := h.availability(); a != want {
					t.Fatalf("after %s it is %s, want %s", at, a, want)
				}
			}
			if _, got, err := h.page.get(t, "/"); err != nil || got != "<p>hello" {
				t.Fatalf("got %q, %v", got, err)
			}
			s.down()
			is(2*time.Second-1, session.Ready)
			is(2*time.Second, session.Stale)
			s.up()
			is(4*time.Second-1, session.Stale)
			is(4*time.Second, session.Ready)
			if _, got, err := h.look().get(t, "/"); err != nil || got != "<p>hello" {
				t.Fatalf("got %q, %v", got, err)
			}
		})
	}
}

// A request sees it at once.
func TestRefusedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, hello)
		p := newProvider(t, "http://127.0.0.1:3000/", s.options())
		h := open(t, p)
		s.down()
		begun := time.Now()
		_, _, err := h.page.get(t, "/")
		if !errors.Is(err, &bridge.Error{Code: bridge.CodeUnavailable}) && !errors.Is(err, bridge.ErrLost) {
			t.Errorf("the request ended with %v", err)
		}
		synctest.Wait()
		if a := h.availability(); a != session.Stale || time.Since(begun) > time.Second {
			t.Errorf("it is %s after %v", a, time.Since(begun))
		}
	})
}
