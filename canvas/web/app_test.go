package web_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// bridged is a canvas with an HTTP app on loopback: requests use http/1, scripts and
// other static resources canvasReadResource.
type bridged struct {
	*loopback.App
	heard func(payload ahp.Value)
}

// openApp connects a canvas to a site's app.
func (e *env) openApp(s site, h *canvas.Handle) (canvas.Opened, error) {
	way, err := loopback.NewApp(s.app.URL, h, loopback.Options{HeadTimeout: s.app.patience, Probe: -1, Jars: loopback.NewJars(false)})
	if err != nil {
		return canvas.Opened{}, err
	}
	heard := func(payload ahp.Value) {
		if string(payload) == `"done"` {
			_ = h.SetStatus(h.Context(), "done")
		}
	}
	var instance canvas.Instance = bridged{way, heard}
	if s.plain {
		instance = struct {
			canvas.Instance
			canvas.Messenger
			canvas.Reader
		}{instance, bridged{way, heard}, way}
	}
	return canvas.Opened{Instance: instance, Title: s.title, URL: canvas.ContentURL(s.id, s.path), HTTP: true, Sockets: true, Links: s.links}, nil
}

// Message also passes on payloads that are not of the bridge.
func (b bridged) Message(ctx context.Context, from canvas.View, payload ahp.Value) {
	b.App.Message(ctx, from, payload)
	b.heard(payload)
}

// Invoke does nothing: the canvas has no actions.
func (b bridged) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }

// Close closes the connection to the app.
func (b bridged) Close(context.Context) error {
	b.App.Close()
	return nil
}

// app is a web app for tests, which records its requests.
type app struct {
	*httptest.Server
	*http.ServeMux
	patience time.Duration // HeadTimeout of the host; 0 is 30 s

	mu    sync.Mutex
	asked []string            // method and path of every request
	lines map[chan string]any // open event streams, with their query
	ended chan string         // paths of requests whose client disconnected
}

// newApp starts an app with the routes that several tests use.
func newApp(t testing.TB) *app {
	t.Helper()
	a := &app{ServeMux: http.NewServeMux(), lines: map[chan string]any{}, ended: make(chan string, 64)}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.asked = append(a.asked, r.Method+" "+r.URL.RequestURI())
		a.mu.Unlock()
		a.ServeMux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { a.CloseClientConnections(); a.Server.Close() })
	a.page("/{$}", `<title>App</title><p id="said">…</p>`)
	a.HandleFunc("/echo", echo)
	a.HandleFunc("/events", a.events)
	a.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server detects a disconnect once the body is read
		<-r.Context().Done()
		a.ended <- r.URL.Path
	})
	a.HandleFunc("/flood", a.flood)
	a.HandleFunc("/bytes", sized)
	a.HandleFunc("/pieces", pieces)
	a.HandleFunc("/status/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		w.WriteHeader(n)
	})
	return a
}

// page adds a document.
func (a *app) page(path, body string) {
	a.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><html lang=en><meta charset=utf-8>"+body)
	})
}

// echo responds with the request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(ahp.MustMarshal(object{
		"method": r.Method, "query": r.URL.RawQuery, "host": r.Host, "origin": r.Header.Get("Origin"), "site": r.Header.Get("Sec-Fetch-Site"),
		"type": strings.SplitN(r.Header.Get("Content-Type"), ";", 2)[0], "cookie": r.Header.Get("Cookie"), "custom": hex.EncodeToString([]byte(r.Header.Get("X-Custom"))),
		"length": r.ContentLength, "size": len(body), "sum": hex.EncodeToString(sum[:4]), "language": r.Header.Get("Accept-Language") != "",
	}))
}

// sized responds with ?n= bytes, generated for each request.
func sized(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write(pattern(announced(w, r)))
}

// pieces responds with ?n= bytes in pieces, as fast as possible, like the copy of a
// file.
func pieces(w http.ResponseWriter, r *http.Request) {
	n := announced(w, r)
	for piece := pattern(32 << 10); n > 0; n -= len(piece) {
		if _, err := w.Write(piece[:min(n, len(piece))]); err != nil {
			return
		}
	}
}

func announced(w http.ResponseWriter, r *http.Request) int {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(n))
	return n
}

// pattern returns n varying bytes.
func pattern(n int) []byte {
	return bytes.Repeat([]byte("0123456789abcdef0123456789ABCDE\n"), n/32+1)[:n]
}

// flood responds without an end, as fast as flow control allows.
func (a *app) flood(w http.ResponseWriter, r *http.Request) {
	defer func() { a.ended <- r.URL.Path }()
	chunk := pattern(32 << 10)
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
		a.mu.Lock()
		a.lines[nil] = a.flooded() + len(chunk)
		a.mu.Unlock()
	}
}

func (a *app) flooded() int { n, _ := a.lines[nil].(int); return n }

// events is an event stream. It begins after the Last-Event-ID of the request.
func (a *app) events(w http.ResponseWriter, r *http.Request) {
	line := make(chan string, 16)
	a.mu.Lock()
	a.lines[line] = r.URL.RawQuery
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		delete(a.lines, line)
		a.mu.Unlock()
		a.ended <- r.URL.Path
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	fmt.Fprintf(w, "retry: 300\ndata: from %q\n\n", r.Header.Get("Last-Event-ID"))
	for flush() == nil {
		select {
		case l := <-line:
			if l == "quit" {
				return
			}
			fmt.Fprint(w, l)
		case <-r.Context().Done():
			return
		}
	}
}

// say sends an event to all open streams.
func (a *app) say(text string) { a.tell(nil, text) }

// tell sends an event to the open streams with a query, or to all if it is nil.
func (a *app) tell(query any, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for line, its := range a.lines {
		if line != nil && (query == nil || its == query) {
			line <- text
		}
	}
}

// requests returns the requests with a method and path.
func (a *app) requests(what string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.asked {
		if r == what {
			n++
		}
	}
	return n
}

// end waits until the client of an endless request has disconnected.
func (a *app) end(t *testing.T) {
	t.Helper()
	select {
	case <-a.ended:
	case <-time.After(webtest.Timeout / 3):
		t.Error("the app's connection was not closed")
	}
}
