package web_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// stranger takes over a host's port when the host has ended. It forwards requests for a
// proof to the host, which listens elsewhere.
type stranger struct {
	elsewhere string // host and port

	mu   sync.Mutex
	seen []string // requests, with their headers
}

func (s *stranger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, fmt.Sprint(r.Method, r.URL, r.Header))
	s.mu.Unlock()
	q := r.URL.Query()
	for _, at := range []string{q.Get("at"), s.elsewhere} {
		resp, err := http.Get("http://" + s.elsewhere + "/proof?" + url.Values{"at": {at}, "nonce": q["nonce"]}.Encode())
		if err != nil {
			continue
		}
		_, _ = io.Copy(w, resp.Body)
		resp.Body.Close()
	}
}

func (s *stranger) saw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, "\n")
}

// hostAt runs a host at an address until the test ends or stop is called.
func hostAt(t *testing.T, address string) (h *host.Host, stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if h, err = host.New(host.Options{ViewToken: viewToken}); err != nil {
		t.Fatal(err)
	}
	return h, hosttest.ServeOn(t, h, ln)
}

const connected = `document.getElementById("connection").textContent === "Connected"`

// leftBehind opens a host's page, ends the host, and returns the page and the free
// address.
func leftBehind(t *testing.T, b *webtest.Browser) (p *webtest.Page, address string) {
	t.Helper()
	h, stop := hostAt(t, "127.0.0.1:0")
	_, port, _ := strings.Cut(strings.TrimSuffix(h.Endpoints().Page, "/"), "localhost:")
	p = b.Open(t, h.Link(host.DefaultSession))
	p.Wait(t, connected)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	return p, "127.0.0.1:" + port
}

// takeOver listens at an address as another program, until end is called.
func takeOver(t *testing.T, address string, h http.Handler) (end func()) {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return ahptest.Serve(t, ln, &http.Server{Handler: h})
}

const strangerSaid = "Another program answers at the host's address."

// A page does not send its token to a program that took over the host's port, and
// connects when the host is back.
func TestTokenIsNotSentToAnotherProgram(t *testing.T) {
	p, address := leftBehind(t, webtest.Start(t))
	moved, _ := hostAt(t, "127.0.0.1:0")
	at, err := url.Parse(moved.Endpoints().Page)
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{elsewhere: at.Host}
	end := takeOver(t, address, s)
	said := p.WaitAtMost(20*time.Second, fmt.Sprintf("(%s).includes(%q)", words, strangerSaid))
	if saw := s.saw(); strings.Contains(saw, viewToken) || !strings.Contains(saw, "/proof") {
		t.Errorf("the stranger saw\n%s", saw)
	}
	if !said {
		t.Error("the page does not warn the person")
	}
	end()
	hostAt(t, address)
	p.Wait(t, connected)
}

// A host that answers 503 because it is at its limit is not reported as another
// program. It is asked again, and does not get the token meanwhile.
func TestHostAtItsLimitIsNotAnotherProgram(t *testing.T) {
	p, address := leftBehind(t, webtest.Start(t))
	asked := make(chan *http.Request)
	end := takeOver(t, address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		select {
		case asked <- r:
		case <-r.Context().Done():
		}
	}))
	for range 3 {
		if r := <-asked; strings.Contains(fmt.Sprint(r.URL, r.Header), viewToken) {
			t.Errorf("it saw the token: %v", r.URL)
		}
		if webtest.Eval[bool](t, p, fmt.Sprintf("(%s).includes(%q)", words, strangerSaid)) {
			t.Fatal("the host is called a stranger")
		}
	}
	end()
	hostAt(t, address)
	p.Wait(t, connected)
}

// A host that proved its identity but refuses the WebSocket does not get the token by a
// plain request: another program may listen by then.
func TestTokenIsOnlySentToTheSocket(t *testing.T) {
	p, address := leftBehind(t, webtest.Start(t))
	refused := make(chan string)
	mux := http.NewServeMux()
	mux.HandleFunc(proof.Path, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		fmt.Fprintln(w, proof.Of(viewToken, q.Get("at"), q.Get("nonce")))
	})
	mux.HandleFunc("/ahp", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "not now", http.StatusInternalServerError)
		select {
		case refused <- r.Header.Get("Upgrade") + r.Header.Get("Authorization"):
		case <-r.Context().Done():
		}
	})
	end := takeOver(t, address, mux)
	for range 3 {
		if how := <-refused; how != "websocket" {
			t.Errorf("asked with %q", how)
		}
	}
	end()
	hostAt(t, address)
	p.Wait(t, connected)
}
