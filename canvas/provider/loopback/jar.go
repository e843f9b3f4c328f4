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

// The bounds of an instance's cookies. A browser has to keep 50 of a domain with
// 4096 bytes each (RFC 6265 section 6.1), and ours has one domain: the app's. The
// browsers of today keep 180 (Chromium, Firefox).
const (
	maxCookies      = 180
	maxCookieBytes  = 4096               // of a name and its value
	maxCookiePath   = 1024               // of its path
	maxCookiesBytes = 256 << 10          // of all that an instance has, paths included
	longestAge      = 400 * 24 * 60 * 60 // seconds of Max-Age; browsers cut it there, and the jar's sum overflows far above
)

// jar is the cookies of one instance, bounded. A cookie that is too large is not
// taken, as in a browser. Where there are too many, those that ran out go first,
// then the one that was set longest ago; setting it again renews it.
//
// An app that goes on to set cookies by the hundred loses the oldest of its own;
// nobody else's are concerned.
type jar struct {
	inner *cookiejar.Jar // knows what goes with a request

	mu    sync.Mutex
	kept  []cookie // what inner has, the one that was set last at the end
	bytes int      // of all kept
}

// cookie is what tells one from another, and what it takes.
type cookie struct {
	name, path string
	bytes      int
	expires    time.Time // zero: with the instance
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

// set takes one cookie, and makes room for it.
func (j *jar) set(u *url.URL, c *http.Cookie, path string) {
	now := time.Now()
	plain := *c
	plain.Path, plain.Domain, plain.MaxAge = path, "", min(c.MaxAge, longestAge)
	k := cookie{name: c.Name, path: path, bytes: len(c.Name) + len(c.Value) + len(path), expires: endOf(&plain, now)}
	j.drop(func(old cookie) bool { return old.name == k.name && old.path == k.path })
	j.inner.SetCookies(u, []*http.Cookie{&plain})
	if k.over(now) {
		return // which is how an app takes one back
	}
	j.kept = append(j.kept, k)
	j.bytes += k.bytes
	if j.full() {
		j.evict(u, func(old cookie) bool { return old.over(now) })
	}
	for j.full() {
		oldest := j.kept[0]
		j.evict(u, func(old cookie) bool { return old == oldest })
	}
}

func (j *jar) full() bool { return len(j.kept) > maxCookies || j.bytes > maxCookiesBytes }

// evict takes cookies out of both records.
func (j *jar) evict(u *url.URL, which func(cookie) bool) {
	for _, k := range j.drop(which) {
		j.inner.SetCookies(u, []*http.Cookie{{Name: k.name, Path: k.path, MaxAge: -1}})
	}
}

// drop forgets what is noted of cookies, and returns it.
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

func (k cookie) over(now time.Time) bool { return !k.expires.IsZero() && !k.expires.After(now) }

// endOf is when a cookie runs out, which for one that is taken back is now; zero
// is never (RFC 6265 section 5.3, step 3).
func endOf(c *http.Cookie, now time.Time) time.Time {
	switch {
	case c.MaxAge < 0:
		return now
	case c.MaxAge > 0:
		return now.Add(time.Duration(c.MaxAge) * time.Second)
	}
	return c.Expires
}

// pathOf is a cookie's path, or where it names none the request's folder (RFC
// 6265 section 5.1.4).
func pathOf(c *http.Cookie, u *url.URL) string {
	if strings.HasPrefix(c.Path, "/") {
		return c.Path
	}
	return cmp.Or(u.Path[:max(strings.LastIndexByte(u.Path, '/'), 0)], "/")
}

// ownDomain reports whether a cookie is for the app's own name. It has no other,
// and none above it. A dot before a name is left out, before a number it is wrong.
func ownDomain(c *http.Cookie, u *url.URL) bool {
	domain, host := c.Domain, u.Hostname()
	if net.ParseIP(host) == nil {
		domain = strings.TrimPrefix(domain, ".")
	}
	return c.Domain == "" || strings.EqualFold(domain, host)
}
