package bridge

import (
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// hopByHop are headers of a connection and not of a message (RFC 9110 section 7.6.1),
// in addition to those that Connection names.
var hopByHop = []string{
	"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate",
	"proxy-authorization", "proxy-authentication-info", "proxy-connection",
}

// notToApp are request headers that the host sets itself, or that a page may not set.
var notToApp = []string{
	"host", "expect", "content-length", "accept-encoding", "cookie", "cookie2", "origin", "referer", "sec-fetch-site",
}

// notToPage are response headers that refer to the app's origin or connection, or would
// affect the canvas's origin.
var notToPage = []string{
	"set-cookie", "set-cookie2", "service-worker-allowed", "clear-site-data", "refresh", "link", "alt-svc",
	"strict-transport-security", "content-encoding",
}

// connectionNames returns the headers that Connection names.
func connectionNames(values []string) (names []string) {
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			names = append(names, strings.ToLower(textproto.TrimString(name)))
		}
	}
	return names
}

// toApp returns the app's headers for a page's (PROTOCOL.md section 6). The
// RoundTripper adds cookies.
func toApp(method string, origin *url.URL, list []header) http.Header {
	h := make(http.Header, len(list)+3)
	for _, e := range list {
		h.Add(e.name, e.value)
	}
	dropped := connectionNames(h["Connection"])
	for name := range h {
		if n := strings.ToLower(name); isHopByHop(n, dropped) || slices.Contains(notToApp, n) {
			delete(h, name)
		}
	}
	if method != http.MethodGet && method != http.MethodHead {
		h.Set("Origin", origin.Scheme+"://"+origin.Host)
	}
	h.Set("Sec-Fetch-Site", "same-origin")
	// The host would have to decode a compressed response.
	h.Set("Accept-Encoding", "identity")
	if len(h["User-Agent"]) == 0 {
		h["User-Agent"] = nil // do not send that of Go's client
	}
	return h
}

func isHopByHop(name string, named []string) bool {
	return slices.Contains(hopByHop, name) || strings.HasPrefix(name, "proxy-") || slices.Contains(named, name)
}

// toPage returns the page's headers for an app's, sorted by name. decoded means that
// the body has another length. Location and Content-Location are changed by relocate.
// ok is false if the headers are too large.
func toPage(h http.Header, decoded bool) (list []header, ok bool) {
	dropped := connectionNames(h["Connection"])
	size := 0
	for name, values := range h {
		n := strings.ToLower(name)
		if isHopByHop(n, dropped) || slices.Contains(notToPage, n) || decoded && n == "content-length" || !isToken(n) {
			continue
		}
		for _, v := range values {
			if !headerValue(v) {
				continue
			}
			list = append(list, header{n, v})
			size += len(n) + len(v)
		}
	}
	slices.SortStableFunc(list, func(a, b header) int { return strings.Compare(a.name, b.name) })
	return list, size <= maxHeaders && len(list) <= maxHeaderCount
}

// headerValue reports whether v is a valid header value.
func headerValue(v string) bool {
	for i := range len(v) {
		if c := v[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// relocate makes the locations of a response path-only. It fails for a redirect to
// another origin, and drops other locations of another origin.
func relocate(status int, h http.Header, asked *url.URL) *Error {
	for _, name := range []string{"Location", "Content-Location"} {
		said := h.Get(name)
		if said == "" {
			continue
		}
		path, ok := pathWithin(asked, said)
		switch {
		case ok:
			h.Set(name, path)
		case name == "Location" && status/100 == 3:
			return errRedirect
		default:
			h.Del(name)
		}
	}
	return nil
}

// pathWithin resolves a reference against base, and returns its path if it has the same
// origin.
func pathWithin(base *url.URL, ref string) (path string, ok bool) {
	u, err := base.Parse(ref)
	if err != nil || !sameOrigin(u, base) || u.User != nil || u.Opaque != "" {
		return "", false
	}
	path = u.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if strings.HasPrefix(path, "//") {
		path = "/." + path // "//" would begin a host name
	}
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		path += "#" + u.EscapedFragment()
	}
	return path, true
}

// sameOrigin compares scheme, host and port, including default ports.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	}
	return "80"
}
