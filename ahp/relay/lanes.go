package relay

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// laneSet holds the lanes of an uplink, dialing and served. Lanes outlive the
// control connection on which they were offered.
type laneSet struct {
	limit int
	grace time.Duration
	dials chan struct{} // a semaphore: one element per dial in progress
	ctx   context.Context
	end   context.CancelFunc
	wg    sync.WaitGroup

	mu       sync.Mutex
	count    int
	clients  map[string]int // lanes by LaneInfo.client
	draining bool
	conns    map[*ws.Conn]struct{}
}

func (s *laneSet) init(opts UplinkOptions) {
	s.limit, s.grace = opts.MaxLanes, opts.Drain
	s.dials = make(chan struct{}, opts.Dials)
	s.clients = map[string]int{}
	s.conns = map[*ws.Conn]struct{}{}
	s.ctx, s.end = context.WithCancel(context.Background())
}

// open runs fn, which opens and serves a lane, in a goroutine. It returns false if
// the limit is reached or the uplink drains.
func (s *laneSet) open(fn func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining || s.count >= s.limit {
		return false
	}
	s.count++
	s.wg.Go(func() {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.count--
		}()
		fn()
	})
	return true
}

// acquireDial waits until fewer than UplinkOptions.Dials dials are in progress.
func (s *laneSet) acquireDial(ctx context.Context) (release func(), err error) {
	select {
	case s.dials <- struct{}{}:
		return func() { <-s.dials }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve calls handle, which takes over the lane's connection, and returns when the
// connection has ended.
func (s *laneSet) serve(conn *ws.Conn, handle func(ctx context.Context)) {
	s.mu.Lock()
	draining := s.draining
	if !draining {
		s.conns[conn] = struct{}{}
	}
	s.mu.Unlock()
	if draining {
		conn.Close(hostGoingAway.Code, hostGoingAway.Reason)
	} else {
		handle(s.ctx)
	}
	conn.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

// drain ends all lanes and waits for them. If the host shuts down, each lane has
// the grace period to end; if a newer run took over, drain closes them at once.
func (s *laneSet) drain(how *ws.CloseError) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	grace := s.grace
	if how.Code == CodeSuperseded {
		grace = 0
		s.closeAll(how) // before Serve can report a shutdown, which would be wrong
	}
	s.end()
	late := time.AfterFunc(grace, func() { s.closeAll(how) })
	defer late.Stop()
	s.wg.Wait()
}

// closeAll starts closing the served connections and does not wait.
func (s *laneSet) closeAll(how *ws.CloseError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		conn.Close(how.Code, how.Reason) // returns at once
	}
}

// countClient counts a lane of a client's token, which can have others at other edges. It
// returns false if the token has as many lanes as the relay allows it.
func (s *laneSet) countClient(client string, limit int) (release func(), ok bool) {
	if client == "" || limit <= 0 {
		return func() {}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[client] >= limit {
		return nil, false
	}
	s.clients[client]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.clients[client]--; s.clients[client] == 0 {
			delete(s.clients, client)
		}
	}, true
}

// edge returns the URL of the edge that an offer names. The fleet's edges are those that the
// relay listed.
func (u *Uplink) edge(named string, fleet Edges) (*url.URL, error) {
	if named == "" {
		return u.base, nil
	}
	at, err := url.Parse(named)
	if err != nil || at.Scheme != u.base.Scheme || at.User != nil {
		return nil, fmt.Errorf("relay: the edge of an offer is not a %s URL without user", u.base.Scheme)
	}
	ours, theirs := u.opts.Edges, fleet
	if ours.Empty() {
		ours = theirs
	} else if theirs.Empty() {
		theirs = ours
	}
	if at.Host != u.base.Host && !(ours.Allows(named) && theirs.Allows(named)) {
		return nil, fmt.Errorf("relay: an offer names the edge %q, which is not in the list of this relay's edges; compare --relay-edges of the host with --edges of the relay", at.Host)
	}
	return at, nil
}
