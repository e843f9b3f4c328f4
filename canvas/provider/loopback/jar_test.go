package loopback_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// set gives a jar a cookie, as an answer's Set-Cookie says it.
func set(t *testing.T, jar http.CookieJar, at, line string) {
	t.Helper()
	c, err := http.ParseSetCookie(line)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(location(t, at), []*http.Cookie{c})
}

func location(t *testing.T, at string) *url.URL {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// sent is the names of the cookies that go with a request.
func sent(t *testing.T, jar http.CookieJar, at string) []string {
	t.Helper()
	var names []string
	for _, c := range jar.Cookies(location(t, at)) {
		names = append(names, c.Name)
	}
	return names
}

const root = "http://127.0.0.1:3000/"

// many sets n cookies of bytes each, named by prefix and number.
func many(t *testing.T, jar http.CookieJar, prefix string, n, bytes int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("%s%d", prefix, i)
		set(t, jar, root, name+"="+strings.Repeat("v", bytes-len(name)))
	}
}

// An app that sets ever more cookies keeps the newest of them.
func TestTheOldestCookieGoes(t *testing.T) {
	jar := loopback.NewJar()
	many(t, jar, "c", 180, 10)
	set(t, jar, root, "c0=set again")
	many(t, jar, "d", 2, 10)
	got := sent(t, jar, root)
	if len(got) != 180 {
		t.Errorf("%d cookies are kept", len(got))
	}
	for name, want := range map[string]bool{"c0": true, "c1": false, "c2": false, "c3": true, "c179": true, "d0": true, "d1": true} {
		if slices.Contains(got, name) != want {
			t.Errorf("%s is kept: %t", name, !want)
		}
	}
}

// A jar is bounded in bytes too, above what RFC 6265 section 6.1 asks for: 50 of
// a domain, 4096 bytes each.
func TestLargeCookies(t *testing.T) {
	jar := loopback.NewJar()
	many(t, jar, "c", 50, 4096)
	if got := len(sent(t, jar, root)); got != 50 {
		t.Errorf("of 50 large cookies %d are kept", got)
	}
	many(t, jar, "d", 100, 4096)
	got := sent(t, jar, root)
	if len(got) < 50 || len(got) > 64 || !slices.Contains(got, "d99") || slices.Contains(got, "d30") {
		t.Errorf("of 150 large cookies %d are kept: %v", len(got), got)
	}
	set(t, jar, root, "d99=small")
	many(t, jar, "d99", 1, 4097) // d990, with a byte more
	set(t, jar, root, "long=path; Path=/"+strings.Repeat("p", 1024))
	set(t, jar, root, "longest=path; Path=/"+strings.Repeat("p", 1023))
	set(t, jar, root, "d99="+strings.Repeat("v", 4094))
	got = sent(t, jar, root)
	if slices.Contains(got, "d990") {
		t.Error("a cookie that is too large was taken")
	}
	for _, c := range jar.Cookies(location(t, root)) {
		if c.Name == "d99" && c.Value != "small" {
			t.Error("a cookie that is too large replaced the one that was there")
		}
	}
	if got := sent(t, jar, root+strings.Repeat("p", 1024)); slices.Contains(got, "long") {
		t.Error("a cookie with a path that is too long was taken")
	}
	if got := sent(t, jar, root+strings.Repeat("p", 1023)); !slices.Contains(got, "longest") {
		t.Error("a cookie with a path of 1024 bytes was not taken")
	}
}

// What ran out or was taken back holds no place.
func TestCookiesThatAreOverGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jar := loopback.NewJar()
		set(t, jar, root, "first=1")
		set(t, jar, root, "brief=1; Max-Age=10")
		set(t, jar, root, "dated=1; Expires="+time.Now().Add(10*time.Second).UTC().Format(http.TimeFormat))
		set(t, jar, root, "back=1")
		set(t, jar, root, "back=; Max-Age=0")
		many(t, jar, "c", 177, 10)
		if got := sent(t, jar, root); len(got) != 180 || !slices.Contains(got, "brief") || slices.Contains(got, "back") {
			t.Fatalf("%d cookies, of 180: %v", len(got), got)
		}
		time.Sleep(11 * time.Second)
		many(t, jar, "d", 2, 10)
		got := sent(t, jar, root)
		if len(got) != 180 || !slices.Contains(got, "first") || slices.Contains(got, "brief") || slices.Contains(got, "dated") {
			t.Errorf("%d cookies, of 180: %v", len(got), got)
		}
	})
}

// One name under two paths is two cookies, and the right one goes.
func TestCookiesOfTwoPaths(t *testing.T) {
	jar := loopback.NewJar()
	set(t, jar, root+"a/login", "sid=a") // for /a
	set(t, jar, root+"b/login", "sid=b; Path=/b")
	set(t, jar, root+"login", "sid=root")
	set(t, jar, root, "away=1; Domain=example.com")
	set(t, jar, root, "dotted=1; Domain=.127.0.0.1")
	set(t, jar, root, "own=1; Domain=127.0.0.1")
	for at, want := range map[string]string{"a/x": "sid sid own", "b": "sid sid own", "": "sid own"} {
		if got := strings.Join(sent(t, jar, root+at), " "); got != want {
			t.Errorf("/%s gets %q, want %q", at, got, want)
		}
	}
	many(t, jar, "c", 177, 10)
	for at, want := range map[string]int{"a/x": 179, "b": 180, "": 179} {
		if got := len(sent(t, jar, root+at)); got != want {
			t.Errorf("after the oldest went, /%s gets %d cookies, want %d", at, got, want)
		}
	}
}

// localhost may name itself, with and without a dot; and a cookie for ever lasts.
func TestCookiesOfLocalhost(t *testing.T) {
	const at = "http://localhost:3000/"
	jar := loopback.NewJar()
	set(t, jar, at, "plain=1; Domain=localhost")
	set(t, jar, at, "dotted=1; Domain=.LocalHost")
	set(t, jar, at, "secure=1; Secure")
	set(t, jar, at, "ever=1; Max-Age=9999999999")
	if got := strings.Join(sent(t, jar, at), " "); got != "plain dotted secure ever" {
		t.Errorf("it gets %q", got)
	}
}
