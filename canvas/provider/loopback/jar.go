package loopback

import (
	"cmp"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The limits of a jar. A browser must store 50 cookies of 4096 bytes per
// domain (RFC 6265 section 6.1), and a jar has one domain: the app's. Chromium and
// Firefox store 180.
const (
	maxCookies      = 180
	maxCookieBytes  = 4096               // bytes of a name and its value
	maxCookiePath   = 1024               // bytes of a path
	maxCookiesBytes = 256 << 10          // bytes of all cookies, with paths
	maxAge          = 400 * 24 * 60 * 60 // seconds of Max-Age; browsers have the same limit, and a much larger value overflows
)

// jar is the cookie jar of one browser in one instance, with limits. It ignores a cookie that is too
// large, as browsers do. If there are too many, it evicts expired ones first, then the one
// that was set longest ago.
type jar struct {
	inner *cookiejar.Jar // selects the cookies of a request

	mu    sync.Mutex
	kept  []cookie // the cookies in inner, in the order of setting
	bytes int      // the sum of kept
}

// cookie identifies a stored cookie, with its size and expiry.
type cookie struct {
	name, path string
	bytes      int
	expires    time.Time // zero: never
	httpOnly   bool      // not for scripts
}

func newJar() *jar {
	inner, _ := cookiejar.New(nil) // without options it has no error
	return &jar{inner: inner}
}

// Cookies implements http.CookieJar.
func (j *jar) Cookies(u *url.URL) []*http.Cookie { return j.inner.Cookies(u) }

// SetCookies implements http.CookieJar.
func (j *jar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range cookies {
		if path := pathOf(c, u); ownDomain(c, u) && len(c.Name)+len(c.Value) <= maxCookieBytes && len(path) <= maxCookiePath {
			j.set(u, c, path)
		}
	}
}

// set stores one cookie, and evicts others if the jar is full.
func (j *jar) set(u *url.URL, c *http.Cookie, path string) {
	now := time.Now()
	plain := *c
	plain.Path, plain.Domain, plain.MaxAge = path, "", min(c.MaxAge, maxAge)
	k := cookie{name: c.Name, path: path, bytes: len(c.Name) + len(c.Value) + len(path), expires: endOf(&plain, now), httpOnly: c.HttpOnly}
	j.drop(func(old cookie) bool { return old.name == k.name && old.path == k.path })
	j.inner.SetCookies(u, []*http.Cookie{&plain})
	if k.expired(now) {
		return // this is how an app removes a cookie
	}
	j.kept = append(j.kept, k)
	j.bytes += k.bytes
	if j.full() {
		j.evict(u, func(old cookie) bool { return old.expired(now) })
	}
	for j.full() {
		oldest := j.kept[0]
		j.evict(u, func(old cookie) bool { return old == oldest })
	}
}

// hidden reports whether scripts may not see the cookies of a name: one of them is HttpOnly.
func (j *jar) hidden(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.kept, func(k cookie) bool { return k.name == name && k.httpOnly })
}

func (j *jar) empty() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.kept) == 0
}

func (j *jar) full() bool { return len(j.kept) > maxCookies || j.bytes > maxCookiesBytes }

// evict removes cookies from the jar.
func (j *jar) evict(u *url.URL, which func(cookie) bool) {
	for _, k := range j.drop(which) {
		j.inner.SetCookies(u, []*http.Cookie{{Name: k.name, Path: k.path, MaxAge: -1}})
	}
}

// drop removes cookies from kept, and returns them.
func (j *jar) drop(which func(cookie) bool) (gone []cookie) {
	j.kept = slices.DeleteFunc(j.kept, func(k cookie) bool {
		if !which(k) {
			return false
		}
		gone = append(gone, k)
		j.bytes -= k.bytes
		return true
	})
	return gone
}

func (k cookie) expired(now time.Time) bool { return !k.expires.IsZero() && !k.expires.After(now) }

// endOf returns when a cookie expires: now for one that is removed, zero for never (RFC
// 6265 section 5.3, step 3).
func endOf(c *http.Cookie, now time.Time) time.Time {
	switch {
	case c.MaxAge < 0:
		return now
	case c.MaxAge > 0:
		return now.Add(time.Duration(c.MaxAge) * time.Second)
	}
	return c.Expires
}

// pathOf returns a cookie's path, or the request's directory by default (RFC 6265
// section 5.1.4).
func pathOf(c *http.Cookie, u *url.URL) string {
	if strings.HasPrefix(c.Path, "/") {
		return c.Path
	}
	return cmp.Or(u.Path[:max(strings.LastIndexByte(u.Path, '/'), 0)], "/")
}

// ownDomain reports whether a cookie is for the app's host name. A leading dot is
// ignored for names, and invalid for IP addresses.
func ownDomain(c *http.Cookie, u *url.URL) bool {
	domain, host := c.Domain, u.Hostname()
	if net.ParseIP(host) == nil {
		domain = strings.TrimPrefix(domain, ".")
	}
	return c.Domain == "" || strings.EqualFold(domain, host)
}
