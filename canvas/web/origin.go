package web

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// origin is a web origin, taken apart.
type origin struct {
	scheme string // "http" or "https"
	host   string // lower case, with the port where it is not the scheme's own
}

func (o origin) String() string { return o.scheme + "://" + o.host }

// socket is the origin of a WebSocket to the same listener.
func (o origin) socket() string { return strings.Replace(o.scheme, "http", "ws", 1) + "://" + o.host }

// loopback reports whether a page of that origin was loaded from this machine,
// so that its content hosts can be names below localhost.
func (o origin) loopback() bool {
	name := (&url.URL{Host: o.host}).Hostname()
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// content is the pattern of the content hosts that a loopback page gets without
// being told one.
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
		return origin{}, fmt.Errorf("%q is no web origin: give scheme, host and port only, as in http://localhost:8080", s)
	}
	return origin{u.Scheme, strings.ToLower(u.Host)}, nil
}

// pattern is a set of content origins: any name of ours below a suffix.
type pattern struct {
	scheme string
	suffix string // begins with a dot; with the port, lower case
}

// String is the pattern as a CSP source and as the page is told it.
func (p pattern) String() string { return p.scheme + "://*" + p.suffix }

// match reports whether a Host header names a content host: "c-", 32 lower-case
// hex digits, the suffix.
func (p pattern) match(host string) bool {
	name, ok := strings.CutSuffix(host, p.suffix)
	if !ok {
		return false
	}
	id, ok := strings.CutPrefix(name, "c-")
	return ok && len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

func parsePattern(s string) (pattern, error) {
	o, err := parseOrigin(s)
	suffix, ok := strings.CutPrefix(o.host, "*")
	if err != nil || !ok || !strings.HasPrefix(suffix, ".") || strings.Contains(suffix, "*") || len(suffix) < 2 {
		return pattern{}, fmt.Errorf("%q is no pattern of content origins: it must be like https://*.canvas.example", s)
	}
	return pattern{o.scheme, suffix}, nil
}
