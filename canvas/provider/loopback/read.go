package loopback

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
)

// errElsewhere ends a read at a redirect to another origin.
var errElsewhere = errors.New("loopback: the app redirects to another origin")

// insideOrigin rejects redirects to other origins.
func (a *App) insideOrigin(req *http.Request, via []*http.Request) error {
	if req.URL.Scheme != a.at.origin.Scheme || req.URL.Host != a.at.origin.Host || req.URL.User != nil || len(via) >= 10 {
		return errElsewhere
	}
	return nil
}

// Read gets one resource (canvas/PROTOCOL.md section 6). It returns fs.ErrNotExist for a
// status other than 2xx, a redirect to another origin or an event stream, and
// canvas_provider_unavailable if the app refuses the connection.
func (a *App) Read(ctx context.Context, r canvas.ReadRequest) (canvas.Content, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.at.origin.String()+r.Path.String(), nil)
	if err != nil {
		return canvas.Content{}, fs.ErrNotExist
	}
	req.Header = http.Header{
		"Accept": {"*/*"}, "Accept-Encoding": {"identity"}, "Sec-Fetch-Site": {"same-origin"}, "User-Agent": nil,
	}
	setValidator(req.Header, r.ETag)
	resp, err := a.reads.Do(req)
	if err != nil {
		return canvas.Content{}, a.readError(ctx, err)
	}
	defer resp.Body.Close()
	return a.content(r, resp)
}

// readError returns an error without the url, which the text of err contains.
func (a *App) readError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errElsewhere):
		return fs.ErrNotExist
	case a.ctx.Err() != nil, refused(ctx, err):
		return errUnavailable
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return errors.New("loopback: the app's response could not be read")
}

var errUnavailable = canvas.Errorf(canvas.CodeProviderUnavailable, "the app behind this canvas does not accept connections")

func (a *App) content(r canvas.ReadRequest, resp *http.Response) (canvas.Content, error) {
	if resp.StatusCode == http.StatusNotModified && r.ETag != "" {
		return canvas.Content{ETag: r.ETag, NotModified: true}, nil
	}
	kind := resp.Header.Get("Content-Type")
	if resp.StatusCode < 200 || resp.StatusCode > 299 || strings.HasPrefix(strings.ToLower(kind), "text/event-stream") {
		return canvas.Content{}, fs.ErrNotExist
	}
	data, err := a.readAll(resp)
	if err != nil {
		return canvas.Content{}, err
	}
	c := canvas.Content{Data: data, ContentType: kind, ETag: validator(resp.Header, data), Path: a.found(r.Path, resp.Request.URL)}
	if c.ETag == r.ETag {
		return canvas.Content{ETag: c.ETag, NotModified: true}, nil
	}
	return c, nil
}

// readAll reads a body of at most ReadBytes.
func (a *App) readAll(resp *http.Response) ([]byte, error) {
	body, err := bridge.Decoded(resp)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	data, err := io.ReadAll(io.LimitReader(body, a.opts.ReadBytes+1))
	switch {
	case int64(len(data)) > a.opts.ReadBytes:
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "the resource has more than %d bytes", a.opts.ReadBytes)
	case err != nil && resp.Request.Context().Err() != nil:
		return nil, resp.Request.Context().Err()
	case err != nil:
		return nil, errors.New("loopback: the app's response is incomplete")
	}
	return data, nil
}

// found returns the path to which redirects led; the zero value means the requested one.
func (a *App) found(asked canvas.ContentPath, at *url.URL) canvas.ContentPath {
	p, err := canvas.ParseContentPath(at.RequestURI())
	if err != nil || p.String() == asked.String() {
		return canvas.ContentPath{}
	}
	return p
}

// The first letter of a validator: an ETag or a time of the app, or a hash.
const (
	byTag  = "e"
	byTime = "m"
	byHash = "h"
)

// setValidator makes a request conditional.
func setValidator(h http.Header, etag string) {
	if tag, ok := strings.CutPrefix(etag, byTag); ok {
		h.Set("If-None-Match", tag)
	}
	if when, ok := strings.CutPrefix(etag, byTime); ok {
		h.Set("If-Modified-Since", when)
	}
}

func validator(h http.Header, data []byte) string {
	if tag := h.Get("ETag"); tag != "" {
		return byTag + tag
	}
	if when := h.Get("Last-Modified"); when != "" {
		return byTime + when
	}
	return byHash + canvas.HashETag(data)
}
