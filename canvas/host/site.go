package host

import (
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// site is the host under one set of addresses: the page, and the guard of everything
// else.
type site struct {
	addresses
	guard *ws.Guard
	page  http.Handler
	hint  string // ends the text of a refused address
}

// newSite makes a site. queryToken accepts a token in the URL, which servers and proxies
// log: only a listener of the host's own on loopback may have it.
func (h *Host) newSite(a addresses, queryToken bool, hint string) (*site, error) {
	s := &site{addresses: a, hint: hint, guard: &ws.Guard{
		Hosts: a.hosts, Origins: a.origins, QueryToken: queryToken,
		Tokens: append([]ws.Token{
			{Secret: h.opts.ViewToken, Role: RoleView},
			{Secret: h.opts.AgentToken, Role: RoleAgent},
		}, h.opts.Tokens...),
	}}
	unknown := ""
	if hint != "" {
		unknown = "this host is not known under that name" + hint
	}
	page, err := web.New(web.Options{
		AppOrigins: a.origins, ContentOrigin: h.opts.ContentOrigin, UnknownName: unknown, App: http.HandlerFunc(h.serveApp),
	})
	s.page = page
	return s, err
}

// address checks Host and Origin of a request.
func (s *site) address(r *http.Request) *ws.Refusal {
	refusal := s.guard.CheckAddress(r)
	if refusal != nil {
		refusal.Reason += s.hint
	}
	return refusal
}

// originsHint explains a refusal to the author of a program that gave no origins.
const originsHint = ": without host.Options.Origins the host answers only on localhost, at the port of the connection"

// SetAddr makes the host known under the names of a listener's address, in addition to
// Options.Origins, so that it has links before Serve or without it. A program with its
// own server can call it instead of setting Options.Origins.
func (h *Host) SetAddr(addr net.Addr) error {
	return h.setAddr(addr, false)
}

func (h *Host) setAddr(addr net.Addr, ownListener bool) error {
	var a addresses
	a.addOrigins(h.opts.Origins)
	a.addListener(addr)
	if len(a.origins) == 0 {
		return fmt.Errorf("host: address %q has no host and port: set Options.Origins", addr)
	}
	// With Origins, it is probably behind a proxy, which logs addresses.
	s, err := h.newSite(a, ownListener && isLoopback(addr) && len(h.opts.Origins) == 0, "")
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	h.named.Store(s)
	return nil
}

// checkAddresses makes the site of Options.Origins. Without origins it makes a site that
// has no use, to find a wrong ContentOrigin.
func (h *Host) checkAddresses() error {
	if len(h.opts.Origins) == 0 {
		_, err := h.loopbackSite(loopbackKey{"http", "localhost:0"})
		return err
	}
	var a addresses
	a.addOrigins(h.opts.Origins)
	s, err := h.newSite(a, false, "")
	if err == nil {
		h.named.Store(s)
	}
	return err
}

// siteOf returns the site that answers a request.
func (h *Host) siteOf(r *http.Request) *site {
	if s := h.named.Load(); s != nil {
		return s
	}
	s, err := h.loopbackSite(loopbackKeyOf(r))
	if err != nil {
		s, _ = h.loopbackSite(loopbackKey{"http", "localhost:0"}) // New has made it
	}
	return s
}

// loopbackSites are the sites of a host that knows no address: it answers to localhost and
// the loopback address at which the connection arrived, with its port.
type loopbackSites struct {
	mu    sync.Mutex
	sites map[loopbackKey]*site
}

// maxLoopbackSites bounds the cache; a program has one or two listeners.
const maxLoopbackSites = 64

// loopbackKey is a scheme, and the address at which connections arrive.
type loopbackKey struct{ scheme, addr string }

// loopbackKeyOf returns the key of a request. The address is the connection's and not the
// Host header's, which the client chooses: proofs are for real addresses only. Port 0,
// which no listener has, stands for a connection that did not arrive on loopback.
func loopbackKeyOf(r *http.Request) loopbackKey {
	k := loopbackKey{"http", "localhost:0"}
	if r.TLS != nil {
		k.scheme = "https"
	}
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isLoopback(addr) {
		k.addr = addr.String()
	}
	return k
}

func (h *Host) loopbackSite(k loopbackKey) (*site, error) {
	l := &h.loopback
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sites[k]; s != nil {
		return s, nil
	}
	host, port, err := net.SplitHostPort(k.addr)
	if err != nil {
		return nil, err
	}
	var a addresses
	a.addHost(k.scheme, "localhost", port)
	if host != "localhost" {
		a.addHost(k.scheme, host, port)
	}
	s, err := h.newSite(a, false, originsHint)
	if err != nil {
		return nil, err
	}
	if l.sites == nil || len(l.sites) >= maxLoopbackSites {
		l.sites = map[loopbackKey]*site{}
	}
	l.sites[k] = s
	return s, nil
}
