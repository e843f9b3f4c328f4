package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
)

// Options are the addresses of the page.
type Options struct {
	// AppOrigins are the web origins of the page, such as http://localhost:8080;
	// their hosts are matched exactly. At least one is required.
	AppOrigins []string
	// ContentOrigin is the pattern of canvas origins, such as
	// https://*.canvas.example (with wildcard DNS and certificate). If it is empty,
	// an app origin on loopback uses http://*.localhost:PORT, and any other uses
	// single-document mode.
	ContentOrigin string
	// Allowed are the origins that canvases may load from besides their own. The page
	// gives a canvas a content host whose name begins with the label of its list.
	Allowed allow.Lists
	// App serves the other paths of app hosts, such as /ahp, /mcp and /healthz. It
	// sets its own headers. If it is nil, they are 404.
	App http.Handler
	// UnknownName is the text of the 421 response for any other name; a general one if
	// it is empty.
	UnknownName string
}

// Handler serves the page. It routes by the exact Host header: app hosts, content
// hosts, and 421 for any other name. It is safe for concurrent use.
type Handler struct {
	apps     map[string]map[string]*file // by host, then path
	contents []contentHosts
	app      http.Handler
	unknown  map[string]string // headers of a 421
	text     string            // of a 421
}

// contentHosts is a pattern of content origins with the files of its hosts.
type contentHosts struct {
	pattern pattern
	byLabel map[string]contentHost
	frames  map[string]*file // for canvases that are reached without a service worker
}

// contentHost is what the hosts with one label serve.
type contentHost struct {
	files  map[string]*file
	absent map[string]string // headers of a 404
}

// New returns a Handler. It fails for an invalid origin or pattern, and for a pattern
// that matches an app origin.
func New(opts Options) (*Handler, error) {
	if len(opts.AppOrigins) == 0 {
		return nil, errors.New("web: Options.AppOrigins is empty: give the page's origin, for example http://localhost:8080")
	}
	sites, err := sitesOf(opts)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	h := &Handler{apps: map[string]map[string]*file{}, app: opts.App, text: cmp.Or(opts.UnknownName, "the host does not serve this name")}
	if h.app == nil {
		absent := addresses{}.headers(appFile)
		h.app = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusNotFound, "page not found", absent)
		})
	}
	for _, s := range sites {
		h.apps[s.origin.host] = pageFiles(s.addresses, opts.Allowed)
		if s.addresses.content != "" {
			h.addContent(s, opts.Allowed)
		}
	}
	h.unknown = addresses{}.headers(outerFile)
	return h, nil
}

// site is an app origin with the addresses for its policies.
type site struct {
	origin    origin
	pattern   pattern
	addresses addresses
}

func sitesOf(opts Options) ([]site, error) {
	var sites []site
	for _, s := range opts.AppOrigins {
		o, err := parseOrigin(s)
		if err != nil {
			return nil, err
		}
		p, ok := o.content()
		if opts.ContentOrigin != "" {
			if p, err = parsePattern(opts.ContentOrigin); err != nil {
				return nil, err
			}
			ok = true
		}
		st := site{origin: o, pattern: p, addresses: addresses{sockets: o.socket()}}
		if ok {
			st.addresses.content = p.String()
		}
		sites = append(sites, st)
	}
	for i := range sites {
		for _, other := range sites {
			if other.pattern == sites[i].pattern {
				sites[i].addresses.app = append(sites[i].addresses.app, other.origin.String())
			}
			if _, ok := sites[i].pattern.match(other.origin.host); ok && sites[i].pattern.suffix != "" {
				return nil, fmt.Errorf("%q is an app origin and also matches the content origins: use another domain for one of them", other.origin.String())
			}
		}
	}
	return sites, nil
}

func (h *Handler) addContent(s site, lists allow.Lists) {
	if slices.ContainsFunc(h.contents, func(c contentHosts) bool { return c.pattern == s.pattern }) {
		return
	}
	c := contentHosts{s.pattern, map[string]contentHost{}, frameFiles(s.addresses)}
	for _, list := range append(lists.All(), allow.List{}) {
		a := s.addresses
		a.allowed = list
		c.byLabel[list.Label()] = contentHost{contentFiles(a), a.headers(answer)}
	}
	h.contents = append(h.contents, c)
}

// ServeHTTP routes by the request's Host. A client must read a file within 30 s;
// Options.App has no such limit.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = withBodyTimeout(w, r)
	setWriteTimeout(w, fileTimeout)
	host := strings.ToLower(r.Host)
	if files, ok := h.apps[host]; ok {
		if f, ok := files[r.URL.Path]; ok {
			f.serve(w, r)
			return
		}
		setWriteTimeout(w, 0)
		h.app.ServeHTTP(w, r)
		return
	}
	for _, c := range h.contents {
		label, _ := c.pattern.match(host)
		if at, ok := c.byLabel[label]; ok {
			at.serve(w, r)
			return
		}
	}
	refuse(w, http.StatusMisdirectedRequest, h.text, h.unknown)
}

// serve answers on a content host. Only sw.js can be loaded as a service worker, and only
// under one address and as nothing else: a second registration could control a later document.
// A shared worker could outlive its canvas.
func (c contentHost) serve(w http.ResponseWriter, r *http.Request) {
	f, ok := c.files[r.URL.Path]
	asWorker := r.Header.Get("Service-Worker") != ""
	if !ok || asWorker != (r.URL.Path == workerPath) || asWorker && r.URL.RequestURI() != workerPath || r.Header.Get("Sec-Fetch-Dest") == "sharedworker" {
		refuse(w, http.StatusNotFound, "page not found", c.absent)
		return
	}
	f.serve(w, r)
}

// workerPath is the only service worker of a content host.
const workerPath = "/.ahp/sw.js"

// ServeFrameFile serves a file of the page's frames below /.ahp/ on another host below a
// pattern of content origins, for canvases that are reached without a service worker. It
// reports whether there is such a file.
func (h *Handler) ServeFrameFile(w http.ResponseWriter, r *http.Request) bool {
	for _, c := range h.contents {
		if f := c.frames[r.URL.Path]; f != nil && strings.HasSuffix(strings.ToLower(r.Host), c.pattern.suffix) {
			f.serve(w, r)
			return true
		}
	}
	return false
}
