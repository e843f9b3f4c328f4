package local

import (
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/standalone"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// ServeHTTP answers requests of the canvas's page, and of people who open it.
func (p *panel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.SetCanvasHeaders(w)
	if status, text := p.refuse(r); status != 0 {
		standalone.Fail(w, r, status, text)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/.ahp/"); ok {
		p.serveScript(w, r, name)
		return
	}
	st, l := p.current()
	switch {
	case l != nil:
		p.forward(w, r, l)
	case bridged(st):
		standalone.Fail(w, r, http.StatusServiceUnavailable, "This canvas's provider or host is not reachable. Reload the page when it is back.")
	default:
		p.read(w, r)
	}
}

// refuse returns an error status for a request to another host name, or from another
// origin.
func (p *panel) refuse(r *http.Request) (status int, text string) {
	if r.Host != p.host {
		return http.StatusMisdirectedRequest, "This port serves a canvas only under the name " + p.host + "."
	}
	return standalone.Refuse(r, "http://"+p.host)
}

// serveScript answers below /.ahp/: our scripts, and the messages of pages.
func (p *panel) serveScript(w http.ResponseWriter, r *http.Request, name string) {
	if p.views.Serve(w, r, name) {
		return
	}
	body := standalone.Script(name)
	if body == nil {
		standalone.Fail(w, r, http.StatusNotFound, "This canvas has no such file.")
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(body)
}

// forward sends a request over http/1.
func (p *panel) forward(w http.ResponseWriter, r *http.Request, l *bridgeConn) {
	proxy := &httputil.ReverseProxy{
		Transport:     l,
		FlushInterval: -1, // event streams must not be buffered
		Rewrite: func(out *httputil.ProxyRequest) {
			out.Out.URL.Scheme, out.Out.URL.Host = "http", p.host
			out.Out.Header.Del("Cookie") // the host has the app's cookies
		},
		ModifyResponse: func(res *http.Response) error {
			policy := header{}
			web.SetCanvasHeaders(policy)
			for name, values := range policy.Header() {
				w.Header().Del(name) // already set for our own failures
				res.Header[name] = append(values, res.Header.Values(name)...)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if e, ok := errors.AsType[*bridge.Error](err); ok {
				standalone.Fail(w, r, e.Status, e.Message)
				return
			}
			standalone.Fail(w, r, http.StatusBadGateway, "The connection to this canvas was lost.")
		},
	}
	proxy.ServeHTTP(w, r)
}

// header is a ResponseWriter that only collects headers.
type header http.Header

func (h header) Header() http.Header       { return http.Header(h) }
func (header) Write(b []byte) (int, error) { return len(b), nil }
func (header) WriteHeader(int)             {}

// read serves content of a canvas without a server.
func (p *panel) read(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		standalone.Fail(w, r, http.StatusNotImplemented, "This canvas has no server, so it can only serve files.")
		return
	}
	params := canvas.CanvasReadResourceParams{Channel: p.channel, URI: canvas.ContentPath{}.URI(p.instanceID) + r.URL.EscapedPath()}
	if have := r.Header.Get("If-None-Match"); have != "" {
		params.Meta = map[string]ahp.Value{canvas.MetaETag: ahp.MustMarshal(have)}
	}
	got, err := client.Call(r.Context(), p.client, canvas.CanvasReadResource, params)
	if err != nil {
		p.readFailed(w, r, err)
		return
	}
	body, kind, err := content(got)
	if err != nil {
		standalone.Fail(w, r, http.StatusBadGateway, "The host sent an invalid answer.")
		return
	}
	w.Header().Set("Cache-Control", "no-cache") // revalidate with the ETag
	var etag string
	if raw, ok := got.Meta[canvas.MetaETag]; ok && ahp.Unmarshal(raw, &etag) == nil && etag != "" {
		w.Header().Set("ETag", etag)
	}
	if len(got.Contents) == 0 {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if strings.HasPrefix(kind, "text/html") {
		body = standalone.WithScript(body)
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // fails only if the client disconnected
}

func (p *panel) readFailed(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, ahp.ErrNotFound):
		standalone.Fail(w, r, http.StatusNotFound, "This canvas has no such file.")
	case errors.Is(err, context.Canceled):
	case p.client.Err() != nil:
		standalone.Fail(w, r, http.StatusServiceUnavailable, "The host is not reachable. Reload the page in a moment.")
	default:
		standalone.Fail(w, r, http.StatusBadGateway, "This file could not be read. Either the canvas's provider is not running, or it failed.")
	}
}
