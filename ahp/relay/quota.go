package relay

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// quotas counts lanes per host, per token, per address and per opened link, and the rate of
// new ones.
type quotas struct {
	opts      EdgeOptions
	mu        sync.Mutex
	hosts     map[string]*quota
	clients   map[string]*quota
	addresses map[addressQuota]*quota
	links     map[linkQuota]*quota
	places    map[*place]struct{}
}

// addressQuota is an address at a host.
type addressQuota struct {
	host string
	addr netip.Prefix
}

// linkQuota is a link that was opened once, or, with id "", the clients of a token and an
// address that do not say who they are.
type linkQuota struct {
	token string
	at    addressQuota
	id    string
}

type quota struct {
	lanes int
	rate  *rate.Limiter
	since time.Time
	links *rate.Limiter // new opened links, of an address or a token
}

// place is what a lane counts in. The mutex of the quotas guards it.
type place struct {
	host, client, address, link *quota

	apart bool // the link is distinguished from others
	since time.Time
	evict func() // ends the lane; it must not wait
	given bool   // it counts no more
}

// pruneAt is the number of names at which those without lanes are removed: addresses, opened
// links, and the subjects of a custom Authorizer, are not limited.
const pruneAt = 4096

// Limits of opened links. A client chooses the id of its link, so an address cannot make up
// many of them quickly: above these numbers its clients count together.
const (
	newLinkBurst = 64
	newLinkRate  = 0.2 // per second
	linkRate     = 2   // new lanes per second of one link
	linkBurst    = 16
)

func (q *quotas) init(opts EdgeOptions) {
	q.opts, q.hosts, q.clients, q.addresses = opts, map[string]*quota{}, map[string]*quota{}, map[addressQuota]*quota{}
	q.links, q.places = map[linkQuota]*quota{}, map[*place]struct{}{}
}

// take counts a new lane. It returns its place, which the caller must release, or the limit
// that the lane would exceed. An address or an opened link that is refused costs the token
// that it shares, and the host, nothing.
//
// If the address or the token has no place left, a link that has fewer lanes takes the
// newest one of the link that has most: take evicts that lane.
func (q *quotas) take(host string, grant Grant, addr netip.Prefix, opened string, evict func()) (*place, Reason) {
	perClient := q.opts.LanesPerClient
	if grant.Lanes > 0 {
		perClient = grant.Lanes
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	p := &place{since: time.Now(), evict: evict}
	p.host = entry(q.hosts, host, q.opts.HostRate, q.opts.HostBurst)
	p.client = entry(q.clients, grant.counted(), q.opts.ClientRate, max(q.opts.ClientBurst, perClient))
	p.address = q.address(host, addr)
	q.link(p, linkQuota{grant.counted(), q.key(host, addr), opened})
	victim, why := q.makeSpace(p, perClient)
	switch {
	case why != "":
		return nil, why
	case p.host.lanes >= q.opts.LanesPerHost && victim == nil:
		return nil, RefusedHostFull
	case len(q.places) >= q.opts.MaxLanes && victim == nil:
		return nil, RefusedEdgeFull
	case p.tooFast(), !p.host.rate.AllowN(p.since, 1):
		return nil, RefusedRate
	}
	if victim != nil {
		q.give(victim)
		victim.evict()
	}
	q.places[p] = struct{}{}
	p.count(1)
	return p, ""
}

// tooFast takes the new lane from the rates. A distinguished link has a separate rate,
// which others cannot use up.
func (p *place) tooFast() bool {
	if p.apart {
		return !p.link.rate.AllowN(p.since, 1)
	}
	return !p.address.rate.AllowN(p.since, 1) || !p.client.rate.AllowN(p.since, 1)
}

// makeSpace returns nil if the address and the token have a place left, and the place to
// free if they have none.
func (q *quotas) makeSpace(p *place, perClient int) (victim *place, why Reason) {
	if p.address.lanes >= q.opts.LanesPerAddress {
		if victim = q.victim(p, func(o *place) bool { return o.address == p.address }); victim == nil {
			return nil, RefusedNetwork
		}
	}
	if p.client.lanes >= perClient && (victim == nil || victim.client != p.client) {
		if victim = q.victim(p, func(o *place) bool { return o.client == p.client && (victim == nil || o.address == p.address) }); victim == nil {
			return nil, RefusedClient
		}
	}
	return victim, ""
}

// victim returns the newest place of the link that has most among some places, or nil if the
// new lane's link would then have as many. Between links with one lane each, the one that was
// opened first keeps it.
func (q *quotas) victim(p *place, among func(*place) bool) (most *place) {
	for o := range q.places {
		switch {
		case o.link == p.link || !among(o):
		case most == nil || o.link.lanes > most.link.lanes:
			most = o
		case o.link == most.link && o.since.After(most.since):
			most = o
		case o.link != most.link && o.link.lanes == most.link.lanes && o.link.since.After(most.link.since):
			most = o
		}
	}
	if most == nil {
		return nil
	}
	fewer := most.link.lanes > p.link.lanes+1
	earlier := most.link.lanes == p.link.lanes+1 && p.link.since.Before(most.link.since)
	if !fewer && !earlier {
		return nil
	}
	return most
}

// link sets the place's link. The link is not distinguished from others if the client does not
// name it, or if its address or token has named too many.
func (q *quotas) link(p *place, key linkQuota) {
	if key.id != "" && q.links[key] == nil {
		source := p.address
		if !key.at.addr.IsValid() {
			source = p.client
		}
		if source.links == nil {
			source.links = rate.NewLimiter(newLinkRate, newLinkBurst)
		}
		if !source.links.AllowN(p.since, 1) {
			key.id = ""
		}
	}
	p.link = entry(q.links, key, linkRate, linkBurst)
	p.apart = key.id != ""
}

// key returns an address at a host; the zero address if it says nothing about the client.
func (q *quotas) key(host string, addr netip.Prefix) addressQuota {
	if !limited(addr) {
		return addressQuota{host: host}
	}
	return addressQuota{host, addr}
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

// release gives a place back. It may have been given to another lane before.
func (q *quotas) release(p *place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.give(p)
}

func (q *quotas) give(p *place) {
	if p.given {
		return
	}
	p.given = true
	delete(q.places, p)
	p.count(-1)
}

func (p *place) count(n int) {
	for _, counted := range []*quota{p.host, p.client, p.address, p.link} {
		counted.lanes += n
	}
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
	e := &quota{rate: rate.NewLimiter(rate.Limit(perSecond), burst), since: time.Now()}
	all[name] = e
	return e
}
