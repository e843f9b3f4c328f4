package loopback

import "net/http"

// upstream is an http.RoundTripper that adds the app's cookies and reports refused
// connections.
type upstream struct {
	transport http.RoundTripper
	jar       http.CookieJar
	refused   func(error)
}

// RoundTrip sends a request with the jar's cookies and stores those of the response. A
// document's response gets standInsHeader. RoundTrip follows no redirects.
func (u *upstream) RoundTrip(req *http.Request) (*http.Response, error) {
	if cookies := u.jar.Cookies(req.URL); len(cookies) > 0 {
		req = req.Clone(req.Context())
		substitute(req.Header, cookies)
		for _, c := range cookies {
			req.AddCookie(c)
		}
	}
	resp, err := u.transport.RoundTrip(req)
	if err != nil {
		if refused(req.Context(), err) {
			u.refused(err)
		}
		return nil, err
	}
	if set := resp.Cookies(); len(set) > 0 {
		u.jar.SetCookies(req.URL, set)
	}
	resp.Header.Del(standInsHeader)
	if list := standIns(u.jar.Cookies(req.URL)); list != "" && isDocument(resp.Header) {
		resp.Header.Set(standInsHeader, list)
	}
	return resp, nil
}
