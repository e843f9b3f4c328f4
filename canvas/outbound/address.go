package outbound

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// ParseOrigin returns an origin in its shortest form, such as "https://example.com" or
// "http://localhost:8080". It refuses anything but a scheme (http or https), a host and a
// port.
func ParseOrigin(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" ||
		u.User != nil || u.Opaque != "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", fmt.Errorf("origin %q: want a form like https://example.com, without path", s)
	}
	return originOf(u), nil
}

// originOf returns a URL's origin, without the scheme's own port.
func originOf(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port)
}

// special are the IPv4 ranges that IANA's registry does not call globally reachable.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)

// Global unicast IPv6 is one range; these are the parts of it that are special.
var (
	global   = netip.MustParsePrefix("2000::/3")
	special6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

// Public reports whether an address is globally reachable. An IPv4 address in IPv6 form
// counts as the IPv4 address.
func Public(ip netip.Addr) bool {
	if ip = ip.Unmap(); ip.Is4() {
		return !in(special, ip)
	}
	return ip.Zone() == "" && global.Contains(ip) && !in(special6, ip)
}

func in(set []netip.Prefix, ip netip.Addr) bool {
	for _, p := range set {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

func prefixes(all ...string) (set []netip.Prefix) {
	for _, p := range all {
		set = append(set, netip.MustParsePrefix(p))
	}
	return set
}
