package relay

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// quotas counts lanes per host and per client, and the rate of new ones.
type quotas struct {
	opts    EdgeOptions
	mu      sync.Mutex
	hosts   map[string]*quota
	clients map[string]*quota
	lanes   int
}

type quota struct {
	lanes int
	rate  *rate.Limiter
}

// pruneAt is the number of names at which those without lanes are removed: the
// subjects of a custom Authorizer are not limited.
const pruneAt = 4096

func (q *quotas) init(opts EdgeOptions) {
	q.opts, q.hosts, q.clients = opts, map[string]*quota{}, map[string]*quota{}
}

// take counts a new lane. It returns "", and the caller must call release, or the
// limit that the lane would exceed.
func (q *quotas) take(host string, grant Grant) Reason {
	perClient := q.opts.LanesPerClient
	if grant.Lanes > 0 {
		perClient = grant.Lanes
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	h := entry(q.hosts, host, q.opts.HostRate, q.opts.HostBurst)
	c := entry(q.clients, grant.Subject, q.opts.ClientRate, max(q.opts.ClientBurst, perClient))
	now := time.Now()
	switch {
	case c.lanes >= perClient:
		return RefusedClient
	case !c.rate.AllowN(now, 1):
		return RefusedRate
	case h.lanes >= q.opts.LanesPerHost:
		return RefusedHostFull
	case q.lanes >= q.opts.MaxLanes:
		return RefusedEdgeFull
	case !h.rate.AllowN(now, 1):
		return RefusedRate
	}
	h.lanes++
	c.lanes++
	q.lanes++
	return ""
}

func (q *quotas) release(host string, grant Grant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hosts[host].lanes--
	q.clients[grant.Subject].lanes--
	q.lanes--
}

func entry(all map[string]*quota, name string, perSecond float64, burst int) *quota {
	if e := all[name]; e != nil {
		return e
	}
	if len(all) >= pruneAt {
		for name, e := range all {
			if e.lanes == 0 && e.rate.Tokens() >= float64(e.rate.Burst()) {
				delete(all, name)
			}
		}
	}
	e := &quota{rate: rate.NewLimiter(rate.Limit(perSecond), burst)}
	all[name] = e
	return e
}
