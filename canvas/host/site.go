package host

import (
	"net"
	"net/http"
	"net/url"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// site is the host under one set of addresses: the page, and the guard of everything
// else.
type site struct {
	addresses
	guard *ws.Guard
	ahp   *ws.Guard // guard, which lets editors in as well
	page  *web.Handler
	hint  string // ends the text of a refused address
}

// address checks Host and Origin of a request.
func (s *site) address(r *http.Request) *ws.Refusal {
	refusal := s.guard.CheckAddress(r)
	if refusal != nil {
		refusal.Reason += s.hint
	}
	return refusal
}

// EditorOrigin is the origin of VS Code's desktop windows. It is no web origin: no page
// has it. The host accepts it for AHP on loopback, and elsewhere if Options.Origins names
// it.
const EditorOrigin = "vscode-file://vscode-app"

// forEditors returns the guard of AHP.
func forEditors(g *ws.Guard, named bool) *ws.Guard {
	if !named && slices.ContainsFunc(g.Hosts, func(h string) bool { return !isLoopbackName((&url.URL{Host: h}).Hostname()) }) {
		return g
	}
	more := *g
	more.Origins = append(slices.Clone(g.Origins), EditorOrigin)
	return &more
}

func isLoopbackName(name string) bool {
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}

// originsHint explains a refusal to the author of a program that gave no origins.
const originsHint = ": without host.Options.Origins the host answers only on localhost, at the port of the connection"

// maxLoopbackSites bounds the cache; a program has one or two listeners.
const maxLoopbackSites = 64

// loopbackKey is a scheme, and the address at which connections arrive.
type loopbackKey struct{ scheme, addr string }

// loopbackKeyOf returns the key of a request. The address is the connection's and not the
// Host header's, which the client chooses: proofs are for real addresses only. Port 0,
// which no listener has, stands for a connection that did not arrive on loopback.
func loopbackKeyOf(r *http.Request) loopbackKey {
	k := loopbackKey{"http", "localhost:0"}
	if r.TLS != nil {
		k.scheme = "https"
	}
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isLoopback(addr) {
		k.addr = addr.String()
	}
	return k
}
