package server

import (
	"maps"
	"sync"
	"time"
)

// pace is a token bucket that lends: a spender that leaves it in debt waits. The zero
// value has no limit.
type pace struct {
	mu     sync.Mutex
	rate   float64 // units a second
	burst  float64
	has    float64
	filled time.Time

	// The connections that spend: those of the last second, and so far in this one.
	second       int64
	before, here int
}

// newPace returns a pace that has a fraction of a second's units at once.
func newPace(rate, seconds float64) *pace {
	if rate < 0 {
		return &pace{}
	}
	burst := max(rate*seconds, 1)
	return &pace{rate: rate, burst: burst, has: burst}
}

// spend takes units and returns how long the spender must wait.
func (p *pace) spend(units float64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rate <= 0 {
		return 0
	}
	now := time.Now()
	if !p.filled.IsZero() {
		p.has = min(p.burst, p.has+p.rate*now.Sub(p.filled).Seconds())
	}
	p.filled = now
	p.has -= units
	if p.has >= 0 {
		return 0
	}
	return time.Duration(-p.has / p.rate * float64(time.Second))
}

// part counts a connection that spends, once a second, and returns an equal part of the
// rate.
func (p *pace) part(last *int64) float64 {
	second := time.Now().Unix()
	p.mu.Lock()
	defer p.mu.Unlock()
	if second != p.second {
		if p.before = 0; second == p.second+1 {
			p.before = p.here
		}
		p.second, p.here = second, 0
	}
	if *last != second {
		*last = second
		p.here++
	}
	if p.rate <= 0 {
		return mostPart
	}
	return p.rate / float64(max(p.before, p.here))
}

// full reports whether nothing has been spent for a while.
func (p *pace) full() bool {
	p.spend(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.has >= p.burst
}

// paces are paces by name: of sessions, or of tokens.
type paces struct {
	rate float64

	mu     sync.Mutex
	byName map[string]*pace
}

// mostPaces is how many names are kept before those that spend nothing are dropped.
const mostPaces = 4096

func (ps *paces) of(name string) *pace {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.byName[name]
	if p == nil {
		if len(ps.byName) >= mostPaces {
			maps.DeleteFunc(ps.byName, func(_ string, p *pace) bool { return p.full() })
		}
		if ps.byName == nil {
			ps.byName = map[string]*pace{}
		}
		p = newPace(ps.rate, 0.2)
		ps.byName[name] = p
	}
	return p
}
