package relay

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// laneSet is the lanes of an uplink: those that are dialled and those that are
// served. They outlive the control connection that they were offered on.
type laneSet struct {
	limit int
	grace time.Duration
	dials chan struct{} // a place for each dial under way
	ctx   context.Context
	end   context.CancelFunc
	wg    sync.WaitGroup

	mu       sync.Mutex
	count    int
	draining bool
	conns    map[*ws.Conn]struct{}
}

func (s *laneSet) init(opts UplinkOptions) {
	s.limit, s.grace = opts.MaxLanes, opts.Drain
	s.dials = make(chan struct{}, opts.Dials)
	s.conns = map[*ws.Conn]struct{}{}
	s.ctx, s.end = context.WithCancel(context.Background())
}

// open runs fn, which opens and serves a lane, or reports that there are too
// many.
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

// dialing waits for a place to dial.
func (s *laneSet) dialing(ctx context.Context) (release func(), err error) {
	select {
	case s.dials <- struct{}{}:
		return func() { <-s.dials }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve hands a lane's socket over and returns when it has ended.
func (s *laneSet) serve(conn *ws.Conn, hand func(ctx context.Context)) {
	s.mu.Lock()
	draining := s.draining
	if !draining {
		s.conns[conn] = struct{}{}
	}
	s.mu.Unlock()
	if draining {
		conn.Close(goingAwayHost.Code, goingAwayHost.Reason)
	} else {
		hand(s.ctx)
	}
	conn.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

// drain ends all lanes: by themselves within the grace, where the host goes
// away, and at once where a newer run took over. It waits for them.
func (s *laneSet) drain(how *ws.CloseError) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	grace := s.grace
	if how.Code == CodeSuperseded {
		grace = 0
		s.closeAll(how) // before Serve can say that the host shuts down, which it does not
	}
	s.end()
	late := time.AfterFunc(grace, func() { s.closeAll(how) })
	defer late.Stop()
	s.wg.Wait()
}

// closeAll begins the end of what is served; it does not wait.
func (s *laneSet) closeAll(how *ws.CloseError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		conn.Close(how.Code, how.Reason) // returns at once
	}
}

// edge is the URL of the edge that an offer names.
func (u *Uplink) edge(named string) (*url.URL, error) {
	if named == "" {
		return u.base, nil
	}
	at, err := url.Parse(named)
	if err != nil || at.Scheme != u.base.Scheme || at.User != nil {
		return nil, errors.New("relay: an offer names no edge")
	}
	if at.Host != u.base.Host && !slices.Contains(u.opts.Edges, at.Host) {
		return nil, fmt.Errorf("relay: an offer names the edge %q, which this host was not told of", at.Host)
	}
	return at, nil
}
