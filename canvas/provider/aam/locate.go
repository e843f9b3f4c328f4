package aam

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Locate holds the manifest against the address where it was read, and resolves its
// relative addresses. Actions at another origin are left out, with a warning; a token
// address of another origin is an error, because a token would go there.
func (m *Manifest) Locate(at *url.URL) ([]Warning, error) {
	m.at = at
	var warnings []Warning
	host, domain := strings.ToLower(at.Hostname()), strings.ToLower(m.Site.Domain)
	if name, _, ok := strings.Cut(domain, ":"); ok && isLoopback(name) {
		domain = name
	}
	if host != domain && !strings.HasSuffix(host, "."+domain) {
		warn(&warnings, "/site/domain", "the manifest of %s says that it is %s", at.Host, quote(m.Site.Domain))
	}
	if _, err := m.sameOrigin(m.Auth.TokenURL); err != nil {
		return nil, errorf(CodeManifestInvalid, "/auth/token_url", "%v", err)
	}
	for i, p := range m.Auth.Proofs {
		if _, err := m.sameOrigin(p.TokenURL); err != nil {
			return nil, errorf(CodeManifestInvalid, fmt.Sprintf("/auth/accepted_identity_proofs/%d/token_url", i), "%v", err)
		}
	}
	m.Actions = slices.DeleteFunc(m.Actions, func(a Action) bool {
		_, err := m.sameOrigin(a.Endpoint)
		if err != nil {
			warn(&warnings, "/actions", "%s is left out: %v", a.ID, err)
		}
		return err != nil
	})
	return warnings, nil
}

// sameOrigin resolves an address to one of the manifest's origin.
func (m *Manifest) sameOrigin(ref string) (*url.URL, error) {
	u, err := m.at.Parse(ref)
	if err != nil || u.User != nil || u.Opaque != "" {
		return nil, fmt.Errorf("%s is not an address", quote(ref))
	}
	if u.Scheme != m.at.Scheme || !strings.EqualFold(u.Host, m.at.Host) {
		return nil, fmt.Errorf("%s is not at %s", quote(u.Scheme+"://"+u.Host), m.at.Host)
	}
	u.Fragment = ""
	return u, nil
}

// Origin returns the manifest's origin.
func (m *Manifest) Origin() string { return m.at.Scheme + "://" + m.at.Host }

// tokenURL returns where a code is exchanged.
func (m *Manifest) tokenURL() (*url.URL, error) {
	for _, p := range m.Auth.Proofs {
		if p.Type == ProofPerSite && p.TokenURL != "" {
			return m.sameOrigin(p.TokenURL)
		}
	}
	if m.Auth.TokenURL != "" {
		return m.sameOrigin(m.Auth.TokenURL)
	}
	return m.sameOrigin(defaultTokenURL)
}

// endpoint returns where an action is called.
func (m *Manifest) endpoint(a Action) (*url.URL, error) {
	if a.Endpoint != "" {
		return m.sameOrigin(a.Endpoint)
	}
	return m.sameOrigin(actionsPath + url.PathEscape(a.ID))
}

// Link is where a person signs in.
type Link struct {
	// URL is the address, for the person's browser.
	URL string
	// Proof is the kind of what the person brings back: a code, or a credential.
	Proof string
}

// Proofs returns the kinds of proofs that the site accepts.
func (m *Manifest) Proofs() []string {
	var kinds []string
	for _, p := range m.Auth.Proofs {
		if !slices.Contains(kinds, p.Type) {
			kinds = append(kinds, p.Type)
		}
	}
	if len(kinds) == 0 && m.Auth.AuthorizeURL != "" {
		kinds = []string{ProofPerSite}
	}
	return kinds
}

// SignIn returns where a person signs in for a vendor's agents. proof is a kind, or "" for
// the first that the site lists; actions is what the agent wants, or nothing for all.
func (m *Manifest) SignIn(vendor, proof string, actions []string) (Link, error) {
	for _, id := range actions {
		if _, err := m.Action(id); err != nil {
			return Link{}, err
		}
	}
	for _, p := range m.Auth.Proofs {
		if proof != "" && p.Type != proof {
			continue
		}
		if pattern := cmpOr(p.ConnectURL, p.AuthorizeURL); pattern != "" {
			return m.link(p, pattern, vendor, actions)
		}
	}
	if m.Auth.AuthorizeURL != "" && (proof == "" || proof == ProofPerSite) {
		return m.link(Proof{Type: ProofPerSite}, m.Auth.AuthorizeURL, vendor, actions)
	}
	return Link{}, &Error{Code: CodeInputInvalid, Path: "/input/proof", Message: "the site has no such way to sign in", Candidates: m.Proofs()}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// link fills a pattern. An address without placeholders gets the vendor, and the actions,
// as a query.
func (m *Manifest) link(p Proof, pattern, vendor string, actions []string) (Link, error) {
	filled := strings.NewReplacer("{agent}", url.QueryEscape(vendor), "{vendor}", url.QueryEscape(vendor),
		"{scopes}", url.QueryEscape(strings.Join(m.scopes(p, actions), ",")),
		"{site}", url.QueryEscape(m.Site.Domain)).Replace(pattern)
	u, err := m.at.Parse(filled)
	if err != nil || u.User != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname()) && m.at.Scheme == "http") {
		return Link{}, errorf(CodeManifestInvalid, "/auth", "%s is not an https address", quote(pattern))
	}
	if filled == pattern {
		q := u.Query()
		q.Set("vendor", vendor)
		if len(actions) > 0 {
			q.Set("actions", strings.Join(actions, ","))
		}
		u.RawQuery = q.Encode()
	}
	return Link{u.String(), p.Type}, nil
}

// scopes returns the scopes of actions: by the proof's names, otherwise the actions' ids.
func (m *Manifest) scopes(p Proof, actions []string) []string {
	if len(actions) == 0 && len(p.AllScopes) > 0 {
		return p.AllScopes
	}
	if len(actions) == 0 {
		for _, a := range m.Actions {
			if m.NeedsAuth(a.ID) {
				actions = append(actions, a.ID)
			}
		}
		if len(actions) == 0 {
			actions = m.Auth.RequiredFor
		}
	}
	scopes := make([]string, 0, len(actions))
	for _, id := range actions {
		name := id
		for scope, action := range p.ScopeNames {
			if action == id {
				name = scope
			}
		}
		scopes = append(scopes, name)
	}
	return scopes
}
