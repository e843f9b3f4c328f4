package bridge

import (
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// hopByHop are headers of one connection (RFC 9110 section 7.6.1), not of the
// message; what Connection names belongs to them.
var hopByHop = []string{
	"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate",
	"proxy-authorization", "proxy-authentication-info", "proxy-connection",
}

// notToApp are headers that a page does not decide, or whose truth the host knows
// better.
var notToApp = []string{
	"host", "expect", "content-length", "accept-encoding", "cookie", "cookie2", "origin", "referer", "sec-fetch-site",
}

// notToPage are headers that mean the app's own origin or connection, or that
// would act on the content origin.
var notToPage = []string{
	"set-cookie", "set-cookie2", "service-worker-allowed", "clear-site-data", "refresh", "link", "alt-svc",
	"strict-transport-security", "content-encoding",
}

// connectionNames are the headers that Connection names.
func connectionNames(values []string) (names []string) {
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			names = append(names, strings.ToLower(textproto.TrimString(name)))
		}
	}
	return names
}

// toApp makes an app's headers of a page's (PROTOCOL.md section 6). Cookies are
// the RoundTripper's.
func toApp(method string, origin *url.URL, list []header) http.Header {
	h := make(http.Header, len(list)+3)
	for _, e := range list {
		h.Add(e.name, e.value)
	}
	dropped := connectionNames(h["Connection"])
	for name := range h {
		if n := strings.ToLower(name); hop(n, dropped) || slices.Contains(notToApp, n) {
			delete(h, name)
		}
	}
	if method != http.MethodGet && method != http.MethodHead {
		h.Set("Origin", origin.Scheme+"://"+origin.Host)
	}
	h.Set("Sec-Fetch-Site", "same-origin")
	// A compressed answer would be decoded here and sent on as it is.
	h.Set("Accept-Encoding", "identity")
	if len(h["User-Agent"]) == 0 {
		h["User-Agent"] = nil // and not the one of Go's client
	}
	return h
}

func hop(name string, named []string) bool {
	return slices.Contains(hopByHop, name) || strings.HasPrefix(name, "proxy-") || slices.Contains(named, name)
}

// toPage makes a page's headers of an app's, sorted by name; decoded says that
// the body has another length now. Location and Content-Location are for
// relocate. ok is false where they are too large.
func toPage(h http.Header, decoded bool) (list []header, ok bool) {
	dropped := connectionNames(h["Connection"])
	size := 0
	for name, values := range h {
		n := strings.ToLower(name)
		if hop(n, dropped) || slices.Contains(notToPage, n) || decoded && n == "content-length" || !isToken(n) {
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

// headerValue reports that v may be a header's value.
func headerValue(v string) bool {
	for i := range len(v) {
		if c := v[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// relocate makes the locations in an answer path-only. Where a redirect leads to
// another origin, it fails; any other location of another origin is dropped.
func relocate(status int, h http.Header, asked *url.URL) *Error {
	for _, name := range []string{"Location", "Content-Location"} {
		said := h.Get(name)
		if said == "" {
			continue
		}
		path, ok := within(asked, said)
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

// within resolves a reference against a url, and makes it path-only where it
// stays in its origin.
func within(base *url.URL, ref string) (path string, ok bool) {
	u, err := base.Parse(ref)
	if err != nil || !sameOrigin(u, base) || u.User != nil || u.Opaque != "" {
		return "", false
	}
	path = u.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if strings.HasPrefix(path, "//") {
		path = "/." + path // it would name a host
	}
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		path += "#" + u.EscapedFragment()
	}
	return path, true
}

// sameOrigin compares scheme, host and port, with the scheme's own port.
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
