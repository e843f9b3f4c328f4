package aap

import (
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels/groupcommit"
)

// maxRefs is how many refs are remembered for an agent.
const maxRefs = 4096

// shelf is where the records of one agent are put.
type shelf struct {
	store *Store
	dir   string // the agent's canvas folder
	queue groupcommit.Queue[*submission]
	index index

	mu     sync.Mutex
	tokens float64
	filled time.Time
	refs   map[string]*submission
	order  []string // refs, oldest first
	logged bool     // malformed files were

	// The leader of a group alone uses these.
	last  time.Time // the timestamp given last
	count int       // records; at least those on the disk when it was counted
	ready bool      // last and count are known
}

func (s *Store) shelf(a Agent) *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shelves[a.ID]
	if sh == nil || sh.dir != a.dir {
		sh = &shelf{store: s, dir: a.dir, refs: map[string]*submission{}, tokens: float64(s.limits.Burst)}
		s.shelves[a.ID] = sh
	}
	return sh
}

// allow takes one of the agent's interactions a second.
func (sh *shelf) allow(now time.Time, l Limits) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if !sh.filled.IsZero() && now.After(sh.filled) {
		sh.tokens = min(float64(l.Burst), sh.tokens+now.Sub(sh.filled).Seconds()*float64(l.Rate))
	}
	sh.filled = now
	if sh.tokens < 1 {
		return false
	}
	sh.tokens--
	return true
}

// enter registers a submission under its ref. If the ref is known, it returns the
// earlier submission.
func (sh *shelf) enter(sub *submission) (earlier *submission) {
	ref := sub.in.Ref
	if ref == "" {
		return nil
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if earlier = sh.refs[ref]; earlier != nil {
		return earlier
	}
	sh.refs[ref] = sub
	sh.order = append(sh.order, ref)
	if len(sh.order) > maxRefs {
		delete(sh.refs, sh.order[0])
		sh.order = sh.order[1:]
	}
	return nil
}

// forget removes a ref whose submission failed, so that it can be tried again.
func (sh *shelf) forget(sub *submission) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.refs[sub.in.Ref] != sub {
		return
	}
	delete(sh.refs, sub.in.Ref)
	for i, ref := range sh.order {
		if ref == sub.in.Ref {
			sh.order = append(sh.order[:i], sh.order[i+1:]...)
			return
		}
	}
}

// nextTime returns a timestamp above all given before, and not below the newest record's,
// unless that is more than a day ahead.
func (sh *shelf) nextTime(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if !now.After(sh.last) {
		now = sh.last.Add(time.Millisecond)
	}
	sh.last = now
	return now
}

// prepare reads the newest timestamp and the number of records.
func (sh *shelf) prepare(names []string, now time.Time) {
	if sh.ready {
		return
	}
	sh.ready, sh.count = true, len(names)
	for i := len(names) - 1; i >= 0; i-- {
		if at, ok := stampTime(names[i]); ok {
			if at.Before(now.Add(24 * time.Hour)) {
				sh.last = at
				return
			}
		}
	}
}
