package web

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
)

// origin is a parsed web origin.
type origin struct {
	scheme string // "http" or "https"
	host   string // lower case, with the port unless it is the scheme's default
}

func (o origin) String() string { return o.scheme + "://" + o.host }

// socket returns the origin of a WebSocket to the same listener.
func (o origin) socket() string { return strings.Replace(o.scheme, "http", "ws", 1) + "://" + o.host }

// loopback reports whether the origin is on this machine, so that its content hosts
// can be names below localhost.
func (o origin) loopback() bool {
	name := (&url.URL{Host: o.host}).Hostname()
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// content returns the default pattern of content origins, which only a loopback
// origin has.
func (o origin) content() (pattern, bool) {
	if o.scheme != "http" || !o.loopback() {
		return pattern{}, false
	}
	suffix := ".localhost"
	if port := (&url.URL{Host: o.host}).Port(); port != "" {
		suffix += ":" + port
	}
	return pattern{o.scheme, suffix}, true
}

func parseOrigin(s string) (origin, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil ||
		strings.TrimSuffix(s, "/") != u.Scheme+"://"+u.Host {
		return origin{}, fmt.Errorf("%q is not a web origin: give scheme, host and port only, for example http://localhost:8080", s)
	}
	return origin{u.Scheme, strings.ToLower(u.Host)}, nil
}

// pattern is a set of content origins: all generated names below a suffix.
type pattern struct {
	scheme string
	suffix string // begins with a dot, includes the port; lower case
}

// String returns the pattern as a CSP source, which is also its form in the page.
func (p pattern) String() string { return p.scheme + "://*" + p.suffix }

// match reports whether a Host header names a content host: a label (allow.List.Label), a
// dash, 32 lower-case hex digits, the suffix.
func (p pattern) match(host string) (label string, ok bool) {
	name, ok := strings.CutSuffix(host, p.suffix)
	if !ok {
		return "", false
	}
	label, id, _ := strings.Cut(name, "-")
	if !allow.IsLabel(label) || len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", false
	}
	return label, true
}

func parsePattern(s string) (pattern, error) {
	o, err := parseOrigin(s)
	suffix, ok := strings.CutPrefix(o.host, "*")
	if err != nil || !ok || !strings.HasPrefix(suffix, ".") || strings.Contains(suffix, "*") || len(suffix) < 2 {
		return pattern{}, fmt.Errorf("%q is not a pattern of content origins: give scheme, *, and a domain, for example https://*.canvas.example", s)
	}
	return pattern{o.scheme, suffix}, nil
}
