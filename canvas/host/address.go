package host

import (
	"net"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// addresses is under which names the listener is known.
type addresses struct {
	origins  []string // web origins of the page, the one that links name first
	hosts    []string // exact Host headers of the app hosts
	loopback bool
}

// addressesOf derives the names from the listener. On loopback the link names
// localhost: the content hosts are names below it.
func addressesOf(opts Options) addresses {
	var a addresses
	for _, o := range opts.Origins {
		a.add(strings.TrimSuffix(strings.ToLower(o), "/"))
	}
	host, port, err := net.SplitHostPort(opts.Listener.Addr().String())
	if err != nil {
		return a
	}
	ip := net.ParseIP(host)
	a.loopback = ip != nil && ip.IsLoopback()
	switch {
	case a.loopback:
		a.add("http://localhost:" + port)
		a.add("http://" + net.JoinHostPort(host, port))
	case ip != nil && ip.IsUnspecified():
		a.add("http://localhost:" + port)
		for _, own := range ownAddresses() {
			a.add("http://" + net.JoinHostPort(own, port))
		}
	default:
		a.add("http://" + net.JoinHostPort(host, port))
	}
	return a
}

func (a *addresses) add(origin string) {
	a.origins = append(a.origins, origin)
	if u, err := url.Parse(origin); err == nil {
		a.hosts = append(a.hosts, u.Host)
	}
}

func ownAddresses() []string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []string
	for _, addr := range addrs {
		if n, ok := addr.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			own = append(own, n.IP.String())
		}
	}
	return own
}

// Endpoints is what a running host is reached by.
type Endpoints struct {
	Page string // the page without a token
	AHP  string // ws:// url
	MCP  string // http:// url
}

// Endpoints returns the addresses; they hold no token.
func (h *Host) Endpoints() Endpoints {
	base := h.addresses.origins[0]
	return Endpoints{Page: base + "/", AHP: strings.Replace(base, "http", "ws", 1) + "/ahp", MCP: base + "/mcp"}
}

// Connections is how many AHP connections are open.
func (h *Host) Connections() int { return h.server.Stats().Connections }

// Tokens returns the view and the agent token.
func (h *Host) Tokens() (view, agent string) { return h.opts.ViewToken, h.opts.AgentToken }

// Link is what a person opens to see a session. It holds the view token: it is
// for the person, never for a log.
func (h *Host) Link(session string) string {
	return web.Link(h.addresses.origins[0], h.opts.ViewToken, session)
}
