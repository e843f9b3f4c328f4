package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Options says under which addresses the page is known.
type Options struct {
	// AppOrigins are the web origins of the page, as in http://localhost:8080;
	// their hosts are matched exactly. At least one.
	AppOrigins []string
	// ContentOrigin is the pattern of the origins that canvases get, as in
	// https://*.canvas.example (wildcard DNS and certificate). Where it is empty,
	// a page loaded from loopback gets http://*.localhost:PORT, and any other
	// page says that it cannot show channel content.
	ContentOrigin string
	// App answers, on the app hosts only, what is no file of the page: /ahp,
	// /mcp, /healthz. Its headers are its own business. Nil answers 404.
	App http.Handler
}

// Handler routes by the exact Host header: app hosts, content hosts, and 421
// for every other name. It holds nothing but files; it is safe for concurrent
// use.
type Handler struct {
	apps     map[string]map[string]*file // by host, then path
	contents []contentHosts
	app      http.Handler
	unknown  map[string]string // headers of a 421
}

// contentHosts is one pattern with what its hosts serve.
type contentHosts struct {
	pattern pattern
	files   map[string]*file
	absent  map[string]string // headers of everything that is no file
}

// New returns the handler. It refuses origins that are none, a pattern that is
// none, and a pattern that matches an app host.
func New(opts Options) (*Handler, error) {
	if len(opts.AppOrigins) == 0 {
		return nil, errors.New("web: no app origin: say under which address the page is known")
	}
	sites, err := sitesOf(opts)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	h := &Handler{apps: map[string]map[string]*file{}, app: opts.App}
	if h.app == nil {
		absent := addresses{}.headers(appFile)
		h.app = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusNotFound, "there is nothing at this address", absent)
		})
	}
	for _, s := range sites {
		h.apps[s.origin.host] = pageFiles(s.addresses)
		if s.addresses.content != "" {
			h.addContent(s)
		}
	}
	h.unknown = addresses{}.headers(outerFile)
	return h, nil
}

// site is an app origin with the addresses that its policies name.
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
			if sites[i].pattern.suffix != "" && sites[i].pattern.match(other.origin.host) {
				return nil, fmt.Errorf("%s is an app host and a content host at once", other.origin)
			}
		}
	}
	return sites, nil
}

func (h *Handler) addContent(s site) {
	if slices.ContainsFunc(h.contents, func(c contentHosts) bool { return c.pattern == s.pattern }) {
		return
	}
	h.contents = append(h.contents, contentHosts{s.pattern, contentFiles(s.addresses), s.addresses.headers(answer)})
}

// ServeHTTP answers by the name that the request was sent to. Our own answers have
// to be taken in time; what stands behind the page takes the time that it takes.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = inTime(w, r)
	writesIn(w, fileTime)
	host := strings.ToLower(r.Host)
	if files, ok := h.apps[host]; ok {
		if f, ok := files[r.URL.Path]; ok {
			f.serve(w, r)
			return
		}
		writesIn(w, 0)
		h.app.ServeHTTP(w, r)
		return
	}
	for _, c := range h.contents {
		if c.pattern.match(host) {
			c.serve(w, r)
			return
		}
	}
	refuse(w, http.StatusMisdirectedRequest, "this host is not known under that name", h.unknown)
}

// serve answers on a content host: our six files, and nothing that a service
// worker may be made of but sw.js.
func (c *contentHosts) serve(w http.ResponseWriter, r *http.Request) {
	f, ok := c.files[r.URL.Path]
	if !ok || r.Header.Get("Service-Worker") != "" && r.URL.Path != "/.ahp/sw.js" {
		refuse(w, http.StatusNotFound, "there is nothing at this address", c.absent)
		return
	}
	f.serve(w, r)
}
