package ws

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// Subprotocol is the WebSocket subprotocol of AHP; a browser offers it beside
// "bearer.<token>", and only this one is selected.
const Subprotocol = "ahp"

const bearerProtocol = "bearer."

// Token is a secret that opens the door, and for whom.
type Token struct {
	Secret string // an empty one matches nothing
	// Role is what the holder may be, "view" or "agent" (canvas.md section 9).
	Role string
	// ClientID is the only client id that the token is good for; "" is any.
	ClientID string
}

// Grant is what a matching token allows.
type Grant struct{ Role, ClientID string }

// Guard decides who may speak to a listener: the same checks for the WebSocket,
// the agent's door and the page. Nothing is allowed by default: a Guard without
// hosts or tokens refuses everybody.
type Guard struct {
	// Hosts are the exact values of the Host header (name and port) under which
	// the listener is known. It is the first check: DNS rebinding ends here.
	Hosts []string
	// Origins are the web origins that may connect. A request without Origin
	// is no web page's and passes; "null" never does.
	Origins []string
	Tokens  []Token
	// QueryToken accepts the token as ?tkn=, which leaks into histories and
	// logs. Set it only for a listener on a loopback address.
	QueryToken bool
}

// Refusal is why a request was turned away, with the HTTP status that says it.
type Refusal struct {
	Status int
	Reason string
}

func (r *Refusal) Error() string { return r.Reason }

// Write answers the request with the refusal.
func (r *Refusal) Write(w http.ResponseWriter) {
	if r.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, r.Reason, r.Status)
}

// Address checks Host (421) and Origin (403), and asks for no token: what a
// page's own files need.
func (g *Guard) Address(r *http.Request) *Refusal {
	if !slices.ContainsFunc(g.Hosts, func(h string) bool { return strings.EqualFold(h, r.Host) }) {
		return &Refusal{http.StatusMisdirectedRequest, "this host is not known under that name"}
	}
	switch origins := r.Header["Origin"]; {
	case len(origins) == 0:
		return nil
	case len(origins) > 1 || origins[0] == "null" || !slices.Contains(g.Origins, origins[0]):
		return &Refusal{http.StatusForbidden, "this origin may not connect"}
	}
	return nil
}

// Check is Address and then the token: 401 where it is absent or matches none,
// 403 where it is not of one of the roles; no roles named means any.
func (g *Guard) Check(r *http.Request, roles ...string) (Grant, *Refusal) {
	if ref := g.Address(r); ref != nil {
		return Grant{}, ref
	}
	grant, ok := g.match(g.Presented(r))
	if !ok {
		return Grant{}, &Refusal{http.StatusUnauthorized, "a valid token is needed"}
	}
	if len(roles) > 0 && !slices.Contains(roles, grant.Role) {
		return Grant{}, &Refusal{http.StatusForbidden, "this token does not open this door"}
	}
	return grant, nil
}

// Presented returns the token of a request, or "": of the first place that has
// one, so that a wrong header is not outvoted by a right query.
func (g *Guard) Presented(r *http.Request) string {
	if auth := r.Header.Get("Authorization"); auth != "" {
		scheme, token, _ := strings.Cut(auth, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return ""
		}
		return strings.TrimSpace(token)
	}
	for _, p := range offered(r) {
		if token, ok := strings.CutPrefix(p, bearerProtocol); ok {
			return token
		}
	}
	if g.QueryToken {
		return r.URL.Query().Get("tkn")
	}
	return ""
}

// offered returns the subprotocols of all header lines.
func offered(r *http.Request) []string {
	var all []string
	for _, line := range r.Header["Sec-Websocket-Protocol"] {
		for p := range strings.SplitSeq(line, ",") {
			all = append(all, strings.TrimSpace(p))
		}
	}
	return all
}

// match compares with every token, in a time that depends on neither.
func (g *Guard) match(token string) (Grant, bool) {
	var grant Grant
	found := false
	have := sha256.Sum256([]byte(token))
	for _, t := range g.Tokens {
		want := sha256.Sum256([]byte(t.Secret))
		if subtle.ConstantTimeCompare(have[:], want[:]) == 1 && t.Secret != "" {
			grant, found = Grant{t.Role, t.ClientID}, true
		}
	}
	return grant, found
}
