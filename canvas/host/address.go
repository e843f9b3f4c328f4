package host

import (
	"net"
	"net/url"
	"path"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// addresses are the names under which the host is reached.
type addresses struct {
	base    string   // the address of the page that links name, if it has a path
	origins []string // web origins of the page; links name the first
	hosts   []string // exact Host headers of the page's hosts
}

// addOrigins adds the configured origins.
func (a *addresses) addOrigins(origins []string) {
	for i, o := range origins {
		origin, prefix := cutPrefix(strings.TrimSuffix(o, "/"))
		origin = strings.ToLower(origin)
		if i == 0 && prefix != "" {
			a.base = origin + prefix
		}
		a.add(origin)
	}
}

// cutPrefix splits the address of a page behind a proxy into its origin and its path. It
// returns any other address unchanged; the check of origins then refuses it.
func cutPrefix(address string) (origin, prefix string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(address, "?#") || u.Path == "" || path.Clean(u.Path) != u.Path {
		return address, ""
	}
	prefix = u.EscapedPath()
	return strings.TrimSuffix(address, prefix), prefix
}

// addListener adds the names of a listener's address. On loopback the first is
// localhost, because content hosts are names below it.
func (a *addresses) addListener(addr net.Addr) {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return
	}
	ip := net.ParseIP(host)
	switch {
	case ip != nil && ip.IsLoopback():
		a.addHost("http", "localhost", port)
		a.addHost("http", host, port)
	case ip != nil && ip.IsUnspecified():
		a.addHost("http", "localhost", port)
		for _, own := range ownAddresses() {
			a.addHost("http", own, port)
		}
	default:
		a.addHost("http", host, port)
	}
}

// addHost adds a name and port, also in the form without the port if that is the
// scheme's default: browsers leave it out.
func (a *addresses) addHost(scheme, host, port string) {
	origin := scheme + "://" + net.JoinHostPort(host, port)
	a.add(origin)
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		a.add(strings.TrimSuffix(origin, ":"+port))
	}
}

func (a *addresses) add(origin string) {
	a.origins = append(a.origins, origin)
	if u, err := url.Parse(origin); err == nil {
		a.hosts = append(a.hosts, u.Host)
	}
}

// isLoopback reports whether an address is one of this machine only.
func isLoopback(addr net.Addr) bool {
	host, _, err := net.SplitHostPort(addr.String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
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

// Endpoints are the addresses of a host, without tokens.
type Endpoints struct {
	// Page is the URL of the page.
	Page string
	// AHP is the WebSocket URL of AHP.
	AHP string
	// MCP is the URL of the agent's endpoint.
	MCP string
}

// Endpoints returns the host's addresses under the first of its origins. They are empty
// while no address is known: without Options.Origins, before [Host.Serve] or
// [Host.SetAddr].
func (h *Host) Endpoints() Endpoints {
	base := h.sites.base()
	if base == "" {
		return Endpoints{}
	}
	return Endpoints{Page: base + "/", AHP: strings.Replace(base, "http", "ws", 1) + "/ahp", MCP: base + "/mcp"}
}

// Link returns the address that a person opens to see a session. It holds the view
// token: show it to the person, and do not log it. It is empty while no address is
// known; see [Host.Endpoints].
func (h *Host) Link(session string) string {
	view, _ := h.keys.base()
	return h.linkWith(view, session)
}

// linkWith returns the link of a session with a token.
func (h *Host) linkWith(secret, session string) string {
	base := h.sites.base()
	if base == "" {
		return ""
	}
	return web.Link(base, secret, session)
}

// SetAddr makes the host known under the names of a listener's address, in addition to
// Options.Origins, so that it has links before Serve or without it. A program with its
// own server can call it instead of setting Options.Origins.
func (h *Host) SetAddr(addr net.Addr) error {
	return h.sites.setAddr(addr, false)
}
