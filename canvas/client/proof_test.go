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

// stranger notes what it is asked, and welcomes everybody.
type stranger struct {
	mu   sync.Mutex
	seen []string
}

func (s *stranger) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fmt.Sprint(r.Method, r.URL, r.Header))
}

func (s *stranger) saw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, "\n")
}

// provingHost is one that proves itself, with a client; when it has gone, a stranger
// takes its address until leave.
func provingHost(t *testing.T, opts client.Options) (h *testHost, c *client.Client, s *stranger, leave func()) {
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
	s = &stranger{}
	return h, c, s, ahptest.Serve(t, l, &http.Server{Handler: s})
}

// A client whose host is gone gives its token to nobody who takes the port, and
// knows the host when it is back.
func TestTheTokenIsNotForAStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c, s, leave := provingHost(t, client.Options{Subscriptions: []string{sessionA}})
		wantErr(t, c.Reconnect(t.Context()), client.ErrUnverified)
		if saw := s.saw(); strings.Contains(saw, testToken) || !strings.Contains(saw, "/proof") {
			t.Errorf("the stranger saw\n%s", saw)
		}
		leave()
		h.start(channels.Options{})
		if err := c.Reconnect(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// One that reconnects by itself goes on trying: the host may be back.
func TestBackoffWithAStranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c, s, leave := provingHost(t, client.Options{Backoff: &seconds{}})
		w := c.Watch()
		defer w.Close()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if saw := s.saw(); strings.Contains(saw, testToken) || strings.Count(saw, "/proof") < 4 {
			t.Errorf("the stranger saw\n%s", saw)
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

// Clients that share a door share what it knows: the second one's first connection
// is one more of the first one's.
func TestClientsShareADoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n network
		door := proof.NewDoor(testURL, testToken, n.Dial)
		h := &testHost{t: t, net: &n}
		n.proves = true
		h.start(channels.Options{})
		h.dial(t, client.Options{Verifier: door})
		h.stop()
		l, err := n.Listen(testAddr)
		if err != nil {
			t.Fatal(err)
		}
		s := &stranger{}
		defer ahptest.Serve(t, l, &http.Server{Handler: s})()
		_, err = client.Dial(t.Context(), testURL, client.Options{Token: testToken, Verifier: door})
		wantErr(t, err, client.ErrUnverified)
		if saw := s.saw(); strings.Contains(saw, testToken) {
			t.Errorf("the stranger saw\n%s", saw)
		}
	})
}
