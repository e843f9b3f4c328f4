package local

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// ServeHTTP answers a request of the canvas's page, or of who looks at it.
func (p *panel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.SetCanvasHeaders(w)
	if status, word := p.foreign(r); status != 0 {
		words(w, r, status, word)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/.ahp/"); ok {
		p.serveOwn(w, r, name)
		return
	}
	st, l := p.current()
	switch {
	case l != nil:
		p.forward(w, r, l)
	case bridged(st):
		words(w, r, http.StatusServiceUnavailable, "This canvas has lost its provider or its host. Load it again when it is back.")
	default:
		p.read(w, r)
	}
}

// foreign says why a request is not one of this canvas's own page, nor a person
// who opens it.
func (p *panel) foreign(r *http.Request) (status int, word string) {
	if r.Host != p.host {
		return http.StatusMisdirectedRequest, "This is the port of a canvas. It has no other name than " + p.host + "."
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+p.host {
		return http.StatusForbidden, "Another page may show this canvas, and nothing else."
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin" || site == "none":
	case r.Header.Get("Sec-Fetch-Mode") == "navigate" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
	default:
		return http.StatusForbidden, "Another page may show this canvas, and nothing else."
	}
	return 0, ""
}

// forward sends a request over the bridge.
func (p *panel) forward(w http.ResponseWriter, r *http.Request, l *lane) {
	proxy := &httputil.ReverseProxy{
		Transport:     l,
		FlushInterval: -1, // an event stream is passed on as it comes
		Rewrite: func(out *httputil.ProxyRequest) {
			out.Out.URL.Scheme, out.Out.URL.Host = "http", p.host
			out.Out.Header.Del("Cookie") // the app's cookies are the host's business
		},
		ModifyResponse: func(res *http.Response) error {
			policy := header{}
			web.SetCanvasHeaders(policy)
			for name, values := range policy.Header() {
				w.Header().Del(name) // it was set for words of our own
				res.Header[name] = append(values, res.Header.Values(name)...)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if e, ok := errors.AsType[*bridge.Error](err); ok {
				words(w, r, e.Status, e.Message)
				return
			}
			words(w, r, http.StatusBadGateway, "The connection to this canvas was lost.")
		},
	}
	proxy.ServeHTTP(w, r)
}

// header is a ResponseWriter that has nothing but headers.
type header http.Header

func (h header) Header() http.Header       { return http.Header(h) }
func (header) Write(b []byte) (int, error) { return len(b), nil }
func (header) WriteHeader(int)             {}

// read serves content that has no HTTP behind it.
func (p *panel) read(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		words(w, r, http.StatusNotImplemented, "This canvas can only be read. It has no server that could answer this request.")
		return
	}
	params := canvas.CanvasReadResourceParams{Channel: p.channel, URI: ahp.SchemeContent + ":/" + p.instanceID + r.URL.EscapedPath()}
	if have := r.Header.Get("If-None-Match"); have != "" {
		params.Meta = map[string]ahp.Value{canvas.MetaETag: ahp.MustMarshal(have)}
	}
	got, err := client.Call(r.Context(), p.client, canvas.CanvasReadResource, params)
	if err != nil {
		p.unread(w, r, err)
		return
	}
	body, kind, err := content(got)
	if err != nil {
		words(w, r, http.StatusBadGateway, "The host's answer cannot be read.")
		return
	}
	w.Header().Set("Cache-Control", "no-cache") // ask again, with the validator
	var etag string
	if raw, ok := got.Meta[canvas.MetaETag]; ok && ahp.Unmarshal(raw, &etag) == nil && etag != "" {
		w.Header().Set("ETag", etag)
	}
	if len(got.Contents) == 0 {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if strings.HasPrefix(kind, "text/html") {
		body = withScript(body)
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // the reader went away: nobody is left to tell
}

func (p *panel) unread(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, ahp.ErrNotFound):
		words(w, r, http.StatusNotFound, "This canvas has nothing at this address.")
	case errors.Is(err, context.Canceled):
	case p.client.Err() != nil:
		words(w, r, http.StatusServiceUnavailable, "The host is not there now. Load this again in a moment.")
	default:
		words(w, r, http.StatusBadGateway, "This could not be read: the canvas's provider is not there, or failed.")
	}
}

// words are a failure for people: a page where one is asked for.
func words(w http.ResponseWriter, r *http.Request, status int, word string) {
	w.Header().Set("Cache-Control", "no-store")
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintln(w, word)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><title>%d</title>
<style>:root{color-scheme:light dark}html{height:100%%;font:1rem/1.5 system-ui,sans-serif}
body{margin:0;min-height:100%%;display:grid;place-content:center;padding:2rem;box-sizing:border-box;text-align:center}
p{margin:0;max-width:34ch;text-wrap:balance}small{display:block;margin-block-start:.5rem;opacity:.7}</style>
<p>%s</p><small>Status %d</small>`, status, html.EscapeString(word), status)
}
