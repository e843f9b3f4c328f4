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
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// stranger takes a host's port when the host is gone. What it is asked to prove it
// passes on to the host, which listens elsewhere.
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

// A page whose host is gone gives its token to nobody who takes the port, and
// knows the host when it is back.
func TestTheTokenIsNotForAStranger(t *testing.T) {
	b := webtest.Start(t)
	run := func(address string) (*host.Host, func() error) {
		t.Helper()
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		h, err := host.New(host.Options{Listener: ln, ViewToken: viewToken})
		if err != nil {
			t.Fatal(err)
		}
		return h, hosttest.Serve(t, h)
	}
	h, stop := run("127.0.0.1:0")
	_, port, _ := strings.Cut(strings.TrimSuffix(h.Endpoints().Page, "/"), "localhost:")
	p := b.Open(t, h.Link(host.DefaultSession))
	const connected = `document.getElementById("connection").textContent === "Connected"`
	p.Wait(t, connected)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	moved, _ := run("127.0.0.1:0")
	at, err := url.Parse(moved.Endpoints().Page)
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{elsewhere: at.Host}
	ln, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	end := ahptest.Serve(t, ln, &http.Server{Handler: s})
	said := p.WaitAtMost(20*time.Second, fmt.Sprintf("(%s).includes(%q)", words, "What answers here now is not the host of this link."))
	if saw := s.saw(); strings.Contains(saw, viewToken) || !strings.Contains(saw, "/proof") {
		t.Errorf("the stranger saw\n%s", saw)
	}
	if !said {
		t.Error("the person is not told")
	}
	end()
	run("127.0.0.1:" + port)
	p.Wait(t, connected)
}
