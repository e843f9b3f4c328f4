package loopback

import (
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// standInsHeader is how a document hears of its stand-ins: "name=value; name=value".
const standInsHeader = "X-Ahp-Cookies"

// maxStandIns keeps that header small.
const maxStandIns = 8

// doubleSubmit reports whether an app means its page to read a cookie and to send
// its value back in a header, as proof that the request is of its own page: csrftoken,
// XSRF-TOKEN, _xsrf, CSRF-Token-ABCDE. No cookie leaves the host, so the page gets a
// stand-in, and the cookie takes its place on the way back. Only these: other
// cookies that pages read mean something.
func doubleSubmit(c *http.Cookie) bool {
	name := strings.ToLower(c.Name)
	return strings.Contains(name, "csrf") || strings.Contains(name, "xsrf")
}

// standIn is what a page has for a cookie's value. It is no secret: it stands for a
// cookie of the same name only on the way to the page's own app. Its end tells
// whether the page undoes percent-encoding, as many do, before it sends the value.
func standIn(name string) string {
	sum := sha256.Sum256([]byte("ahp-canvas " + name))
	return hex.EncodeToString(sum[:16])
}

const encodedEnd, decodedEnd = "%2E", "."

// standIns names the stand-ins for those of the cookies that have one.
func standIns(cookies []*http.Cookie) string {
	var list []string
	for _, c := range cookies {
		if doubleSubmit(c) && len(list) < maxStandIns {
			list = append(list, c.Name+"="+standIn(c.Name)+encodedEnd)
		}
	}
	return strings.Join(list, "; ")
}

// substitute puts the cookies into a request's headers, where their stand-ins are.
func substitute(h http.Header, cookies []*http.Cookie) {
	var pairs []string
	for _, c := range cookies {
		if doubleSubmit(c) {
			pairs = append(pairs, standIn(c.Name)+encodedEnd, c.Value, standIn(c.Name)+decodedEnd, unescaped(c.Value))
		}
	}
	if pairs == nil {
		return
	}
	r := strings.NewReplacer(pairs...)
	for _, values := range h {
		for i, v := range values {
			values[i] = r.Replace(v)
		}
	}
}

// unescaped undoes percent-encoding, where what comes out can be a header's value.
func unescaped(value string) string {
	plain, err := url.PathUnescape(value)
	if err != nil || strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r > '~' }) {
		return value
	}
	return plain
}

// isDocument reports whether a browser would show an answer as a page.
func isDocument(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind == "text/html" || kind == "application/xhtml+xml"
}
