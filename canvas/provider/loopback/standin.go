package loopback

import (
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// standInsHeader carries the stand-ins of a document: "name=value; name=value".
const standInsHeader = "X-Ahp-Cookies"

// maxStandIns limits the size of that header.
const maxStandIns = 8

// doubleSubmit reports whether a page is meant to read a cookie and send its value back in
// a header, as proof that the request comes from the app's page: csrftoken, XSRF-TOKEN,
// _xsrf, CSRF-Token-ABCDE. Cookies do not leave the host, so the page gets a stand-in,
// which substitute replaces. Other cookies that pages read have a meaning, so they have
// no stand-ins.
func doubleSubmit(c *http.Cookie) bool {
	name := strings.ToLower(c.Name)
	return strings.Contains(name, "csrf") || strings.Contains(name, "xsrf")
}

// standIn returns the stand-in for a cookie's value, without its end. It is not secret,
// because it is replaced only in requests to the page's app. Its end shows whether the
// page decodes percent-encoding before it sends the value, as many do.
func standIn(name string) string {
	sum := sha256.Sum256([]byte("ahp-canvas " + name))
	return hex.EncodeToString(sum[:16])
}

const encodedEnd, decodedEnd = "%2E", "."

// standIns returns the value of standInsHeader for some cookies.
func standIns(cookies []*http.Cookie) string {
	var list []string
	for _, c := range cookies {
		if doubleSubmit(c) && len(list) < maxStandIns {
			list = append(list, c.Name+"="+standIn(c.Name)+encodedEnd)
		}
	}
	return strings.Join(list, "; ")
}

// substitute replaces stand-ins in a request's headers by the cookies' values.
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

// unescaped decodes percent-encoding, unless the result cannot be a header's value.
func unescaped(value string) string {
	plain, err := url.PathUnescape(value)
	if err != nil || strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r > '~' }) {
		return value
	}
	return plain
}

// isDocument reports whether a browser would show a response as a page.
func isDocument(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind == "text/html" || kind == "application/xhtml+xml"
}
