package aam

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Version is the version of AAM that this package speaks; 0.1.x is read too.
const Version = "0.1"

// The limits of a manifest.
const (
	MaxManifest = 256 << 10
	maxActions  = 256
	maxParams   = 64
	maxDepth    = 32
	maxProofs   = 32
)

// The kinds of a [Proof].
const (
	ProofAAMID      = "aam_id"           // a credential of an issuer
	ProofPerSite    = "per_site_consent" // a token of the site
	DelegatedOAuth  = "delegated_oauth"  // the type of Auth
	defaultTokenURL = "/api/aam/token"
	actionsPath     = "/api/aam/actions/"
)

// Manifest is what a site publishes at WellKnown. It is a claim of the site, and no
// certificate.
type Manifest struct {
	// Version is "0.1", or "0.1." and more.
	Version string `json:"aam_version"`
	// Site names the site.
	Site SiteInfo `json:"site"`
	// Auth is how a person signs in.
	Auth Auth `json:"auth,omitzero"`
	// Actions is what agents can do there.
	Actions []Action `json:"actions,omitzero"`
	// Security has the site's notes for agents.
	Security SecurityNotes `json:"security_notes,omitzero"`
	// Extra has the members that this package does not know.
	Extra ahp.Value `json:",embed"`

	at *url.URL // where it was read
}

// SiteInfo names a site.
type SiteInfo struct {
	// Name is for people.
	Name string `json:"name"`
	// Domain is the host that the site claims to be.
	Domain string `json:"domain"`
	// Description is for people.
	Description string `json:"description,omitzero"`
	// Extra has the members that this package does not know.
	Extra ahp.Value `json:",embed"`
}

// Auth is how a person signs in at a site.
type Auth struct {
	// Type is DelegatedOAuth.
	Type string `json:"type,omitzero"`
	// AuthorizeURL is where the person approves.
	AuthorizeURL string `json:"authorize_url,omitzero"`
	// TokenURL exchanges a code. "" is POST /api/aam/token.
	TokenURL string `json:"token_url,omitzero"`
	// Required reports that all actions need it.
	Required bool `json:"required,omitzero"`
	// RequiredFor has the actions that need it.
	RequiredFor []string `json:"required_for,omitzero"`
	// Proofs is what the site accepts.
	Proofs []Proof `json:"accepted_identity_proofs,omitzero"`
	// Extra has the members that this package does not know.
	Extra ahp.Value `json:",embed"`
}

// Proof is one kind of credential that a site accepts.
type Proof struct {
	// Type is ProofAAMID, ProofPerSite or unknown.
	Type string `json:"type"`
	// Issuer signs credentials of AAM ID.
	Issuer string `json:"issuer,omitzero"`
	// JWKS is where the issuer's keys are.
	JWKS string `json:"jwks_url,omitzero"`
	// ConnectURL is the pattern of the address where a person gets a credential.
	ConnectURL string `json:"connect_url_pattern,omitzero"`
	// AuthorizeURL is where the person approves.
	AuthorizeURL string `json:"authorize_url,omitzero"`
	// TokenURL exchanges a code.
	TokenURL string `json:"token_url,omitzero"`
	// ScopeNames has the action of each scope.
	ScopeNames map[string]string `json:"scope_names,omitzero"`
	// AllScopes has every scope.
	AllScopes []string `json:"all_scopes,omitzero"`
	// Extra has the members that this package does not know.
	Extra ahp.Value `json:",embed"`
}

// SecurityNotes is what a site says about other people's text in its answers.
type SecurityNotes struct {
	// MarkerOpen precedes text of other people.
	MarkerOpen string `json:"ipi_marker_open,omitzero"`
	// MarkerClose follows it.
	MarkerClose string `json:"ipi_marker_close,omitzero"`
	// Extra has the members that this package does not know.
	Extra ahp.Value `json:",embed"`
}

// Action is one thing that agents can do at a site.
type Action struct {
	// ID names it.
	ID string `json:"id"`
	// Name is for people.
	Name string `json:"name,omitzero"`
	// Description is for agents.
	Description string `json:"description,omitzero"`
	// Pricing is what it costs.
	Pricing Pricing `json:"pricing,omitzero"`
	// Params has the parameters by name.
	Params ahp.Value `json:"params,omitzero"`
	// Schema is a JSON Schema of the parameters, if Params does not say everything.
	Schema ahp.Value `json:"input_schema,omitzero"`
	// Endpoint is where it is called. "" is /api/aam/actions/<id>.
	Endpoint string `json:"endpoint,omitzero"`
	// Method is "" or POST, or GET.
	Method string `json:"method,omitzero"`
	// Extra has the members that this package does not know.
	Extra ahp.Value `json:",embed"`
}

// Warning is something about a manifest that a person should know.
type Warning struct {
	// Path is a JSON Pointer into the manifest.
	Path string `json:"path,omitzero"`
	// Message is for people and agents.
	Message string `json:"message"`
}

// String returns the place and the message.
func (w Warning) String() string {
	if w.Path == "" {
		return w.Message
	}
	return w.Path + ": " + w.Message
}

func warn(list *[]Warning, path, format string, args ...any) {
	*list = append(*list, Warning{path, fmt.Sprintf(format, args...)})
}

// ParseManifest reads a manifest. What concerns its address is left to [Manifest.Locate].
// Its errors are *Error.
func ParseManifest(b []byte) (*Manifest, []Warning, error) {
	if len(b) > MaxManifest {
		return nil, nil, errorf(CodeManifestInvalid, "", "the manifest is above %d KiB", MaxManifest>>10)
	}
	raw := ahp.Value(b)
	if !raw.IsValid() || raw.Kind() != '{' {
		return nil, nil, errorf(CodeManifestInvalid, "", "the manifest is not a JSON object")
	}
	if depth, _ := ahp.Measure(raw); depth > maxDepth {
		return nil, nil, errorf(CodeManifestInvalid, "", "the manifest is nested deeper than %d", maxDepth)
	}
	var warnings []Warning
	m, err := decodeManifest(raw, &warnings)
	if err != nil {
		return nil, nil, err
	}
	if err := m.check(&warnings); err != nil {
		return nil, nil, err
	}
	return m, warnings, nil
}

// decodeManifest decodes a manifest; one without actions has none.
func decodeManifest(raw ahp.Value, warnings *[]Warning) (*Manifest, error) {
	var m Manifest
	if err := ahp.Unmarshal(raw, &m); err != nil {
		return nil, invalid(err)
	}
	if m.Actions == nil {
		warn(warnings, "/actions", "the manifest has no actions")
	}
	return &m, nil
}

// invalid turns an error of ahp.Unmarshal, which begins with a pointer, into one with a
// path.
func invalid(err error) *Error {
	text := err.Error()
	if path, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(path, "/") {
		return errorf(CodeManifestInvalid, path, "%s", ahp.Line(rest, 200))
	}
	return errorf(CodeManifestInvalid, "", "%s", ahp.Line(text, 200))
}

// check checks what a manifest says, without its address.
func (m *Manifest) check(warnings *[]Warning) *Error {
	if m.Version != Version && !strings.HasPrefix(m.Version, Version+".") {
		return errorf(CodeManifestInvalid, "/aam_version", "version %s is not %s", quote(m.Version), Version)
	}
	if m.Site.Name == "" || m.Site.Domain == "" {
		return errorf(CodeManifestInvalid, "/site", "name and domain are required")
	}
	if len(m.Actions) > maxActions {
		return errorf(CodeManifestInvalid, "/actions", "there are more than %d actions", maxActions)
	}
	if len(m.Auth.Proofs) > maxProofs {
		return errorf(CodeManifestInvalid, "/auth/accepted_identity_proofs", "there are more than %d", maxProofs)
	}
	seen := map[string]bool{}
	for i, a := range m.Actions {
		at := fmt.Sprintf("/actions/%d", i)
		if !validID(a.ID) {
			return errorf(CodeManifestInvalid, at+"/id", "%s is not an id of an action", quote(a.ID))
		}
		if seen[a.ID] {
			return errorf(CodeManifestInvalid, at+"/id", "two actions have the id %s", quote(a.ID))
		}
		seen[a.ID] = true
		if err := a.check(at, warnings); err != nil {
			return err
		}
	}
	for _, id := range m.Auth.RequiredFor {
		if !seen[id] && len(m.Actions) > 0 {
			warn(warnings, "/auth/required_for", "there is no action %s", quote(id))
		}
	}
	return nil
}

func (a Action) check(at string, warnings *[]Warning) *Error {
	if a.Method != "" && a.Method != "POST" && a.Method != "GET" {
		return errorf(CodeManifestInvalid, at+"/method", "%s is neither POST nor GET", quote(a.Method))
	}
	params, err := a.params()
	if err != nil {
		return errorf(CodeManifestInvalid, at+"/params", "%v", err)
	}
	if len(params) > maxParams {
		return errorf(CodeManifestInvalid, at+"/params", "there are more than %d", maxParams)
	}
	if why := a.Pricing.Problem(); why != "" {
		warn(warnings, at+"/pricing", "%s cannot be paid for here: %s", a.ID, why)
	}
	return nil
}

const maxID = 128

// validID reports whether an id can be a segment of a path: no slash, no control
// character, and not one that means a folder.
func validID(id string) bool {
	return id != "" && len(id) <= maxID && id != "." && id != ".." &&
		!strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`/\?#%`, r) || r == '\ufffd' }) &&
		ahp.Line(id, maxID) == id
}

// Action returns the action with an id.
func (m *Manifest) Action(id string) (Action, error) {
	names := make([]string, 0, len(m.Actions))
	for _, a := range m.Actions {
		if a.ID == id {
			return a, nil
		}
		names = append(names, a.ID)
	}
	return Action{}, &Error{Code: CodeInputInvalid, Path: "/input/action", Message: "the site has no such action", Candidates: names}
}

// NeedsAuth reports whether an action needs a credential.
func (m *Manifest) NeedsAuth(id string) bool {
	if m.Auth.Required {
		return true
	}
	return slices.Contains(m.Auth.RequiredFor, id)
}
