package relay

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// quotas counts lanes per host, per token and per address, and the rate of new ones.
type quotas struct {
	opts      EdgeOptions
	mu        sync.Mutex
	hosts     map[string]*quota
	clients   map[string]*quota
	addresses map[addressQuota]*quota
	lanes     int
}

// addressQuota is an address at a host.
type addressQuota struct {
	host string
	addr netip.Prefix
}

type quota struct {
	lanes int
	rate  *rate.Limiter
}

// pruneAt is the number of names at which those without lanes are removed: addresses, and
// the subjects of a custom Authorizer, are not limited.
const pruneAt = 4096

func (q *quotas) init(opts EdgeOptions) {
	q.opts, q.hosts, q.clients, q.addresses = opts, map[string]*quota{}, map[string]*quota{}, map[addressQuota]*quota{}
}

// take counts a new lane. It returns "", and the caller must call release, or the
// limit that the lane would exceed. An address that is refused costs the token that it
// shares, and the host, nothing.
func (q *quotas) take(host string, grant Grant, addr netip.Prefix) Reason {
	perClient := q.opts.LanesPerClient
	if grant.Lanes > 0 {
		perClient = grant.Lanes
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	h := entry(q.hosts, host, q.opts.HostRate, q.opts.HostBurst)
	c := entry(q.clients, grant.counted(), q.opts.ClientRate, max(q.opts.ClientBurst, perClient))
	a := q.address(host, addr)
	now := time.Now()
	switch {
	case a.lanes >= q.opts.LanesPerAddress:
		return RefusedNetwork
	case !a.rate.AllowN(now, 1):
		return RefusedRate
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
	a.lanes++
	h.lanes++
	c.lanes++
	q.lanes++
	return ""
}

// address returns the quota of an address at a host. If the address says nothing about
// the client, it is a new one that limits nothing.
func (q *quotas) address(host string, addr netip.Prefix) *quota {
	if !limited(addr) {
		return &quota{rate: rate.NewLimiter(rate.Inf, 0)}
	}
	return entry(q.addresses, addressQuota{host, addr}, q.opts.AddressRate, q.opts.LanesPerAddress)
}

// limited reports whether an address tells clients apart. A loopback address does not: it
// can be a proxy in front of the edge.
func limited(addr netip.Prefix) bool { return addr.IsValid() && !addr.Addr().IsLoopback() }

func (q *quotas) release(host string, grant Grant, addr netip.Prefix) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if limited(addr) {
		q.addresses[addressQuota{host, addr}].lanes--
	}
	q.hosts[host].lanes--
	q.clients[grant.counted()].lanes--
	q.lanes--
}

func entry[K comparable](all map[K]*quota, name K, perSecond float64, burst int) *quota {
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
