package host

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// sites knows the addresses of a host, and checks every request against them.
type sites struct {
	origins       []string
	contentOrigin string
	allowed       allow.Lists
	editor        bool // the origins name EditorOrigin
	keys          *keys
	app           http.Handler // everything on the page's origin that is not a file of the page
	logger        *slog.Logger

	named atomic.Pointer[site] // nil while no address is known

	// loopback has the sites of a host that knows no address: it answers to localhost
	// and the loopback address at which the connection arrived, with its port.
	mu       sync.Mutex
	loopback map[loopbackKey]*site
}

func newSites(opts *Options, allowed allow.Lists, k *keys, app http.Handler) *sites {
	isEditor := func(origin string) bool { return origin == EditorOrigin }
	return &sites{
		origins: slices.DeleteFunc(slices.Clone(opts.Origins), isEditor), editor: slices.ContainsFunc(opts.Origins, isEditor),
		contentOrigin: opts.ContentOrigin, allowed: allowed, app: app, logger: opts.Logger, keys: k,
	}
}

// setAddr makes the site of a listener's address and the origins.
func (l *sites) setAddr(addr net.Addr, ownListener bool) error {
	var a addresses
	a.addOrigins(l.origins)
	a.addListener(addr)
	if len(a.origins) == 0 {
		return fmt.Errorf("host: address %q has no host and port: set Options.Origins", addr)
	}
	// With Origins, it is probably behind a proxy, which logs addresses.
	s, err := l.newSite(a, ownListener && isLoopback(addr) && len(l.origins) == 0, "")
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	l.named.Store(s)
	return nil
}

// useOrigins makes the site of Options.Origins. Without origins it makes a site that
// has no use, to find a wrong ContentOrigin.
func (l *sites) useOrigins() error {
	if len(l.origins) == 0 {
		_, err := l.loopbackSite(loopbackKey{"http", "localhost:0"})
		return err
	}
	var a addresses
	a.addOrigins(l.origins)
	s, err := l.newSite(a, false, "")
	if err == nil {
		l.named.Store(s)
	}
	return err
}

// of returns the site that answers a request.
func (l *sites) of(r *http.Request) *site {
	if s := l.named.Load(); s != nil {
		return s
	}
	s, err := l.loopbackSite(loopbackKeyOf(r))
	if err != nil {
		s, _ = l.loopbackSite(loopbackKey{"http", "localhost:0"}) // New has made it
	}
	return s
}

func (l *sites) loopbackSite(k loopbackKey) (*site, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.loopback[k]; s != nil {
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
	s, err := l.newSite(a, false, originsHint)
	if err != nil {
		return nil, err
	}
	if l.loopback == nil || len(l.loopback) >= maxLoopbackSites {
		l.loopback = map[loopbackKey]*site{}
	}
	l.loopback[k] = s
	return s, nil
}

// newSite makes a site. queryToken accepts a token in the URL, which servers and proxies
// log: it is only for a loopback listener that the host serves itself.
func (l *sites) newSite(a addresses, queryToken bool, hint string) (*site, error) {
	s := &site{addresses: a, hint: hint, guard: &ws.Guard{
		Hosts: a.hosts, Origins: a.origins, QueryToken: queryToken, Lookup: l.keys.find,
	}}
	s.ahp = forEditors(s.guard, l.editor)
	unknown := ""
	if hint != "" {
		unknown = "this host is not known under that name" + hint
	}
	page, err := web.New(web.Options{
		AppOrigins: a.origins, ContentOrigin: l.contentOrigin, UnknownName: unknown, App: l.app, Allowed: l.allowed,
	})
	s.page = page
	return s, err
}

// base returns the address of the page that links name, without the last slash; "" if no
// address is known.
func (l *sites) base() string {
	if s := l.named.Load(); s != nil {
		return cmp.Or(s.addresses.base, s.origins[0])
	}
	return ""
}

// loopbackBase returns an address of the page on this machine, or "". Content hosts are
// names below localhost, so localhost is the first choice.
func (l *sites) loopbackBase() string {
	s := l.named.Load()
	if s == nil {
		return ""
	}
	found := ""
	for _, origin := range s.origins {
		u, err := url.Parse(origin)
		switch {
		case err != nil || u.Scheme != "http" || u.Port() == "":
		case u.Hostname() == "localhost":
			return origin
		case net.ParseIP(u.Hostname()).IsLoopback():
			found = cmp.Or(found, origin)
		}
	}
	return found
}

// guarded checks Host and Origin, and the token if there are roles, before next is
// called. If there are, next receives the request without the token.
func (l *sites) guarded(next http.Handler, roles []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := l.of(r)
		if refusal := s.address(r); refusal != nil {
			l.refuse(w, refusal)
			return
		}
		if len(roles) > 0 {
			grant, refusal := s.guard.Check(r, roles...)
			if refusal != nil {
				l.refuse(w, refusal)
				return
			}
			if !web.Proven(r) {
				web.TooMany(w, r)
				return
			}
			ctx, done := l.keys.enter(r.Context(), grant.Token)
			defer done()
			r = r.Clone(context.WithValue(ctx, grantKey{}, grant))
			s.guard.RemoveToken(r)
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers with a guard's refusal, and logs it.
func (l *sites) refuse(w http.ResponseWriter, refusal *ws.Refusal) {
	l.logger.Info("request refused", "status", refusal.Status, "err", refusal)
	refusal.Write(w)
}
