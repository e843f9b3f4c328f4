package site

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/jsonschema"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// describe returns what an action is for, and the schema of its parameters.
func (s *Site) describe(a Action) (description string, input ahp.Value, ok bool) {
	d, live := s.executor.(Describer)
	ok = true
	if live {
		description, input, ok = d.Describe(a)
	}
	if a.Description != "" {
		description = a.Description
	}
	if a.Input != nil {
		input = a.Input
	}
	return description, input, ok
}

// schemas keeps the compiled schema of each action until it changes.
type schemas struct {
	mu  sync.Mutex
	all map[string]compiled
}

type compiled struct {
	text   string
	schema *jsonschema.Schema
}

const (
	schemaBytes = 64 << 10
	schemaDepth = 32
)

// of returns the compiled schema of an action. One that cannot be compiled checks nothing
// here; the executor checks its input too.
func (s *schemas) of(id string, raw ahp.Value) *jsonschema.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.all[id]; ok && c.text == string(raw) {
		return c.schema
	}
	schema, err := new(jsonschema.Set).Compile(raw, jsonschema.Limits{Bytes: schemaBytes, Depth: schemaDepth})
	if err != nil {
		schema = nil
	}
	if s.all == nil {
		s.all = map[string]compiled{}
	}
	s.all[id] = compiled{string(raw), schema}
	return schema
}

// readInput reads a call's parameters and checks them.
func (s *Site) readInput(w http.ResponseWriter, r *http.Request, a Action) (ahp.Value, *Refusal) {
	raw, bad := s.readJSON(w, r)
	if bad != nil {
		return nil, bad
	}
	if raw.Kind() != '{' {
		return nil, refuse(http.StatusBadRequest, CodeInvalidParams, "the parameters must be a JSON object")
	}
	_, input, ok := s.describe(a)
	if !ok {
		return nil, refuse(http.StatusServiceUnavailable, CodeUnavailable, "the action %q cannot be run now", a.ID)
	}
	if v := s.schemas.of(a.ID, input).Check(raw); v != nil {
		bad := refuse(http.StatusBadRequest, CodeInvalidParams, "%s", v.Message)
		bad.Path, bad.rule = v.Path, v.Rule
		return nil, bad
	}
	return raw, nil
}

// flow is what a per-site proof has beside the members that package aam knows.
var flow = ahp.Value(`{"flow":"out_of_band"}`)

// proofs are the ways to get a credential.
func (s *Site) proofs() []aam.Proof {
	var all []aam.Proof
	for _, i := range s.config.Identity {
		all = append(all, aam.Proof{Type: aam.ProofAAMID, Issuer: i.Issuer, JWKS: i.JWKSURL, ConnectURL: i.ConnectURLPattern, ScopeNames: i.Scopes})
	}
	return append(all, aam.Proof{Type: aam.ProofPerSite, AuthorizeURL: s.config.Origin + PathAuthorize, TokenURL: s.config.Origin + PathToken, Extra: flow})
}

// serveManifest answers with the current manifest.
func (s *Site) serveManifest(w http.ResponseWriter, r *http.Request) *Refusal {
	raw := s.Manifest()
	sum := sha256.Sum256(raw)
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "max-age=300")
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	_, _ = w.Write(raw) // the client has left
	return nil
}

// scopesOf returns the scopes of an issuer that permit an action.
func (i Identity) scopesOf(action string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(i.Scopes)), func(scope string) bool { return i.Scopes[scope] != action })
}

// Manifest returns the manifest: the actions that can be run now, with the descriptions and
// schemas of the executor.
func (s *Site) Manifest() []byte {
	m := aam.Manifest{
		Version: aam.Version,
		Site:    aam.SiteInfo{Name: s.config.Site.Name, Domain: s.config.Site.Domain, Description: s.config.Site.Description},
		Auth: aam.Auth{
			Type: aam.DelegatedOAuth, AuthorizeURL: s.config.Origin + PathAuthorize, TokenURL: s.config.Origin + PathToken,
			Proofs: s.proofs(),
		},
		Actions: []aam.Action{},
	}
	for _, a := range s.config.Actions {
		description, input, ok := s.describe(a)
		if !ok {
			continue
		}
		out := aam.Action{ID: a.ID, Description: description, Pricing: a.Pricing}
		if out.Pricing.Free() {
			out.Pricing.Type = aam.Free // "free", not absent
		}
		if input != nil {
			var whole bool
			if out.Params, whole = aam.Params(input); !whole {
				out.Schema = input
			}
		}
		m.Actions = append(m.Actions, out)
		if !a.Public {
			m.Auth.RequiredFor = append(m.Auth.RequiredFor, a.ID)
		}
	}
	return ahp.MustMarshal(m)
}
