package server

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// slowEar is a Connectivity that hears its first word late: when the second one
// was told, or where that waits for the first, soon.
type slowEar struct {
	hearing, told chan struct{}
	heard         atomic.Bool

	mu   sync.Mutex
	here bool
}

func (e *slowEar) ClientLost(string) { e.hear(false) }
func (e *slowEar) ClientBack(string) { e.hear(true) }

func (e *slowEar) hear(here bool) {
	if !e.heard.Swap(true) {
		close(e.hearing)
		select {
		case <-e.told:
		case <-time.After(50 * time.Millisecond):
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.here = here
}

// TestBackWhileLostIsTold: a client that comes back at the moment in which its
// end is told is back, whichever word was first on its way (canvas.md section 5).
func TestBackWhileLostIsTold(t *testing.T) {
	ear := &slowEar{hearing: make(chan struct{}), told: make(chan struct{})}
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
	<-ear.hearing
	young := join()
	young.reachable()
	close(ear.told)
	wg.Wait()
	if !ear.here {
		t.Error("the client counts as lost, and has a connection")
	}
}

// ear is a Connectivity that notes what it heard.
type ear struct{ heard []string }

func (e *ear) ClientLost(string) { e.heard = append(e.heard, "lost") }
func (e *ear) ClientBack(string) { e.heard = append(e.heard, "back") }

// TestEveryEndIsTold: with the end of the newest connection an older one counts
// again, or none that has been answered.
func TestEveryEndIsTold(t *testing.T) {
	var e ear
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
	if got, want := strings.Join(e.heard, " "), "back back back lost lost"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// TestNotAskedBeforeItsAnswer: a connection whose handshake is not answered yet
// is not the one that requests go to.
func TestNotAskedBeforeItsAnswer(t *testing.T) {
	s := New(Options{Log: channels.New(channels.Options{})})
	defer s.clients.close()
	old, young := connOf("c"), connOf("c")
	for _, c := range []*conn{old, young} {
		c.server = s
		s.clients.joined(c)
	}
	if s.clients.newest("c") != nil {
		t.Error("asked before any answer")
	}
	old.reachable()
	if s.clients.newest("c") != old {
		t.Error("the older one is answered, and is not asked")
	}
	young.reachable()
	if s.clients.newest("c") != young {
		t.Error("the newest is answered, and is not asked")
	}
}
