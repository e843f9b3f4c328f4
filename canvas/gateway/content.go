package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/standalone"
)

// read serves content of a canvas without a server.
func (g *Gateway) read(w http.ResponseWriter, r *http.Request, channel string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		standalone.Fail(w, r, http.StatusNotImplemented, textFiles)
		return
	}
	path, err := canvas.ParseContentPath(pathOf(r))
	if err != nil {
		standalone.Fail(w, r, http.StatusNotFound, textNoFile)
		return
	}
	select {
	case g.reads <- struct{}{}:
		defer func() { <-g.reads }()
	case <-r.Context().Done():
		return
	}
	etag, _ := base64.RawURLEncoding.DecodeString(strings.Trim(strings.TrimPrefix(r.Header.Get("If-None-Match"), "W/"), `"`))
	got, err := g.opts.Read(r.Context(), channel, canvas.ReadRequest{Path: path, ETag: string(etag)})
	switch {
	case errors.Is(err, context.Canceled):
	case errors.Is(err, ahp.ErrNotFound):
		standalone.Fail(w, r, http.StatusNotFound, textNoFile)
	case errors.Is(err, ErrUnreachable):
		standalone.Fail(w, r, http.StatusServiceUnavailable, textStale)
	case err != nil:
		standalone.Fail(w, r, http.StatusBadGateway, textUnreadable)
	default:
		writeContent(w, got)
	}
}

// writeContent answers with content. Browsers revalidate it with its ETag.
func writeContent(w http.ResponseWriter, got canvas.Content) {
	w.Header().Set("Cache-Control", "no-cache")
	if got.ETag != "" {
		w.Header().Set("ETag", `"`+base64.RawURLEncoding.EncodeToString([]byte(got.ETag))+`"`)
	}
	if got.NotModified {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", got.ContentType)
	_, _ = w.Write(got.Data) // fails only if the client disconnected
}

// pathOf returns path and query of a request.
func pathOf(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return r.URL.EscapedPath()
	}
	return r.URL.EscapedPath() + "?" + r.URL.RawQuery
}
