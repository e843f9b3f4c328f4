package remote

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// endpoint is how an agent is called, according to its card.
type endpoint struct {
	url       string
	v1        bool // A2A 1.0, otherwise 0.3
	streaming bool
	extension string // the negotiated version of A2UI's extension
	declared  bool   // the card names an extension that we know
	tenant    string
}

// Info says what an agent's card offers.
type Info struct {
	// A2A is the version of A2A: "1.0" or "0.3"; "" for an agent at a socket.
	A2A string
	// Streaming reports whether answers arrive as events.
	Streaming bool
	// A2UI reports whether the card declares a version of A2UI that is spoken here. Other
	// agents can work, because the extension's activation is optional.
	A2UI bool
}

// Check reads the agent's card, so that a problem is known before the first turn.
func (a *Agent) Check(ctx context.Context) (Info, error) {
	if strings.HasPrefix(a.base.Scheme, "ws") {
		return Info{Streaming: true, A2UI: true}, nil
	}
	e, err := a.endpoint(ctx)
	if err != nil {
		return Info{}, err
	}
	info := Info{A2A: "0.3", Streaming: e.streaming, A2UI: e.declared}
	if e.v1 {
		info.A2A = "1.0"
	}
	return info, nil
}

// endpoint returns how the agent is called. It reads the card once.
func (a *Agent) endpoint(ctx context.Context) (*endpoint, error) {
	a.mu.Lock()
	known := a.card
	a.mu.Unlock()
	if known != nil {
		return known, nil
	}
	raw, err := a.readCard(ctx)
	if err != nil {
		return nil, err
	}
	e, why := chooseEndpoint(a.base, raw)
	if why != "" {
		return nil, a.unavailable("%s", why)
	}
	a.mu.Lock()
	a.card = e
	a.mu.Unlock()
	return e, nil
}

// readCard returns the card from its path of A2A 0.3 and later, or from the older one.
func (a *Agent) readCard(ctx context.Context) (card, error) {
	status := 0
	for _, path := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base.String()+path, nil)
		if err != nil {
			return card{}, a.unavailable("its URL is not valid")
		}
		req.Header.Set("Accept", "application/json")
		resp, err := a.do(req)
		if err != nil {
			return card{}, err
		}
		if status = resp.StatusCode; status != http.StatusOK {
			_ = resp.Body.Close()
			continue
		}
		raw, err := io.ReadAll(io.LimitReader(resp.Body, a.opts.Limits.Card+1))
		_ = resp.Body.Close()
		if err != nil {
			return card{}, a.unreachable(ctx, err)
		}
		if int64(len(raw)) > a.opts.Limits.Card {
			return card{}, a.unavailable("its card has more than %d bytes", a.opts.Limits.Card)
		}
		var c card
		if ahp.Unmarshal(raw, &c) != nil {
			return card{}, a.unavailable("its card is not valid")
		}
		return c, nil
	}
	return card{}, a.unavailable("it has no card (status %d)", status)
}

// card is an agent card of A2A 0.3 or 1.0.
type card struct {
	URL                  string  `json:"url,omitzero"`
	PreferredTransport   string  `json:"preferredTransport,omitzero"`
	AdditionalInterfaces []iface `json:"additionalInterfaces,omitzero"`
	SupportedInterfaces  []iface `json:"supportedInterfaces,omitzero"`
	Capabilities         struct {
		Streaming  bool `json:"streaming,omitzero"`
		Extensions []struct {
			URI string `json:"uri,omitzero"`
		} `json:"extensions,omitzero"`
	} `json:"capabilities,omitzero"`
}

type iface struct {
	URL       string `json:"url,omitzero"`
	Transport string `json:"transport,omitzero"`       // of 0.3
	Binding   string `json:"protocolBinding,omitzero"` // of 1.0
	Version   string `json:"protocolVersion,omitzero"`
	Tenant    string `json:"tenant,omitzero"`
}

// chooseEndpoint returns the JSON-RPC interface of the newest version at the origin of
// base, or why there is none.
func chooseEndpoint(base *url.URL, c card) (*endpoint, string) {
	var found []endpoint
	for _, i := range c.SupportedInterfaces {
		if strings.EqualFold(i.Binding, "JSONRPC") {
			found = append(found, endpoint{url: i.URL, tenant: i.Tenant, v1: strings.HasPrefix(i.Version, "1")})
		}
	}
	slices.SortStableFunc(found, func(a, b endpoint) int { return version(b) - version(a) })
	if c.URL != "" && (c.PreferredTransport == "" || c.PreferredTransport == "JSONRPC") {
		found = append(found, endpoint{url: c.URL})
	}
	for _, i := range c.AdditionalInterfaces {
		if i.Transport == "JSONRPC" {
			found = append(found, endpoint{url: i.URL})
		}
	}
	if len(found) == 0 {
		return nil, "its card offers no JSON-RPC"
	}
	at := slices.IndexFunc(found, func(e endpoint) bool { return sameOrigin(base, e.url) })
	if at < 0 {
		return nil, "its card points elsewhere; an agent must be at the origin that was configured"
	}
	e := found[at]
	e.streaming, e.extension = c.Capabilities.Streaming, a2ui.ExtensionV09
	for _, uri := range []string{a2ui.ExtensionV09, a2ui.ExtensionV091} {
		for _, x := range c.Capabilities.Extensions {
			if x.URI == uri {
				e.extension, e.declared = uri, true
			}
		}
	}
	return &e, ""
}

func version(e endpoint) int {
	if e.v1 {
		return 1
	}
	return 0
}

// sameOrigin reports whether a URL has the origin of base, and no user name.
func sameOrigin(base *url.URL, raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && u.Scheme == base.Scheme && strings.EqualFold(u.Hostname(), base.Hostname()) && port(u) == port(base)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// do sends a request with the token. A redirect is an answer like any other.
func (a *Agent) do(req *http.Request) (*http.Response, error) {
	if a.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+a.opts.Token)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, a.unreachable(req.Context(), err)
	}
	return resp, nil
}
