package loopback

import "net/http"

// upstream is an http.RoundTripper that adds the app's cookies and reports refused
// connections.
type upstream struct {
	transport http.RoundTripper
	jars      *Jars
	refused   func(error)
}

// RoundTrip sends a request with the cookies of its browser's jar and stores those of the
// response. It follows no redirects.
func (u *upstream) RoundTrip(req *http.Request) (*http.Response, error) {
	jar := u.jars.of(browserOf(req.Context()))
	if jar != nil && req.URL.Path == cookiesPath {
		return jar.serveCookies(req)
	}
	if jar != nil {
		if cookies := jar.Cookies(req.URL); len(cookies) > 0 {
			req = req.Clone(req.Context())
			for _, c := range cookies {
				req.AddCookie(c)
			}
		}
	}
	resp, err := u.transport.RoundTrip(req)
	if err != nil {
		if refused(req.Context(), err) {
			u.refused(err)
		}
		return nil, err
	}
	u.receive(req, resp, jar)
	return resp, nil
}

// receive stores a response's cookies, and tells the page about them.
func (u *upstream) receive(req *http.Request, resp *http.Response, jar *jar) {
	resp.Header.Del(cookiesHeader)
	resp.Header.Del(jarHeader)
	if jar == nil {
		return
	}
	set := resp.Cookies()
	if len(set) > 0 {
		jar.SetCookies(req.URL, set)
	}
	if u.jars.shared == nil && !jar.empty() {
		resp.Header.Set(jarHeader, "1")
	}
	if len(set) > 0 || isDocument(resp.Header) {
		if text := jar.documentCookies(req.URL); text != "" || len(set) > 0 {
			resp.Header.Set(cookiesHeader, text)
		}
	}
}
