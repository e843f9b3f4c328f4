package loopback

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// The scripts of an app's pages use document.cookie. The page that shows the canvas gives
// them the cookies that are not HttpOnly with each response, and writes theirs with a
// request to cookiesPath, which the app never sees.
const (
	// cookiesHeader carries what document.cookie is: "name=value; name=value".
	cookiesHeader = "X-Ahp-Cookies"
	// jarHeader says that requests of this browser have cookies, so that a page does not read
	// resources without them (canvas/bridge/PROTOCOL.md section 6).
	jarHeader   = "X-Ahp-Jar"
	cookiesPath = "/.ahp/cookies"

	maxDocumentCookies = 4096 // bytes of cookiesHeader
	maxWrite           = maxCookieBytes + 2048
)

// documentCookies returns what scripts of a document read in document.cookie: as many whole
// cookies as fit.
func (j *jar) documentCookies(u *url.URL) string {
	var list []string
	size := 0
	for _, c := range j.Cookies(u) {
		pair := c.Name + "=" + c.Value
		if size += len(pair) + 2; size > maxDocumentCookies {
			break
		}
		if !j.hidden(c.Name) && !strings.ContainsFunc(pair, func(r rune) bool { return r < ' ' || r > '~' }) {
			list = append(list, pair)
		}
	}
	return strings.Join(list, "; ")
}

// write sets a cookie as a script does. A script cannot set or replace an HttpOnly one.
func (j *jar) write(u *url.URL, line string) {
	c, err := http.ParseSetCookie(line)
	if err == nil && !c.HttpOnly && !j.hidden(c.Name) {
		j.SetCookies(u, []*http.Cookie{c})
	}
}

// serveCookies answers a request to cookiesPath: a POST sets the cookie in its body, and the
// answer is document.cookie. at in the query is the document's path.
func (j *jar) serveCookies(req *http.Request) (*http.Response, error) {
	at := *req.URL
	at.Path, at.RawPath, at.RawQuery = "/", "", ""
	if p := req.URL.Query().Get("at"); strings.HasPrefix(p, "/") {
		at.Path = p
	}
	if req.Body != nil {
		defer req.Body.Close()
	}
	if req.Method == http.MethodPost && req.Body != nil {
		line, err := io.ReadAll(io.LimitReader(req.Body, maxWrite+1))
		if err != nil {
			return nil, err
		}
		if len(line) <= maxWrite {
			j.write(&at, string(line))
		}
	}
	text := j.documentCookies(&at)
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, ContentLength: int64(len(text)),
		Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}, jarHeader: {"1"}},
		Body:   io.NopCloser(bytes.NewReader([]byte(text))),
	}, nil
}

// isDocument reports whether a browser would show a response as a page.
func isDocument(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind == "text/html" || kind == "application/xhtml+xml"
}
