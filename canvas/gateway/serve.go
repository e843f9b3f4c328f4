package gateway

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/standalone"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// Files serves files of the page's frames on the hosts of canvases.
type Files interface {
	// ServeFrameFile serves the file of a path, and reports whether there is one.
	ServeFrameFile(w http.ResponseWriter, r *http.Request) bool
}

const (
	// secretParam is the member of the query that holds the secret.
	secretParam = "~t"
	// cookieName begins the name of both cookies. Browsers lower the names of host-only storage
	// in places, so it has no upper-case letter.
	cookieName = "ahp-canvas-gateway"
)

// Texts for people.
const (
	textClosed     = "This address is no longer valid. Open the canvas again where you found it."
	textNoSecret   = "This address needs the link that opened the canvas. Open the canvas again where you found it, with cookies allowed for it."
	textWrong      = "The secret of this address is wrong or no longer valid. Open the canvas again where you found it."
	textStale      = "This canvas's provider is not reachable. Reload the page when it is back."
	textBusy       = "This canvas has too many requests at the same time."
	textNoFile     = "This canvas has no such file."
	textFiles      = "This canvas has no server, so it can only serve files."
	textSockets    = "WebSockets cannot reach this canvas's provider, which answers HTTP over its connection to the host. An app that needs them has to run on the host's machine."
	textNoWorker   = "A canvas cannot have a worker that outlives its page."
	textUnreadable = "This file could not be read. Either the canvas's provider is not running, or it failed."
)

// ServeHTTP answers the requests to hosts for which Serves is true.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		web.SetCanvasHeaders(w)
		standalone.Fail(w, r, http.StatusServiceUnavailable, "The host is shutting down.")
		return
	}
	defer g.serving.Done()
	out := newResponder(w, r)
	p, ours := g.find(strings.ToLower(r.Host))
	if p != nil {
		out.framed = p.framed
		if g.opts.Allowed != nil {
			out.allowed = g.opts.Allowed(p.channel.uri)
		}
	}
	switch {
	case !ours:
		standalone.Fail(out, r, http.StatusMisdirectedRequest, "The host serves no canvas under this name.")
	case g.serveClearing(out, r):
	case p == nil:
		standalone.Fail(out, r, http.StatusUnauthorized, textClosed)
	case p.channel.life.Err() != nil:
		g.serveEnded(out, r, p)
	default:
		g.admit(out, r, p)
	}
	out.finish()
}

// serveClearing serves the document with which a page clears what an origin stored, also one
// that is not used again. Only who knows the label reaches it.
func (g *Gateway) serveClearing(w *responder, r *http.Request) bool {
	switch r.URL.Path {
	case "/.ahp/clear.html", "/.ahp/clear.js":
		w.wrote = g.opts.Files != nil && g.opts.Files.ServeFrameFile(w.to, r)
	}
	return w.wrote
}

// enter counts a request for Close.
func (g *Gateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.serving.Add(1)
	return true
}

// serveEnded answers on the address of a canvas that was closed or became stale. An origin
// that is never used again clears what the browser keeps of it.
func (g *Gateway) serveEnded(w http.ResponseWriter, r *http.Request, p *place) {
	if p.lasting && g.opts.Exists(p.channel.uri) {
		retryStream(r)
		standalone.Fail(w, r, http.StatusServiceUnavailable, textStale)
		return
	}
	data := `"storage"`
	if strings.HasSuffix((&url.URL{Host: p.host}).Hostname(), ".localhost") {
		data += `, "cookies"` // below a domain, all canvases would lose theirs
	}
	w.Header().Set("Clear-Site-Data", data)
	standalone.Fail(w, r, http.StatusUnauthorized, textClosed)
}

// admit checks who sends a request, and serves it.
func (g *Gateway) admit(w *responder, r *http.Request, p *place) {
	if status, text := standalone.Refuse(r, p.origin()); status != 0 {
		standalone.Fail(w, r, status, text)
		return
	}
	if r.Header.Get("Service-Worker") != "" || r.Header.Get("Sec-Fetch-Dest") == "sharedworker" {
		standalone.Fail(w, r, http.StatusNotFound, textNoWorker)
		return
	}
	if given, rest, has := cutSecret(r.URL.RawQuery); has {
		g.redeem(w, r, p, given, rest)
		return
	}
	if !p.knows(r) {
		if p.framed {
			retryStream(r) // its page fetches a new cookie when the canvas is opened again
		}
		standalone.Fail(w, r, http.StatusUnauthorized, textNoSecret)
		return
	}
	if !web.Proven(r) {
		web.TooMany(w, r)
		return
	}
	g.serveLimited(w, r, p)
}

// serveLimited serves a request that may see the canvas, if it is not one of too many. The request
// ends with the canvas.
func (g *Gateway) serveLimited(w *responder, r *http.Request, p *place) {
	select {
	case p.channel.requests <- struct{}{}:
		defer func() { <-p.channel.requests }()
	default:
		standalone.Fail(w, r, http.StatusServiceUnavailable, textBusy)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.channel.life, cancel)()
	defer context.AfterFunc(g.ctx, cancel)()
	r = r.WithContext(ctx)
	r.Header = withoutCookie(r.Header)
	g.serve(w, r, p)
}

// retryStream breaks the connection of an event stream: a browser opens the stream again,
// and closes it for good after any answer that is an error.
func retryStream(r *http.Request) {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		panic(http.ErrAbortHandler)
	}
}

// knows reports whether a request has the cookie of a place.
func (p *place) knows(r *http.Request) bool {
	for _, c := range r.CookiesNamed(p.cookieName()) {
		if same(c.Value, p.cookie) {
			return true
		}
	}
	return false
}

// cookieName returns the name of the place's cookies. A browser sends those of an address
// without a label to all ports of it, so they have the port in their name.
func (p *place) cookieName() string {
	if p.label != "" {
		return cookieName
	}
	_, port, _ := net.SplitHostPort(p.host)
	return cookieName + "-" + port
}

// redeem exchanges the secret of an address for the cookies. A frame of another site has
// only the second one, and some clients keep only the first.
func (g *Gateway) redeem(w http.ResponseWriter, r *http.Request, p *place, given, rest string) {
	if !same(given, p.secret) || r.Method != http.MethodGet && r.Method != http.MethodHead {
		standalone.Fail(w, r, http.StatusUnauthorized, textWrong)
		return
	}
	cookie := p.cookieName() + "=" + p.cookie
	w.Header().Add("Set-Cookie", cookie+"; HttpOnly; Path=/; SameSite=Lax")
	w.Header().Add("Set-Cookie", cookie+"; HttpOnly; Path=/; SameSite=None; Secure; Partitioned")
	to := r.URL.EscapedPath()
	if strings.HasPrefix(to, "//") {
		to = "/." + to // "//" would begin a host name
	}
	if rest != "" {
		to += "?" + rest
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// cutSecret returns the secret in a query, and the query without it.
func cutSecret(query string) (given, rest string, has bool) {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil && plain == secretParam {
			given, has = value, true
			continue
		}
		kept = append(kept, part)
	}
	return given, strings.Join(kept, "&"), has
}

// withoutCookie returns headers without the gateway's cookies.
func withoutCookie(h http.Header) http.Header {
	list := h.Values("Cookie")
	if list == nil {
		return h
	}
	h = h.Clone()
	h.Del("Cookie")
	for _, line := range list {
		var kept []string
		for part := range strings.SplitSeq(line, ";") {
			part = strings.TrimSpace(part)
			if name, _, _ := strings.Cut(part, "="); part == "" || strings.HasPrefix(strings.ToLower(strings.TrimSpace(name)), cookieName) {
				continue
			}
			kept = append(kept, part)
		}
		if kept != nil {
			h.Add("Cookie", strings.Join(kept, "; "))
		}
	}
	return h
}

// serve answers a request that may see the canvas.
func (g *Gateway) serve(w *responder, r *http.Request, p *place) {
	in, ok := g.opts.Instance(p.channel.uri)
	if name, ours := strings.CutPrefix(r.URL.Path, "/.ahp/"); ours && (name != "cookies" || in.App == nil) {
		g.serveFile(w, r, p, name)
		return
	}
	switch {
	case !ok:
		standalone.Fail(w, r, http.StatusServiceUnavailable, textStale)
	case in.App != nil:
		w.insert = shimScript
		if isDocument(r) {
			r.Header.Set("Accept-Encoding", "identity") // a script is inserted
		}
		in.App.ServeApp(w, r.WithContext(canvas.WithBrowser(r.Context(), p.label)))
	case bridged(in.State):
		w.app = true
		if g.opts.Files != nil {
			w.insert = shimScript
		}
		g.forward(w, r, p.channel)
	default:
		if w.insert = localScript; p.framed {
			w.insert = shimScript
		}
		g.read(w, r, p.channel.uri)
	}
}

// isDocument reports whether a request loads a document into a window or a frame.
func isDocument(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "document", "iframe", "frame":
		return true
	case "":
		return strings.Contains(r.Header.Get("Accept"), "text/html") // of a browser without it
	}
	return false
}

// serveFile answers below /.ahp/, which is ours on each origin of a canvas.
func (g *Gateway) serveFile(w *responder, r *http.Request, p *place, name string) {
	if !p.framed && p.channel.views.Serve(w, r, name) {
		return
	}
	body := []byte(nil)
	if name == "canvas.js" && len(w.allowed.Origins) > 0 {
		body = web.AllowedScript(w.allowed)
		w.Header().Set("Cache-Control", "no-store") // the address can have another list after a restart
	} else if g.opts.Files != nil && g.opts.Files.ServeFrameFile(w.to, r) {
		w.wrote = true
		return
	} else {
		body = standalone.Script(name)
	}
	if body == nil {
		standalone.Fail(w, r, http.StatusNotFound, textNoFile)
		return
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(body) // fails only if the client disconnected
}
