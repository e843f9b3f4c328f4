package loopback_test

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// readable is an app with a resource of every kind.
func readable() http.HandlerFunc {
	changed := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	mux := http.NewServeMux()
	mux.HandleFunc("/tag", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `W/"1"`)
		http.ServeContent(w, r, "x.css", time.Time{}, strings.NewReader("a{}"))
	})
	mux.HandleFunc("/time", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "x.js", changed, strings.NewReader("1"))
	})
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "same"+r.URL.RawQuery) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/tag?x=1", http.StatusFound) })
	mux.HandleFunc("/moved-absolute", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:3000/tag", http.StatusFound)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:3001/", http.StatusFound)
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/broken", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/error", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", 500) })
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(make([]byte, 2001)) })
	mux.HandleFunc("/zip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(make([]byte, 1000))
		_ = z.Close()
	})
	return mux.ServeHTTP
}

func TestRead(t *testing.T) {
	var elsewhere atomic.Int64
	s := serve(t, readable())
	l, err := s.net.Listen("127.0.0.1:3001")
	if err != nil {
		t.Fatal(err)
	}
	other := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })}
	go func() { _ = other.Serve(l) }()
	t.Cleanup(func() { _ = other.Close() })

	opts := s.options()
	opts.ReadBytes = 2000
	app := newApp(t, "http://127.0.0.1:3000/", opts)
	for _, test := range []struct{ path, data, kind, found string }{
		{"/tag", "a{}", "text/css; charset=utf-8", ""},
		{"/time", "1", "text/javascript; charset=utf-8", ""},
		{"/plain", "same", "text/plain; charset=utf-8", ""},
		{`/plain?q=\b%20c`, `sameq=\b%20c`, "text/plain; charset=utf-8", ""},
		{"/moved", "a{}", "text/css; charset=utf-8", "/tag?x=1"},
		{"/moved-absolute", "a{}", "text/css; charset=utf-8", "/tag"},
		{"/zip", strings.Repeat("\x00", 1000), "", ""},
	} {
		c, err := read(t, app, test.path, "")
		found := ""
		if !c.Path.Empty() {
			found = c.Path.String()
		}
		if err != nil || string(c.Data) != test.data || test.kind != "" && c.ContentType != test.kind || found != test.found || c.ETag == "" {
			t.Errorf("%s: got %+v, %v", test.path, c, err)
		}
		again, err := read(t, app, test.path, c.ETag)
		if err != nil || !again.NotModified || again.ETag != c.ETag || len(again.Data) != 0 {
			t.Errorf("%s with its validator: got %+v, %v", test.path, again, err)
		}
	}
	if c, err := read(t, app, "/plain?2", "hdVrbUIbbi7tUhQyE"); err != nil || c.NotModified {
		t.Errorf("another validator: got %+v, %v", c, err)
	}
	for _, path := range []string{"/none", "/error", "/away", "/round", "/events"} {
		if _, err := read(t, app, path, ""); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if _, err := read(t, app, "/large", ""); !errors.Is(err, &canvas.Error{Code: canvas.CodeLimitExceeded}) {
		t.Errorf("a resource that is too large: %v", err)
	}
	if _, err := read(t, app, "/broken", ""); err == nil || strings.Contains(err.Error(), "3000") {
		t.Errorf("an incomplete response: %v", err)
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("another origin was contacted %d times", n)
	}
	s.down()
	if _, err := read(t, app, "/tag", ""); !errors.Is(err, &canvas.Error{Code: canvas.CodeProviderUnavailable}) {
		t.Errorf("an app that is not there: %v", err)
	}
}

// A resource of 16 MiB is read, one of a byte more is not (canvas/PROTOCOL.md section 8).
func TestReadIsBounded(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.RawQuery)
		_, _ = w.Write(make([]byte, size))
	})
	app := newApp(t, "http://127.0.0.1:3000/", s.options())
	if c, err := read(t, app, "/?16777216", ""); err != nil || len(c.Data) != 16<<20 {
		t.Errorf("16 MiB: %d bytes, %v", len(c.Data), err)
	}
	if _, err := read(t, app, "/?16777217", ""); !errors.Is(err, &canvas.Error{Code: canvas.CodeLimitExceeded}) {
		t.Errorf("a byte more: %v", err)
	}
}

// The app's own validators go back to it, so that what did not change is not sent.
func TestReadAsksTheApp(t *testing.T) {
	var asked string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Get("If-None-Match") + "|" + r.Header.Get("If-Modified-Since")
		if r.URL.Path == "/tag" {
			w.Header().Set("ETag", `"1"`)
		}
		http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader("x"))
	})
	app := newApp(t, "http://127.0.0.1:3000/", s.options())
	for path, want := range map[string]string{"/tag": `"1"|`, "/time": "|Sun, 09 Sep 2001 01:46:40 GMT"} {
		c, err := read(t, app, path, "")
		if err != nil || asked != "|" {
			t.Errorf("%s: %v, the app was asked %q at first", path, err, asked)
		}
		if again, err := read(t, app, path, c.ETag); err != nil || !again.NotModified || asked != want {
			t.Errorf("%s: %+v, %v, the app was asked %q, want %q", path, again, err, asked, want)
		}
	}
}
