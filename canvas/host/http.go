package host

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// The paths of the host's endpoints.
const (
	ahpPath    = "/ahp"
	mcpPath    = "/mcp"
	healthPath = "/healthz"
)

// route makes the handlers of the host's endpoints.
func (h *Host) route() {
	h.extra = http.NewServeMux()
	h.endpoints = http.NewServeMux()
	h.endpoints.HandleFunc(ahpPath, h.serveAHP)
	h.endpoints.Handle(mcpPath, h.sites.guarded(mcp.Handler(h.tools), []string{RoleAgent}))
	h.endpoints.HandleFunc("GET "+proof.Path, h.sites.serveProof)
	h.endpoints.HandleFunc("GET "+healthPath, h.serveHealth)
	h.routeAccess()
}

// owned reports whether the host serves a path itself.
func owned(path string) bool {
	return slices.Contains([]string{ahpPath, mcpPath, proof.Path, healthPath}, path) || strings.HasPrefix(path, accessPath+"/")
}

// ServeHTTP serves the page, AHP, MCP, the patterns of [Host.Handle], and the content
// hosts. It answers only to its own names, see [Options.Origins] and [Host.SetAddr];
// while it knows none, to localhost on connections that arrive there. Under a path prefix
// it does not work: the page and its frames have absolute paths.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.gateway.Serves(r.Host) {
		h.served.ServeHTTP(w, r) // with the WebSockets of apps, also those at the root
		return
	}
	if r.URL.Path == "/" && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && !h.closing.Load() {
		h.serveAHP(w, r) // editors open a host by its name and port alone
		return
	}
	h.sites.of(r).page.ServeHTTP(w, r)
}

// serveApp serves everything on the page's origin that is not a file of the page.
func (h *Host) serveApp(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.closing.Load():
		w.Header().Set("Connection", "close")
		http.Error(w, "the host is shutting down", http.StatusServiceUnavailable)
	case owned(r.URL.Path):
		h.endpoints.ServeHTTP(w, r)
	default:
		h.extra.ServeHTTP(w, r)
	}
}

func (h *Host) serveAHP(w http.ResponseWriter, r *http.Request) {
	s := h.sites.of(r)
	if refusal := s.ahp.CheckAddress(r); refusal != nil {
		refusal.Reason += s.hint
		h.sites.refuse(w, refusal)
		return
	}
	socket, grant, err := ws.Accept(w, r, ws.AcceptOptions{Guard: s.ahp, Roles: access.Roles()})
	if err != nil {
		h.logger.Info("connection refused", "err", err)
		return
	}
	grant.Loopback = arrivedOnLoopback(r)
	h.serveFrom(h.opts.Proxies.Client(r), socket, grant)
}

// serveHealth answers 503 while the host cannot store changes, and says why. It still shows
// what it has.
func (h *Host) serveHealth(w http.ResponseWriter, _ *http.Request) {
	if err := h.Health(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// Handle serves a pattern of [http.ServeMux] on the page's origin, behind the host's
// guard: the request must name the host in its Host header (421), come from the page's
// origin or from no web page (403), and have a token (401) of one of the roles (403).
// The handler learns the role with [GrantFrom]; it receives the request without the
// token, so that a proxy does not forward it.
//
// Without roles no token is needed: every program that reaches the host can call the
// handler, and every web page can make a browser send it a GET. Such a handler must
// neither change nor disclose anything.
//
// Responses belong to the page's origin: a script in them could read the view token.
// Serve no HTML from a source that you do not trust.
//
// Handle panics, as ServeMux does, if the pattern is invalid or taken, or if its path
// belongs to the host: "/", /ahp, /mcp, /proof, /healthz, /access, below these, below /.ahp, and
// the page's files. A wildcard does not match the host's own paths.
func (h *Host) Handle(pattern string, handler http.Handler, roles ...string) {
	if reserved(patternPath(pattern)) {
		panic(fmt.Sprintf("host: pattern %q has a path of the host: choose another", pattern))
	}
	if handler == nil {
		panic("host: nil handler")
	}
	h.extra.Handle(pattern, h.sites.guarded(handler, slices.Clone(roles)))
}

// patternPath returns the path of a ServeMux pattern, "[METHOD ][HOST]/[PATH]".
func patternPath(pattern string) string {
	i := strings.IndexByte(pattern, '/')
	if i < 0 {
		return "" // invalid; the mux panics
	}
	return strings.TrimSuffix(pattern[i:], "{$}")
}

func reserved(path string) bool {
	if path == "/" || web.IsPageFile(path) {
		return true
	}
	for _, own := range []string{ahpPath, mcpPath, proof.Path, healthPath, accessPath, "/.ahp"} {
		if path == own || strings.HasPrefix(path, own+"/") {
			return true
		}
	}
	return false
}

type grantKey struct{}

// caller returns the name of the token of a request, "" for the host's own agent token.
func (h *Host) caller(ctx context.Context) string {
	grant, _ := GrantFrom(ctx)
	if _, own := h.keys.base(); grant.Token == ws.TokenID(own) {
		return ""
	}
	return grant.Name
}

// GrantFrom returns what the token of a request grants. A handler of [Host.Handle]
// passes the request's context. It reports false if the pattern has no roles.
func GrantFrom(ctx context.Context) (ws.Grant, bool) {
	grant, ok := ctx.Value(grantKey{}).(ws.Grant)
	return grant, ok
}
