package loopback

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
)

// errElsewhere stops at a redirect to another origin.
var errElsewhere = errors.New("loopback: the app redirects to another origin")

// insideOrigin is when a redirect of a read is followed.
func (a *App) insideOrigin(req *http.Request, via []*http.Request) error {
	if req.URL.Scheme != a.at.origin.Scheme || req.URL.Host != a.at.origin.Host || req.URL.User != nil || len(via) >= 10 {
		return errElsewhere
	}
	return nil
}

// Read gets one resource (canvas/PROTOCOL.md section 6). A status of 400 or more, a
// redirect to another origin and an event stream are fs.ErrNotExist; an app that
// is not there is canvas_provider_unavailable.
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
	ask(req.Header, r.ETag)
	resp, err := a.reads.Do(req)
	if err != nil {
		return canvas.Content{}, a.readError(ctx, err)
	}
	defer resp.Body.Close()
	return a.content(r, resp)
}

// readError says why there is no answer. The error's own text holds the url.
func (a *App) readError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errElsewhere):
		return fs.ErrNotExist
	case a.ctx.Err() != nil, refused(ctx, err):
		return errUnavailable
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return errors.New("loopback: the app's answer could not be read")
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

// readAll reads a body of at most the limit.
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
		return nil, errors.New("loopback: the app's answer broke off")
	}
	return data, nil
}

// found is where redirects led to; the zero value is where it was asked for.
func (a *App) found(asked canvas.ContentPath, at *url.URL) canvas.ContentPath {
	p, err := canvas.ParseContentPath(at.RequestURI())
	if err != nil || p.String() == asked.String() {
		return canvas.ContentPath{}
	}
	return p
}

// Validators are the app's own, or a hash where it has none; a letter says which.
const (
	byTag  = "e"
	byTime = "m"
	byHash = "h"
)

// ask puts a validator into a request.
func ask(h http.Header, etag string) {
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
	sum := sha256.Sum256(data)
	return byHash + base64.RawURLEncoding.EncodeToString(sum[:12])
}
