package server

import (
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
