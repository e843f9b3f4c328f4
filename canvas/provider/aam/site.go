package aam

import (
	"net/netip"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/idna"
)

// WellKnown is where a site publishes its manifest, below its path.
const WellKnown = "/.well-known/agent-actions.json"

// Site is where a manifest is: an origin and a path.
type Site struct {
	// Origin is https and a host name in ASCII. For a site of this machine it can be http
	// with a port.
	Origin string
	// Path is "", or what precedes WellKnown. It begins with a slash and does not end with
	// one.
	Path string
}

// String returns the site as one key and for people.
func (s Site) String() string { return s.Origin + s.Path }

// Host returns the host, with a port if there is one.
func (s Site) Host() string {
	_, host, _ := strings.Cut(s.Origin, "://")
	return host
}

// ManifestURL returns the address of the manifest.
func (s Site) ManifestURL() string { return s.Origin + s.Path + WellKnown }

const maxSite = 512

// badSite is the error of ParseSite.
func badSite() *Error {
	return errorf(CodeInputInvalid, "/input/site", "want a name or https address without port, query or user, as in caferosso.com")
}

// ParseSite reads a host name or an https address. Only with loopback, a site can be http
// on localhost or 127.0.0.1, with a port.
func ParseSite(text string, loopback bool) (Site, error) {
	if text == "" || len(text) > maxSite || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return Site{}, badSite()
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" {
		return Site{}, badSite()
	}
	at := strings.TrimSuffix(strings.TrimSuffix(u.EscapedPath(), WellKnown), "/")
	if at != "" && path.Clean(at) != at || strings.Contains(at, "%2") {
		return Site{}, badSite()
	}
	if loopback && isLoopback(u.Hostname()) && (u.Scheme == "http" || u.Scheme == "https") {
		return Site{Origin: u.Scheme + "://" + u.Host, Path: at}, nil
	}
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(u.Hostname(), "."))
	if err != nil || u.Scheme != "https" || u.Port() != "" || strings.HasSuffix(u.Host, ":") || !isName(host) {
		return Site{}, badSite()
	}
	return Site{Origin: "https://" + host, Path: at}, nil
}

// isName reports whether a host is a public name: with a dot, and no address.
func isName(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") || strings.Contains(host, ":") {
		return false
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Trim(last, "0123456789") != "" && last != "localhost" // 127.1 is an address to some
}

func isLoopback(host string) bool { return host == "localhost" || host == "127.0.0.1" }

// maxVendor is the longest name of a vendor.
const maxVendor = 128

// ValidVendor reports whether a name can be a vendor's: letters, digits, dots, hyphens and
// underscores.
func ValidVendor(name string) bool {
	return name != "" && len(name) <= maxVendor && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
}
