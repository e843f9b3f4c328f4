package mcpapp

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// declaredUI is _meta.ui of a UI resource: what its page asks for. All of it is untrusted.
type declaredUI struct {
	CSP struct {
		Connect  []string `json:"connectDomains,omitzero"`
		Resource []string `json:"resourceDomains,omitzero"`
		Frame    []string `json:"frameDomains,omitzero"`
		Base     []string `json:"baseUriDomains,omitzero"`
	} `json:"csp,omitzero"`
	Permissions map[string]any `json:"permissions,omitzero"`
}

// maxDomains is how many entries of a list are read.
const maxDomains = 64

var domain = regexp.MustCompile(`^(https|wss)://(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[1-9][0-9]{0,4})?$`)

// origins parses declared domains: https or wss, a host with at most a leading "*.", and a
// port. Everything else could change the policy that it stands in, and is dropped.
func origins(declared []string) (list []string, dropped int) {
	for i, s := range declared {
		o := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(s), "/"), ":443")
		if i >= maxDomains || len(o) > 256 || !domain.MatchString(o) {
			dropped++
			continue
		}
		if !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	return list, dropped
}

// covers reports whether an allowed origin, which can begin with "*.", is or contains a
// declared one.
func covers(allowed, declared string) bool {
	if allowed == declared {
		return true
	}
	before, tail, wild := strings.Cut(allowed, "*")
	if !wild || !strings.HasPrefix(declared, before) {
		return false
	}
	return strings.HasSuffix(strings.TrimPrefix(strings.TrimPrefix(declared, before), "*"), tail)
}

// granted is the policy of a UI: what it declares and the operator allows.
type granted struct {
	Connect  []string `json:"connectDomains"`
	Resource []string `json:"resourceDomains"`
	Frame    []string `json:"frameDomains"`
	Base     []string `json:"baseUriDomains"`
	// denied are the hosts and permissions that it asks for and does not get, for people.
	denied []string
	// dropped counts entries that are no origins.
	dropped int
}

// grant returns the policy for a declaration.
func grant(d declaredUI, allowed []string) granted {
	var g granted
	pass := func(declared []string) []string {
		list, dropped := origins(declared)
		g.dropped += dropped
		out := []string{}
		for _, o := range list {
			if slices.ContainsFunc(allowed, func(a string) bool { return covers(a, o) }) {
				out = append(out, o)
			} else if u, err := url.Parse(o); err == nil && !slices.Contains(g.denied, u.Host) {
				g.denied = append(g.denied, u.Host)
			}
		}
		return out
	}
	g.Connect, g.Resource = pass(d.CSP.Connect), pass(d.CSP.Resource)
	g.Frame, g.Base = pass(d.CSP.Frame), pass(d.CSP.Base)
	for _, p := range []struct{ name, words string }{
		{"camera", "the camera"}, {"microphone", "the microphone"}, {"geolocation", "your location"}, {"clipboardWrite", "writing to the clipboard"},
	} {
		if _, asks := d.Permissions[p.name]; asks {
			g.denied = append(g.denied, p.words)
		}
	}
	return g
}

// policy returns the Content-Security-Policy of the UI's document, which applies beside the
// host's own. Eval, blob and data scripts name no domain, and published pages need them.
func (g granted) policy() string {
	r, c := strings.Join(g.Resource, " "), strings.Join(g.Connect, " ")
	lines := []string{
		"default-src 'none'",
		"script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data: " + r,
		"style-src 'self' 'unsafe-inline' " + r,
		"img-src 'self' data: blob: " + r,
		"font-src 'self' data: " + r,
		"media-src 'self' data: blob: " + r,
		"connect-src data: blob: " + c,
		"worker-src 'self' blob: " + r,
		"frame-src " + cmp.Or(strings.Join(g.Frame, " "), "'none'"),
		"object-src 'none'",
		"base-uri " + cmp.Or(strings.Join(g.Base, " "), "'self'"),
		"form-action 'none'",
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "; ")
}
