package loopback_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// newApp makes an App on a handle of a host.
func newApp(t *testing.T, url string, opts loopback.Options) *loopback.App {
	t.Helper()
	h := canvastest.New(t, engine.Options{})
	var app *loopback.App
	h.Register(canvas.Extension{ID: "x"}, canvas.Func(func(_ context.Context, _ canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
		var err error
		app, err = loopback.NewApp(url, h, opts)
		if err != nil {
			return canvas.Opened{}, err
		}
		return canvas.Opened{Instance: &canvas.App{}, URL: app.URL()}, nil
	}), canvas.Declaration{CanvasID: "app", DisplayName: "App"})
	h.Open("app", "one", nil)
	t.Cleanup(app.Close)
	return app
}

func read(t *testing.T, app *loopback.App, path, etag string) (canvas.Content, error) {
	t.Helper()
	p, err := canvas.ParseContentPath(path)
	if err != nil {
		t.Fatal(err)
	}
	return app.Read(t.Context(), canvas.ReadRequest{Path: p, ETag: etag})
}

func TestURL(t *testing.T) {
	for _, test := range []struct {
		url, content string
		direct       bool
	}{
		{"http://127.0.0.1:3000", "ahp-canvas-content:/one/", false},
		{"http://localhost:3000/", "ahp-canvas-content:/one/", false},
		{"http://127.0.0.1:3000?token=x&y", "ahp-canvas-content:/one/?token=x&y", false},
		{"http://127.0.0.1:3000/a%20b/c/?t=%2F#part", "ahp-canvas-content:/one/a%20b/c/?t=%2F", false},
		{"http://127.0.0.1:3000/index.html?t=1", "ahp-canvas-content:/one/index.html?t=1", false},
		{"http://127.0.0.1:3000/a?t=1#part", "http://127.0.0.1:3000/a?t=1#part", true},
	} {
		if got := newApp(t, test.url, loopback.Options{Direct: test.direct}).URL(); got != test.content {
			t.Errorf("%s became %s, want %s", test.url, got, test.content)
		}
	}
}

func TestBadURL(t *testing.T) {
	for _, url := range []string{
		"", "127.0.0.1:3000", "https://127.0.0.1:3000/", "http://example.com/", "http://127.0.0.2/", "http://0.0.0.0/", "http://[::2]/", "http://localhost.evil/",
		"http://u:secret@localhost/", "http:opaque", "http://localhost/../x", "http://localhost/a//b", "http://localhost/%2e%2e/", "file:///etc/passwd", "http://169.254.169.254/",
	} {
		if _, err := loopback.New("app", url, loopback.Options{}); err == nil {
			t.Errorf("%s was taken", url)
		} else if url != "" && strings.Contains(err.Error(), url) || strings.Contains(err.Error(), "secret") {
			t.Errorf("the error names the url: %v", err)
		}
	}
}

// Unreachable is called once, whatever notices it.
func TestUnreachableOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, hello)
		var calls atomic.Int64
		opts := s.options()
		opts.Unreachable = func(error) { calls.Add(1) }
		app := newApp(t, "http://127.0.0.1:3000/", opts)
		time.Sleep(10 * time.Second)
		if calls.Load() != 0 {
			t.Fatal("a reachable app was reported")
		}
		s.down()
		for range 3 {
			_, _ = read(t, app, "/", "")
		}
		time.Sleep(10 * time.Second)
		if n := calls.Load(); n != 1 {
			t.Errorf("it was reported %d times", n)
		}
	})
}

// A separate App probes every 2 s.
func TestUnreachableByProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, hello)
		begun := time.Now()
		reported := make(chan time.Duration, 1)
		opts := s.options()
		opts.Unreachable = func(error) { reported <- time.Since(begun) }
		newApp(t, "http://127.0.0.1:3000/", opts)
		time.Sleep(4*time.Second + 1)
		s.down()
		if at := <-reported; at != 6*time.Second {
			t.Errorf("an app that went after 4 s was reported at %s", at)
		}
	})
}

// An app that hangs costs that request, and nothing else.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hang" {
				<-r.Context().Done()
			}
		})
		h := open(t, newProvider(t, "http://127.0.0.1:3000/", s.options()))
		var wg sync.WaitGroup
		begun := time.Now()
		wg.Go(func() {
			if _, _, err := h.page.get(t, "/hang"); !errors.Is(err, &bridge.Error{Code: bridge.CodeTimeout}) {
				t.Errorf("the request ended with %v", err)
			}
			if took := time.Since(begun); took < 30*time.Second || took > 31*time.Second {
				t.Errorf("it ended after %v", took)
			}
		})
		time.Sleep(10 * time.Second)
		if _, _, err := h.page.get(t, "/"); err != nil {
			t.Errorf("another request ended with %v", err)
		}
		wg.Wait()
		if a := h.availability(); a != session.Ready {
			t.Errorf("it is %s", a)
		}
	})
}

// An event stream lives for hours; the page's end reaches the app, and so does
// the canvas's.
func TestEventStream(t *testing.T) {
	for _, end := range []string{"cancel", "view", "close"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var watching atomic.Int64
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Accept") != "text/event-stream" {
						return
					}
					watching.Add(1)
					defer watching.Add(-1)
					w.Header().Set("Content-Type", "text/event-stream")
					w.(http.Flusher).Flush()
					for {
						select {
						case <-r.Context().Done():
							return
						case <-time.After(time.Minute):
							_, _ = io.WriteString(w, "data: 1\n\n")
							w.(http.Flusher).Flush()
						}
					}
				})
				h := open(t, newProvider(t, "http://127.0.0.1:3000/", s.options()))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				req, _ := http.NewRequestWithContext(ctx, "GET", "http://canvas/events", nil)
				req.Header.Set("Accept", "text/event-stream")
				resp, err := h.page.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.CopyN(io.Discard, resp.Body, 20*9); err != nil { // twenty minutes
					t.Fatal(err)
				}
				if watching.Load() != 1 {
					t.Fatalf("the app has %d streams", watching.Load())
				}
				switch end {
				case "cancel":
					cancel()
				case "view":
					h.page.view.Leave()
				case "close":
					_ = h.Canvases.Close(t.Context(), canvastest.Session, "one")
				}
				time.Sleep(100 * time.Millisecond)
				if watching.Load() != 0 {
					t.Error("the app still has its stream")
				}
			})
		})
	}
}

// The canvas says that it answers http/1.
func TestOpened(t *testing.T) {
	s := serve(t, hello)
	h := open(t, newProvider(t, "http://127.0.0.1:3000/?token=x", s.options()))
	st := h.State(h.channel)
	if st.URL == nil || *st.URL != "ahp-canvas-content:/one/?token=x" {
		t.Errorf("its url is %v", st.URL)
	}
}

// Opening fails while the app is not there, and works when it is.
func TestOpenWithoutApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, hello)
		s.down()
		p := newProvider(t, "http://127.0.0.1:3000/", s.options())
		h := canvastest.New(t, engine.Options{})
		p.Watch(h.Register(canvas.Extension{ID: "app"}, p, p.Declarations()...))
		args := canvas.OpenArgs{Session: canvastest.Session, CanvasID: "app", InstanceID: "one"}
		if _, err := h.Canvases.Open(t.Context(), args); !errors.Is(err, &canvas.Error{Code: canvas.CodeProviderUnavailable}) {
			t.Errorf("opening gave %v", err)
		}
		s.up()
		time.Sleep(3 * time.Second)
		if _, err := h.Canvases.Open(t.Context(), args); err != nil {
			t.Errorf("opening gave %v", err)
		}
	})
}
