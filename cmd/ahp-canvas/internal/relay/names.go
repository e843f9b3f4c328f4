package relay

import (
	"net"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// names are the web origins and host names of a relay.
type names struct {
	origins, hosts []string
	loopback       bool
}

// newNames returns the names that the flags give and, on loopback, the listener's own.
func newNames(o options, addr net.Addr) (names, error) {
	var n names
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return n, err
	}
	ip := net.ParseIP(host)
	n.loopback = ip != nil && ip.IsLoopback()
	scheme := "http"
	if o.cert != "" {
		scheme = "https"
	}
	for _, origin := range o.origins {
		n.origins = append(n.origins, strings.TrimSuffix(strings.ToLower(origin), "/"))
	}
	switch {
	case !n.loopback && o.cert == "":
		return n, term.Usagef("beyond loopback a relay requires TLS; give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a TLS proxy")
	case !n.loopback && len(n.origins) == 0:
		return n, term.Usagef("beyond loopback a relay needs the address that people use, as in --origin https://relay.example:%s", port)
	case n.loopback:
		n.origins = append(n.origins, scheme+"://localhost:"+port, scheme+"://"+net.JoinHostPort(host, port))
	}
	for _, origin := range n.origins {
		u, err := url.Parse(origin)
		if err != nil {
			continue // web.New says what is wrong with it
		}
		n.hosts = append(n.hosts, u.Host)
	}
	return n, nil
}
