package client_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// impostor records the requests that it receives, and accepts every token.
type impostor struct {
	mu   sync.Mutex
	seen []string
}

func (s *impostor) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fmt.Sprint(r.Method, r.URL, r.Header))
}

func (s *impostor) saw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, "\n")
}

// provingHost returns a host that serves proofs, and a client. When the host stops, an
// impostor listens at its address until leave.
func provingHost(t *testing.T, opts client.Options) (h *testHost, c *client.Client, s *impostor, leave func()) {
	t.Helper()
	h = newHost(t, channels.Options{})
	h.net.proves = true
	c = h.dial(t, opts)
	h.stop()
	<-c.Disconnected()
	l, err := h.net.Listen(testAddr)
	if err != nil {
		t.Fatal(err)
	}
	s = &impostor{}
	return h, c, s, ahptest.Serve(t, l, &http.Server{Handler: s})
}

// After its host has stopped, a client does not send its token to another server at
// the address. It connects again when the host runs again.
func TestNoTokenForAnImpostor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c, s, leave := provingHost(t, client.Options{Subscriptions: []string{sessionA}})
		wantErr(t, c.Reconnect(t.Context()), client.ErrUnverified)
		if saw := s.saw(); strings.Contains(saw, testToken) || !strings.Contains(saw, "/proof") {
			t.Errorf("the impostor received\n%s", saw)
		}
		leave()
		h.start(channels.Options{})
		if err := c.Reconnect(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A client with a Backoff keeps trying: the host can return.
func TestBackoffWithAnImpostor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c, s, leave := provingHost(t, client.Options{Backoff: &seconds{}})
		w := c.Watch()
		defer w.Close()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if saw := s.saw(); strings.Contains(saw, testToken) || strings.Count(saw, "/proof") < 4 {
			t.Errorf("the impostor received\n%s", saw)
		}
		leave()
		h.start(channels.Options{})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if err := c.Err(); err != nil {
			t.Error(err)
		}
	})
}

// Clients that share a Verifier share what it knows: it verifies the host for the
// first connection of the second client.
func TestClientsShareAVerifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n network
		verifier := proof.NewVerifier(testURL, testToken, n.Dial)
		h := &testHost{t: t, net: &n}
		n.proves = true
		h.start(channels.Options{})
		h.dial(t, client.Options{Verifier: verifier})
		h.stop()
		l, err := n.Listen(testAddr)
		if err != nil {
			t.Fatal(err)
		}
		s := &impostor{}
		defer ahptest.Serve(t, l, &http.Server{Handler: s})()
		_, err = client.Dial(t.Context(), testURL, client.Options{Token: testToken, Verifier: verifier})
		wantErr(t, err, client.ErrUnverified)
		if saw := s.saw(); strings.Contains(saw, testToken) {
			t.Errorf("the impostor received\n%s", saw)
		}
	})
}
