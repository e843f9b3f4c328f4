package relay

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Edges are the edges that a fleet has, as patterns of their URLs. A host dials no others:
// otherwise a forged offer would send it, with a lane's secret, anywhere. The
// zero Edges allow none.
type Edges struct{ patterns []edgePattern }

type edgePattern struct{ scheme, host, port, path string }

// maxEdges limits the patterns of Edges in number and, together, in bytes: an edge sends
// them to each host in one message.
const maxEdges, maxEdgesText = 64, 3 << 10

// ParseEdges parses patterns: wss://edge-1.relay.example, with a port or path if the edges'
// URLs have them, or wss://*.relay.example, where the asterisk stands for one label.
func ParseEdges(patterns ...string) (Edges, error) {
	var e Edges
	for _, text := range patterns {
		p, err := parseEdge(text)
		if err != nil {
			return Edges{}, fmt.Errorf("relay: edges %q: %w", text, err)
		}
		e.patterns = append(e.patterns, p)
	}
	if n := len(e.String()); len(e.patterns) > maxEdges || n > maxEdgesText {
		return Edges{}, fmt.Errorf("relay: %d patterns of edges with %d bytes, above the limits of %d and %d", len(e.patterns), n, maxEdges, maxEdgesText)
	}
	return e, nil
}

func parseEdge(text string) (edgePattern, error) {
	const form = "want a URL of the form wss://*.relay.example, without user, query or fragment"
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.ContainsAny(text, " \t\r\n\\") {
		return edgePattern{}, fmt.Errorf("%s", form)
	}
	p := edgeAt(u)
	if rest, wild := strings.CutPrefix(p.host, "*."); strings.Contains(rest, "*") || wild && rest == "" {
		return edgePattern{}, fmt.Errorf("%s", form)
	}
	return p, nil
}

func edgeAt(u *url.URL) edgePattern {
	port := cmp.Or(u.Port(), map[string]string{"ws": "80", "wss": "443"}[u.Scheme])
	return edgePattern{u.Scheme, strings.ToLower(u.Hostname()), port, strings.TrimSuffix(u.EscapedPath(), "/")}
}

// Allows reports whether a URL is the URL of one of the edges.
func (e Edges) Allows(edge string) bool {
	at, err := parseEdge(edge)
	return err == nil && !strings.Contains(at.host, "*") && slices.ContainsFunc(e.patterns, func(p edgePattern) bool {
		return p.scheme == at.scheme && p.port == at.port && p.path == at.path && p.hasHost(at.host)
	})
}

func (p edgePattern) hasHost(host string) bool {
	rest, wild := strings.CutPrefix(p.host, "*")
	if !wild {
		return host == p.host
	}
	label, ok := strings.CutSuffix(host, rest)
	return ok && label != "" && !strings.Contains(label, ".")
}

// Empty reports whether e allows no edge.
func (e Edges) Empty() bool { return len(e.patterns) == 0 }

// String returns the patterns, separated by spaces. ParseEdges(strings.Fields(s)...) is the
// inverse.
func (e Edges) String() string {
	var all []string
	for _, p := range e.patterns {
		host := p.host
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		all = append(all, p.scheme+"://"+host+":"+p.port+p.path)
	}
	return strings.Join(all, " ")
}
