package remote

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of the proxies that the program trusts.
type Proxies []netip.Prefix

// Parse returns the networks of a list of CIDRs and single addresses.
func Parse(list []string) (Proxies, error) {
	var all Proxies
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			var a netip.Addr
			if a, err = netip.ParseAddr(text); err == nil {
				p, err = a.Prefix(a.BitLen())
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a network, as in 10.0.0.0/8", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// Trusts reports whether addr is one of the proxies.
func (p Proxies) Trusts(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return addr.IsValid() && slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// Client returns the network that a request counts for: the connection's, or if that is a
// trusted proxy's, the last address in X-Forwarded-For that is none. If the header has no
// such address, the proxy itself is the client. The result is the zero Prefix if the
// connection has no IP address.
func (p Proxies) Client(r *http.Request) netip.Prefix {
	addr := parse(r.RemoteAddr)
	if !p.Trusts(addr) {
		return Network(addr)
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for _, text := range slices.Backward(hops) {
		hop := parse(strings.TrimSpace(text))
		if !hop.IsValid() {
			break // what is before it was not written by a trusted proxy
		}
		if addr = hop; !p.Trusts(addr) {
			break
		}
	}
	return Network(addr)
}

// Of returns the network of a connection's address; the zero Prefix if it has no IP
// address.
func Of(addr net.Addr) netip.Prefix { return Network(Addr(addr)) }

// Addr returns the IP address of a connection's address, or the zero Addr.
func Addr(addr net.Addr) netip.Addr {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		a, _ := netip.AddrFromSlice(tcp.IP)
		return a.Unmap()
	}
	if addr == nil {
		return netip.Addr{}
	}
	return parse(addr.String())
}

// Network returns the network that counts as one address: the address itself, or the
// /64 of an IPv6 address.
func Network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits)
	return p
}

// parse parses an address with or without a port.
func parse(text string) netip.Addr {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap()
	}
	a, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap()
}
