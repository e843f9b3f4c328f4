package local_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/local"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

// stage is a host with a board and a web app, and a renderer that only has the host's
// address.
type stage struct {
	t       *testing.T
	host    *host.Host
	app     *httptest.Server
	changes chan local.Canvas
	http    *http.Client
	busy    atomic.Int32      // how often the host takes no connection for a canvas
	cookies map[string]string // by host and port, of addresses that were opened
}

func newStage(t *testing.T, app http.HandlerFunc, allowed ...map[string][]string) *stage {
	t.Helper()
	s := &stage{t: t, changes: make(chan local.Canvas, 64), cookies: map[string]string{}}
	var err error
	opts := host.Options{ViewToken: "view-token"}
	for _, origins := range allowed {
		opts.AllowOrigins = origins
	}
	if s.host, err = host.New(opts); err != nil {
		t.Fatal(err)
	}
	s.app = httptest.NewServer(app)
	t.Cleanup(s.app.Close)
	s.register()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.host.SetAddr(ln.Addr()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- s.host.Serve(ctx, ln) }()
	go func() {
		ran <- local.Run(ctx, local.Options{Session: host.DefaultSession, Changed: func(c local.Canvas) { s.changes <- c },
			Dial: func(ctx context.Context, uris ...string) (*client.Client, error) {
				if uris[0] != host.DefaultSession && s.busy.Add(-1) >= 0 {
					return nil, errors.New("the host is busy")
				}
				return client.Dial(ctx, s.host.Endpoints().AHP, client.Options{Token: "view-token", Subscriptions: uris, Backoff: client.NewBackoff()})
			}})
	}()
	transport := &http.Transport{}
	s.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		<-served
	})
	return s
}

func (s *stage) register() {
	p, err := loopback.New("app", s.app.URL+"/start?x=1", loopback.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	reg, err := s.host.Canvases().Register(canvas.Extension{ID: "app"}, p, p.Declarations()...)
	if err != nil {
		s.t.Fatal(err)
	}
	p.Watch(reg)
	s.t.Cleanup(p.Close)
	if _, err := s.host.Canvases().Register(board.New().Extension(), board.New(), board.New().Declarations()...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) open(id string) local.Canvas {
	s.t.Helper()
	if _, err := s.host.Canvases().Open(s.t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: id, InstanceID: id}); err != nil {
		s.t.Fatal(err)
	}
	return s.await("offered", func(c local.Canvas) bool { return c.InstanceID == id && c.URL != "" })
}

func (s *stage) await(what string, fits func(local.Canvas) bool) local.Canvas {
	s.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case c := <-s.changes:
			if fits(c) {
				return c
			}
		case <-deadline:
			s.t.Fatalf("not %s", what)
		}
	}
}

// request returns a request with the cookie of its address, which it fetches with the secret
// of the address first.
func (s *stage) request(method, url string, body io.Reader) *http.Request {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, url, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if req.URL.Query().Has("~t") {
		res, err := s.http.Get(url)
		if err != nil {
			s.t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode == http.StatusSeeOther {
			if req.URL, err = res.Location(); err != nil {
				s.t.Fatal(err)
			}
			s.cookies[req.URL.Host], _, _ = strings.Cut(res.Header.Get("Set-Cookie"), ";")
		}
	}
	if cookie := s.cookies[req.URL.Host]; cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	return req
}

func (s *stage) do(method, url string, header ...string) (*http.Response, string) {
	s.t.Helper()
	return s.send(s.request(method, url, nil), header...)
}

// send sends a request with headers, given in pairs.
func (s *stage) send(req *http.Request, header ...string) (*http.Response, string) {
	s.t.Helper()
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Add(header[i], header[i+1])
	}
	res, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(body)
}

// TestReads: a canvas without a server is read, with its validators.
func TestReads(t *testing.T) {
	s := newStage(t, func(http.ResponseWriter, *http.Request) {})
	c := s.open("board")
	res, body := s.do("GET", c.URL, "Sec-Fetch-Dest", "document")
	if res.StatusCode != 200 || !strings.HasPrefix(body, `<!doctype html><script src="/.ahp/local.js"></script>`) {
		t.Fatalf("%d %.200s", res.StatusCode, body)
	}
	if csp := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
		t.Errorf("policy %q", csp)
	}
	if etag := res.Header.Get("ETag"); etag == "" {
		t.Error("no validator")
	} else if res, body = s.do("GET", c.URL, "If-None-Match", etag); res.StatusCode != 304 || body != "" {
		t.Errorf("with its validator: %d %q", res.StatusCode, body)
	}
	base := "http://" + res.Request.URL.Host
	for name, want := range map[string]int{"/.ahp/canvas.js": 200, "/.ahp/view.js": 200, "/.ahp/local.js": 200, "/.ahp/sw.js": 404, "/nothing": 404, "/%2e%2e/x": 404} {
		if res, body = s.do("GET", base+name); res.StatusCode != want || res.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d %.80s", name, res.StatusCode, body)
		}
	}
	if res, _ = s.do("POST", base+"/x"); res.StatusCode != 501 {
		t.Errorf("POST: %d", res.StatusCode)
	}
}

// TestNoAllowedOrigins: a canvas that its host lets load from other origins loads from none here, and
// is reported as such.
func TestNoAllowedOrigins(t *testing.T) {
	s := newStage(t, func(http.ResponseWriter, *http.Request) {}, map[string][]string{"board": {"https://images.example"}})
	for id, want := range map[string]bool{"board": true, "app": false} {
		c := s.open(id)
		if c.OtherOrigins != want {
			t.Errorf("%s: %+v", id, c)
		}
		res, _ := s.do("GET", c.URL)
		if csp := res.Header.Get("Content-Security-Policy"); csp == "" || strings.Contains(csp, "images.example") {
			t.Errorf("%s: policy %q", id, csp)
		}
	}
}

// TestServedWhenTheHostAcceptsIt: a canvas for which the host has no free connection is
// served a little later.
func TestServedWhenTheHostAcceptsIt(t *testing.T) {
	s := newStage(t, func(http.ResponseWriter, *http.Request) {})
	s.busy.Store(2)
	c := s.open("board")
	if res, body := s.do(http.MethodGet, c.URL); res.StatusCode != http.StatusOK {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// TestOtherOrigins: other pages can embed a canvas, but cannot send requests to it.
func TestOtherOrigins(t *testing.T) {
	s := newStage(t, func(http.ResponseWriter, *http.Request) {})
	c := s.open("board")
	for _, tc := range []struct {
		name   string
		method string
		header []string
		want   int
	}{
		{"another name (DNS rebinding)", "GET", []string{"Host", "evil.example"}, 421},
		{"localhost is another origin", "GET", []string{"Host", "localhost:1"}, 421},
		{"a foreign page's fetch", "GET", []string{"Origin", "https://evil.example"}, 403},
		{"null", "GET", []string{"Origin", "null"}, 403},
		{"a foreign image", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"a foreign form", "POST", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
		{"an embedding page", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		{"the canvas itself", "GET", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}, 200},
	} {
		if res, body := s.do(tc.method, c.URL, tc.header...); res.StatusCode != tc.want {
			t.Errorf("%s: %d %.80s", tc.name, res.StatusCode, body)
		}
	}
}

// TestSecret: only the secret of a canvas's url, or the cookie of its port, opens it.
func TestSecret(t *testing.T) {
	s := newStage(t, func(http.ResponseWriter, *http.Request) {})
	board, app := s.open("board"), s.open("app")
	s.do("GET", board.URL)
	s.do("GET", app.URL)
	u, err := url.Parse(board.URL)
	if err != nil {
		t.Fatal(err)
	}
	other, err := url.Parse(app.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, ofApp, _ := strings.Cut(s.cookies[other.Host], "=")
	name, _, _ := strings.Cut(s.cookies[u.Host], "=")
	plain := "http://" + u.Host + "/"
	for _, tc := range []struct {
		name, url, cookie string
		want              int
	}{
		{"nothing", plain, "", 401},
		{"the cookie", plain, s.cookies[u.Host], 200},
		{"the cookie of another canvas", plain, s.cookies[other.Host], 401},
		{"its value under the right name", plain, name + "=" + ofApp, 401},
		{"a wrong secret", plain + "?~t=wrong", "", 401},
		{"the secret of another canvas", plain + "?~t=" + other.Query().Get("~t"), "", 401},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", tc.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tc.cookie != "" {
			req.Header.Set("Cookie", tc.cookie)
		}
		if res, _ := s.send(req); res.StatusCode != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, res.StatusCode, tc.want)
		}
	}
}

// TestBridges: a web app behind the host works here with all of HTTP.
func TestBridges(t *testing.T) {
	events := make(chan string)
	s := newStage(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/start":
			http.SetCookie(w, &http.Cookie{Name: "secret", Value: "s", Path: "/"})
			fmt.Fprintf(w, "<p>%s %s", r.Method, r.URL.RawQuery)
		case "/echo":
			body, _ := io.ReadAll(r.Body)
			cookie, err := r.Cookie("secret")
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %d %v %v %s", r.Method, len(body), cookie, err, r.Header.Get("X-Mine"))
		case "/away":
			http.Redirect(w, r, "/start", http.StatusFound)
		case "/events":
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			for e := range events {
				fmt.Fprintf(w, "data: %s\n\n", e)
				w.(http.Flusher).Flush()
			}
		}
	})
	c := s.open("app")
	if !strings.Contains(c.URL, "/start?x=1&~t=") {
		t.Fatalf("offered at %s", c.URL)
	}
	res, body := s.do("GET", c.URL, "Cookie", "secret=theirs")
	if body != "<p>GET x=1" || res.Header.Get("Set-Cookie") != "" || !strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%v %s", res.Header, body)
	}
	base := "http://" + res.Request.URL.Host
	answer, text := s.send(s.request("PUT", base+"/echo", strings.NewReader(strings.Repeat("x", 300_000))), "X-Mine", "yes")
	if answer.StatusCode != http.StatusTeapot || text != "PUT 300000 secret=s <nil> yes" {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
	if res, _ := s.do("GET", base+"/away"); res.StatusCode != 302 || res.Header.Get("Location") != "/start" {
		t.Errorf("redirect: %d %s", res.StatusCode, res.Header.Get("Location"))
	}
	stream, err := s.http.Do(s.request("GET", base+"/events", nil))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stream.Body)
	for _, want := range []string{"one", "two"} {
		events <- want
		if line, err := lines.ReadString('\n'); err != nil || line != "data: "+want+"\n" {
			t.Errorf("%q %v", line, err)
		}
		_, _ = lines.ReadString('\n')
	}
	stream.Body.Close()
	close(events)
}

// TestGoneAndBack: the url stays while the canvas is open; afterwards nothing listens
// there.
func TestGoneAndBack(t *testing.T) {
	s := newStage(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") })
	c := s.open("app")
	at := s.app.Listener.Addr().String()
	s.app.CloseClientConnections()
	s.app.Close()
	s.await("stale", func(c local.Canvas) bool { return c.InstanceID == "app" && c.Availability == session.Stale })
	if res, body := s.do("GET", c.URL, "Accept", "text/html"); res.StatusCode != 503 || !strings.Contains(body, "Reload the page") {
		t.Errorf("while it is gone: %d %.300s", res.StatusCode, body)
	}
	ln, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	again := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "again") })}
	go func() { _ = again.Serve(ln) }()
	defer again.Close()
	now := s.await("ready", func(c local.Canvas) bool { return c.InstanceID == "app" && c.Availability == session.Ready })
	if now.URL != c.URL {
		t.Errorf("it is at %s now, and was at %s", now.URL, c.URL)
	}
	if _, body := s.do("GET", c.URL); body != "again" {
		t.Errorf("back: %s", body)
	}
	if err := s.host.Canvases().Close(t.Context(), host.DefaultSession, "app"); err != nil {
		t.Fatal(err)
	}
	s.await("closed", func(c local.Canvas) bool { return c.InstanceID == "app" && c.Closed })
	if _, err := http.Get(c.URL); err == nil {
		t.Error("the port is still open")
	}
}

// TestViewsOfAPage: each page takes part by view/1 as its own View.
func TestViewsOfAPage(t *testing.T) {
	s := newStage(t, func(http.ResponseWriter, *http.Request) {})
	c := s.open("board")
	base := strings.TrimSuffix(c.URL, "/")
	if i := strings.Index(c.URL[len("http://"):], "/"); i >= 0 {
		base = c.URL[:len("http://")+i]
	}
	s.do("GET", c.URL)
	stream, err := s.http.Do(s.request("GET", base+"/.ahp/events", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	next := func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		_, _ = lines.ReadString('\n')
		return strings.TrimSuffix(strings.TrimPrefix(line, "data: "), "\n")
	}
	var first struct {
		View string `json:"view"`
	}
	if err := ahp.Unmarshal([]byte(next()), &first); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != `{"state":{}}` {
		t.Errorf("then %s", got)
	}
	send := func(view, payload string) int {
		res, _ := s.send(s.request("POST", base+"/.ahp/message?view="+view, strings.NewReader(payload)), "Content-Type", "application/json")
		return res.StatusCode
	}
	if got := send(first.View, `{"sample":"hello"}`); got != 204 {
		t.Errorf("hello: %d", got)
	}
	if got := next(); !strings.Contains(got, `"payload"`) {
		t.Errorf("the board says %s", got)
	}
	for what, got := range map[string]int{"no JSON": send(first.View, `{`), "too much": send(first.View, `"`+strings.Repeat("x", 70<<10)+`"`)} {
		if got != 400 {
			t.Errorf("%s: %d", what, got)
		}
	}
	if got := send("other", `1`); got != 409 {
		t.Errorf("an unknown View: %d", got)
	}
}
