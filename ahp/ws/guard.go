package ws

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Subprotocol is the WebSocket subprotocol of AHP. A browser also offers
// "bearer.<token>", which is never selected.
const Subprotocol = "ahp"

const (
	bearerProtocol = "bearer."
	openedProtocol = "opened."
)

// maxOpened limits the id of an opened link, in bytes.
const maxOpened = 64

// Opened returns the subprotocols that a client offers to name the link that it opened. The
// id is a random text of the client's choice, of at most 64 bytes.
func Opened(id string) []string { return []string{Subprotocol, openedProtocol + id} }

// OpenedLink returns the id of the link that a client opened, or "". It tells apart those
// who share a token; it proves nothing.
func OpenedLink(r *http.Request) string {
	for _, p := range offered(r) {
		if id, ok := strings.CutPrefix(p, openedProtocol); ok && len(id) <= maxOpened {
			return id
		}
	}
	return ""
}

// Token is a secret with what it grants.
type Token struct {
	// Secret is the text that clients send. The empty text matches no request.
	Secret string
	// Role is a role of package access (ahp/PROTOCOL.md section 14.3), or one that a
	// program defines for its endpoints.
	Role string
	// ClientID is the only client id that may use the token. "" means any.
	ClientID string
	// Name is what people call the token. It is in audits, so it must not be secret.
	Name string
}

// Grant is what a token allows.
type Grant struct {
	// Role is the token's role.
	Role string
	// ClientID is the token's client id, or "" for any.
	ClientID string
	// Token identifies the token without disclosing it ([TokenID]). It is "" if there is
	// none, for example for a connection that the program accepted itself.
	Token string
	// Name is what people call the token, or "".
	Name string
	// Loopback says that the connection's browser or program is on this machine, or reaches
	// it as if it were: addresses of localhost work there.
	Loopback bool
}

// TokenID returns the text that identifies a token in lists, records and audits: the
// first 16 hex digits of its SHA-256.
func TokenID(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:8])
}

// Guard checks the requests of a listener: those of the WebSocket, of the agent's
// endpoint and of the page. A Guard without hosts or tokens rejects all requests.
type Guard struct {
	// Hosts are the permitted values of the Host header (name and port). They are
	// checked first, which prevents DNS rebinding.
	Hosts []string
	// Origins are the web origins that may connect. A request without Origin does not
	// come from a web page and is permitted. The origin "null" never is.
	Origins []string
	// Tokens are the accepted tokens.
	Tokens []Token
	// Lookup finds a token that is not in Tokens, for example one that can be revoked. It
	// must compare in constant time. It may be nil.
	Lookup func(secret string) (Grant, bool)
	// QueryToken accepts the token as ?tkn= in the URL, which appears in histories and
	// logs. Set it only for a listener on a loopback address.
	QueryToken bool
}

// Refusal is the reason why a Guard rejected a request.
type Refusal struct {
	// Status is the HTTP status of the answer.
	Status int
	// Reason is one sentence for people.
	Reason string
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// Write answers the request with the status and the reason.
func (r *Refusal) Write(w http.ResponseWriter) {
	if r.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, r.Reason, r.Status)
}

// CheckAddress checks Host (421) and Origin (403), but no token. It guards the page's
// files.
func (g *Guard) CheckAddress(r *http.Request) *Refusal {
	if !slices.ContainsFunc(g.Hosts, func(h string) bool { return strings.EqualFold(h, r.Host) }) {
		return &Refusal{http.StatusMisdirectedRequest, "this host is not known under that name"}
	}
	switch origins := r.Header["Origin"]; {
	case len(origins) == 0:
		return nil
	case len(origins) > 1 || origins[0] == "null" || !slices.Contains(g.Origins, origins[0]):
		return &Refusal{http.StatusForbidden, fmt.Sprintf("the origin %q may not connect", origins[0])}
	}
	return nil
}

// Check is CheckAddress and then a check of the token: 401 if it is absent or unknown,
// 403 if its role is not among roles. Without roles, any role is permitted.
func (g *Guard) Check(r *http.Request, roles ...string) (Grant, *Refusal) {
	if ref := g.CheckAddress(r); ref != nil {
		return Grant{}, ref
	}
	grant, ok := g.Match(g.RequestToken(r))
	if !ok {
		return Grant{}, &Refusal{http.StatusUnauthorized, "a valid token is needed"}
	}
	if len(roles) > 0 && !slices.Contains(roles, grant.Role) {
		return Grant{}, &Refusal{http.StatusForbidden, "the role of this token does not permit this endpoint"}
	}
	return grant, nil
}

// RequestToken returns the token of a request, or "". It uses the first place that has
// one, so that a valid token in the query does not replace an invalid header.
func (g *Guard) RequestToken(r *http.Request) string {
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

// RemoveToken removes the token from a request that passed the guard, so that a handler
// that forwards the request does not disclose it. It changes the request's headers and
// URL in place.
func (g *Guard) RemoveToken(r *http.Request) {
	r.Header.Del("Authorization")
	if protocols := offered(r); slices.ContainsFunc(protocols, isBearer) {
		r.Header.Del("Sec-Websocket-Protocol")
		if rest := slices.DeleteFunc(protocols, isBearer); len(rest) > 0 {
			r.Header.Set("Sec-Websocket-Protocol", strings.Join(rest, ", "))
		}
	}
	if query := r.URL.Query(); g.QueryToken && query.Has("tkn") {
		query.Del("tkn")
		r.URL.RawQuery = query.Encode()
		r.RequestURI = r.URL.RequestURI()
	}
}

func isBearer(protocol string) bool { return strings.HasPrefix(protocol, bearerProtocol) }

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

// Match returns the grant of a token. It compares with every token of the guard, in a
// time that does not depend on their texts.
func (g *Guard) Match(token string) (Grant, bool) {
	var grant Grant
	found := false
	have := sha256.Sum256([]byte(token))
	for _, t := range g.Tokens {
		want := sha256.Sum256([]byte(t.Secret))
		if subtle.ConstantTimeCompare(have[:], want[:]) == 1 && t.Secret != "" {
			grant, found = Grant{Role: t.Role, ClientID: t.ClientID, Token: hex.EncodeToString(want[:8]), Name: t.Name}, true
		}
	}
	if !found && token != "" && g.Lookup != nil {
		return g.Lookup(token)
	}
	return grant, found
}
