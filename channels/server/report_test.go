package server

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// slow is a Connectivity whose first call lasts until second is closed, or for 50 ms,
// in case the second call waits for the first.
type slow struct {
	first, second chan struct{}
	called        atomic.Bool

	mu        sync.Mutex
	reachable bool
}

func (c *slow) ClientLost(string) { c.set(false) }
func (c *slow) ClientBack(string) { c.set(true) }

func (c *slow) set(reachable bool) {
	if !c.called.Swap(true) {
		close(c.first)
		select {
		case <-c.second:
		case <-time.After(50 * time.Millisecond):
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reachable = reachable
}

// TestBackDuringLost: a client that connects while ClientLost is called is reported as
// reachable in the end (canvas/PROTOCOL.md section 5).
func TestBackDuringLost(t *testing.T) {
	ear := &slow{first: make(chan struct{}), second: make(chan struct{})}
	s := New(Options{Log: channels.New(channels.Options{}), Connectivity: ear})
	defer s.clients.close()
	join := func() *conn {
		c := connOf("c")
		c.server = s
		s.clients.joined(c)
		return c
	}
	old := join()
	old.answered.Store(true)
	var wg sync.WaitGroup
	wg.Go(func() { old.Closed(nil) })
	<-ear.first
	newer := join()
	newer.reachable()
	close(ear.second)
	wg.Wait()
	if !ear.reachable {
		t.Error("a connected client is reported as lost")
	}
}

// recorder is a Connectivity that records its calls.
type recorder struct{ calls []string }

func (r *recorder) ClientLost(string) { r.calls = append(r.calls, "lost") }
func (r *recorder) ClientBack(string) { r.calls = append(r.calls, "back") }

// TestEveryEndIsReported: when a connection ends, Connectivity is notified whether an
// answered one is left.
func TestEveryEndIsReported(t *testing.T) {
	var e recorder
	s := New(Options{Log: channels.New(channels.Options{}), Connectivity: &e})
	defer s.clients.close()
	var conns []*conn
	for range 3 {
		c := connOf("c")
		c.server = s
		s.clients.joined(c)
		conns = append(conns, c)
	}
	conns[0].reachable()
	conns[1].reachable()
	for _, n := range []int{1, 0, 2} {
		conns[n].Closed(nil)
	}
	if got, want := strings.Join(e.calls, " "), "back back back lost lost"; got != want {
		t.Errorf("reported %q, want %q", got, want)
	}
}

// TestNewestIsAnswered: requests do not go to a connection whose handshake is not yet
// answered.
func TestNewestIsAnswered(t *testing.T) {
	s := New(Options{Log: channels.New(channels.Options{})})
	defer s.clients.close()
	old, newer := connOf("c"), connOf("c")
	for _, c := range []*conn{old, newer} {
		c.server = s
		s.clients.joined(c)
	}
	if s.clients.newest("c") != nil {
		t.Error("newest returned a connection without an answer")
	}
	old.reachable()
	if s.clients.newest("c") != old {
		t.Error("newest did not return the only answered connection")
	}
	newer.reachable()
	if s.clients.newest("c") != newer {
		t.Error("newest did not return the newest connection")
	}
}
