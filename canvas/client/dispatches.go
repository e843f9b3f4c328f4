package client

import (
	"fmt"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
)

// dispatches are the actions of a client that wait for their echo. Its methods are
// called under the client's mutex.
type dispatches struct {
	mu       *sync.Mutex // the client's
	clientID string
	limit    int
	timeout  time.Duration

	held []peer.Frame // to be sent when the client has moved, in order

	seq     int64 // the last clientSeq; increases over all connections, so that a late echo matches no other dispatch
	waiting map[int64]*Dispatched
}

func newDispatches(mu *sync.Mutex, opts *Options) dispatches {
	return dispatches{
		mu: mu, clientID: opts.ClientID, limit: opts.Dispatches, timeout: opts.Timeout, waiting: map[int64]*Dispatched{},
	}
}

// send numbers and queues a frame in one step, so that the numbers increase on the
// wire.
func (s *dispatches) send(l *link, d *Dispatched, action ahp.Value) error {
	if len(s.waiting) >= s.limit {
		return ErrBusy
	}
	frame, err := peer.Notification(ahp.DispatchAction.Name, ahp.DispatchActionParams{
		Channel: d.channel, ClientSeq: s.seq + 1, Action: action,
	})
	if err != nil {
		return err
	}
	s.seq++
	d.seq = s.seq
	s.waiting[d.seq] = d
	d.timer = time.AfterFunc(s.timeout, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.finish(d, fmt.Errorf("dispatch %s: %w", d.tag, ErrUnanswered))
	})
	if l.holding {
		s.held = append(s.held, frame)
	} else {
		l.peer.Push(frame)
	}
	return nil
}

// release sends the actions that were dispatched while the client moved.
func (s *dispatches) release(l *link) {
	for _, frame := range s.held {
		l.peer.Push(frame)
	}
	s.held = nil
}

// echoed finishes the dispatch of which an envelope is the echo or refusal.
func (s *dispatches) echoed(e envelope) {
	if e.Origin == nil || e.Origin.ClientID != s.clientID {
		return
	}
	d := s.waiting[e.Origin.ClientSeq]
	switch {
	case d == nil || d.channel != e.Channel:
	case e.RejectionReason != "":
		s.finish(d, &Refused{Channel: e.Channel, Type: d.tag, Reason: e.RejectionReason, Seq: e.ServerSeq})
	default:
		s.finish(d, nil)
	}
}

func (s *dispatches) finish(d *Dispatched, err error) {
	if s.waiting[d.seq] != d {
		return
	}
	delete(s.waiting, d.seq)
	d.timer.Stop()
	d.err = err
	close(d.done)
}

// failAll fails the dispatches of a connection that has ended.
func (s *dispatches) failAll(cause error) {
	s.held = nil
	for _, d := range s.waiting {
		s.finish(d, fmt.Errorf("dispatch %s: %w", d.tag, cause))
	}
}
