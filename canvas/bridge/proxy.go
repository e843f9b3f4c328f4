package bridge

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ProxyOptions configures a Proxy. Origin, RoundTripper and Fail are required.
type ProxyOptions struct {
	// Origin is the app's origin, as in [Options].
	Origin string
	// RoundTripper sends requests to the app, as in [Options]. For WebSockets its
	// responses must have a body that can be written, as those of http.Transport.
	RoundTripper http.RoundTripper
	// Fail answers a request that failed before its response began.
	Fail func(w http.ResponseWriter, r *http.Request, err *Error)
	// HeadTimeout is how long an app can take for the head of its response, from the end
	// of the request's body; 0 means 30 s. Event streams and upgrades have no limit.
	HeadTimeout time.Duration
}

// Proxy passes plain HTTP requests of a canvas's page to its app, under the rules that
// PROTOCOL.md has for http/1: the app sees its own Host, Origin and Referer, no cookies but
// those of the RoundTripper, and redirects stay within its origin. Bodies, event streams
// and upgraded connections are passed on as they arrive.
func Proxy(opts ProxyOptions) (http.Handler, error) {
	origin, err := url.Parse(opts.Origin)
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return nil, fmt.Errorf("bridge: ProxyOptions.Origin %q is not an http or https URL", opts.Origin)
	}
	if opts.HeadTimeout == 0 {
		opts.HeadTimeout = 30 * time.Second
	}
	return &proxy{opts: opts, inner: &httputil.ReverseProxy{
		Transport:     opts.RoundTripper,
		FlushInterval: -1, // event streams must not be buffered
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = origin.Scheme, origin.Host, origin.Host
			r.Out.Header = proxied(r.Out, origin)
		},
		ModifyResponse: func(resp *http.Response) error {
			if stop, ok := resp.Request.Context().Value(headTimer{}).(func() bool); ok {
				stop()
			}
			for _, name := range notToPage {
				if name != "content-encoding" { // the browser decodes it
					resp.Header.Del(name)
				}
			}
			if err := relocate(resp.StatusCode, resp.Header, resp.Request.URL); err != nil {
				return err
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if cause := context.Cause(r.Context()); cause != nil {
				err = cause
			}
			opts.Fail(w, r, describe(err))
		},
	}}, nil
}

// headTimer is the key of the function that stops the timer of a response's head.
type headTimer struct{}

type proxy struct {
	opts  ProxyOptions
	inner *httputil.ReverseProxy
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if slices.Contains([]string{http.MethodConnect, http.MethodTrace, "TRACK"}, r.Method) {
		p.opts.Fail(w, r, errMethod)
		return
	}
	upgrade := r.Header.Get("Upgrade") != ""
	if !upgrade && (r.Body == nil || r.Body == http.NoBody) && !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		timer := time.AfterFunc(p.opts.HeadTimeout, func() {
			cancel(&Error{http.StatusGatewayTimeout, CodeTimeout, "the app did not answer within " + p.opts.HeadTimeout.String()})
		})
		defer timer.Stop()
		r = r.WithContext(context.WithValue(ctx, headTimer{}, timer.Stop))
	}
	p.inner.ServeHTTP(w, r)
}

// proxied returns the app's headers for a request. Unlike toApp, it leaves the codings that
// the page accepts: the browser decodes the response.
func proxied(r *http.Request, origin *url.URL) http.Header {
	h := make(http.Header, len(r.Header)+1)
	upgrade := r.Header.Get("Upgrade") != ""
	for name, values := range r.Header {
		if n := strings.ToLower(name); n == "accept-encoding" || !slices.Contains(notToApp, n) {
			h[name] = slices.Clone(values)
		}
	}
	if upgrade || r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Origin", origin.Scheme+"://"+origin.Host)
	}
	h.Set("Sec-Fetch-Site", "same-origin")
	if len(h["User-Agent"]) == 0 {
		h["User-Agent"] = nil // do not send that of Go's client
	}
	return h
}
