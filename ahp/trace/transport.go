package trace

import (
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport returns an http.RoundTripper that records each exchange as a span, from the
// request to the end of the response's body, and names the span in the request's
// traceparent header. The parent is the span of the request's context, or the one in that
// header. A nil Tracer returns next.
func (t *Tracer) Transport(next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return &transport{t, next}
}

type transport struct {
	tracer *Tracer
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if Header(ctx) == "" {
		if parent, ok := Parse(req.Header.Get("Traceparent")); ok {
			ctx = With(ctx, parent)
		}
	}
	ctx, span := t.tracer.Start(ctx, "http exchange")
	if span == nil { // the caller records nothing
		return t.next.RoundTrip(req)
	}
	span.Set("http.request.method", method(req.Method))
	req = req.Clone(ctx)
	req.Header.Set("Traceparent", Header(ctx))
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		span.End("failed")
		return nil, err
	}
	span.Set("http.response.status_code", strconv.Itoa(resp.StatusCode))
	code := ""
	if resp.StatusCode >= 500 {
		code = strconv.Itoa(resp.StatusCode)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols || resp.Body == nil {
		span.End(code) // the body of an upgrade is also a writer
		return resp, nil
	}
	resp.Body = &body{ReadCloser: resp.Body, end: sync.OnceFunc(func() { span.End(code) })}
	return resp, nil
}

// method keeps a page from choosing what a span says.
func method(name string) string {
	switch name {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return name
	}
	return "_OTHER"
}

// body ends a span when it was read or given up.
type body struct {
	io.ReadCloser
	end func()
}

// Read reads from the response.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
}

// Close closes the response.
func (b *body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
