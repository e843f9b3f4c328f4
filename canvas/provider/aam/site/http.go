package site

import (
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// The paths of a site.
const (
	PathManifest  = "/.well-known/agent-actions.json"
	pathManifest2 = "/api/aam/manifest"
	PathAuthorize = "/agent/authorize"
	PathToken     = "/api/aam/token"
	PathActions   = "/api/aam/actions/"
	PathRevoke    = "/api/aam/revoke"
	PathAccount   = "/account/agents"
)

// Handler returns the site's HTTP API and pages. It needs a separate listener: strangers
// connect to it.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range []struct {
		path    string
		methods string // GET includes HEAD
		page    bool   // a person's: another site can link to it
		serve   func(http.ResponseWriter, *http.Request) *Refusal
	}{
		{PathManifest, "GET, HEAD", false, s.serveManifest},
		{pathManifest2, "GET, HEAD", false, s.serveManifest},
		{PathAuthorize, "GET, HEAD, POST", true, s.authorize},
		{PathToken, "POST", false, s.serveToken},
		{PathActions + "{id}", "POST", false, s.serveCall},
		{PathRevoke, "POST", false, s.serveRevoke},
		{PathAccount, "GET, HEAD", true, s.serveAccount},
	} {
		mux.HandleFunc(route.path, func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(route.methods+",", r.Method+",") {
				w.Header().Set("Allow", route.methods)
				s.answer(w, refuse(http.StatusMethodNotAllowed, CodeMethod, "the method is not allowed here"))
				return
			}
			if bad := s.guard(r, route.page); bad != nil {
				s.answer(w, bad)
				return
			}
			if bad := route.serve(w, r); bad != nil {
				s.answer(w, bad)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.answer(w, refuse(http.StatusNotFound, CodeNotFound, "there is nothing here; the manifest is at %s", PathManifest))
	})
	host := hostOf(s.config.Origin)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "same-origin") // with "no-referrer", a browser would not send the form's Origin
		if !strings.EqualFold(r.Host, host) {
			s.answer(w, refuse(http.StatusMisdirectedRequest, CodeMisdirected, "the host name is not this site's"))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return u.Host
}

// guard refuses requests of other web pages, and repeated headers: a proxy could read the
// other value.
func (s *Site) guard(r *http.Request, page bool) *Refusal {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	followed := page && r.Method != http.MethodPost && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	if origin != "" && origin != s.config.Origin || !followed && (site == "cross-site" || site == "same-site") {
		return refuse(http.StatusForbidden, CodeForbidden, "pages of other sites cannot use this one")
	}
	for _, name := range []string{"Authorization", "X-Payment", "X-Agent-Vendor", "X-Agent-Run-Id"} {
		if len(r.Header.Values(name)) > 1 {
			return refuse(http.StatusBadRequest, CodeBadRequest, "the header %s is repeated", name)
		}
	}
	return nil
}

// serveToken answers POST /api/aam/token.
func (s *Site) serveToken(w http.ResponseWriter, r *http.Request) *Refusal {
	raw, bad := s.readJSON(w, r)
	if bad != nil {
		return bad
	}
	var in struct {
		Code     string    `json:"code,omitzero"`
		AuthCode string    `json:"auth_code,omitzero"`
		Rest     ahp.Value `json:",embed"`
	}
	if err := ahp.Unmarshal(raw, &in); err != nil {
		return refuse(http.StatusBadRequest, CodeInvalidParams, "%v", err)
	}
	if in.Code == "" {
		in.Code = in.AuthCode
	}
	secret, t, bad := s.exchange(in.Code)
	if bad != nil {
		return bad
	}
	type limits struct {
		PerCall string `json:"per_call,omitzero"`
		PerDay  int    `json:"per_day"`
	}
	writeJSON(w, http.StatusOK, struct {
		AccessToken string    `json:"access_token"`
		AgentToken  string    `json:"agent_token"`
		TokenType   string    `json:"token_type"`
		Vendor      string    `json:"vendor"`
		Actions     []string  `json:"actions"`
		Limits      limits    `json:"limits"`
		ExpiresIn   int64     `json:"expires_in"`
		ExpiresAt   time.Time `json:"expires_at"`
	}{secret, secret, "Bearer", t.Vendor, t.Grant.Actions, limits{t.Grant.PerCall, t.Grant.PerDay}, int64(t.Expires.Sub(t.Created) / time.Second), t.Expires.UTC()})
	return nil
}

// serveRevoke answers POST /api/aam/revoke: an agent gives its token up.
func (s *Site) serveRevoke(w http.ResponseWriter, r *http.Request) *Refusal {
	secret, ok := bearer(r)
	if !ok {
		return unauthorized("a token is needed: it is the one that is given up")
	}
	hash := hashOf(secret)
	if err := s.revoke(func(t *token) bool { return t.hash == hash }); err == ErrNoToken {
		return unauthorized("the token is unknown, has ended, or was revoked")
	} else if err != nil {
		return s.storeFailed(err)
	}
	writeJSON(w, http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
	return nil
}

func (s *Site) serveAccount(w http.ResponseWriter, _ *http.Request) *Refusal {
	s.show(w, http.StatusOK, pageData{Text: "The owner of this site manages its agents in the canvas “Agents” of their own host. There are no accounts here."})
	return nil
}

// bearer returns the credential of a request.
func bearer(r *http.Request) (string, bool) {
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return secret, ok && strings.EqualFold(scheme, "Bearer") && secret != ""
}

// maxDepth bounds how deeply the parameters of a call are nested.
const maxDepth = 64

// readJSON reads a body of strict JSON.
func (s *Site) readJSON(w http.ResponseWriter, r *http.Request) (ahp.Value, *Refusal) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, CodeMediaType, "send the parameters as application/json")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.limits.Body))
	if _, large := err.(*http.MaxBytesError); large {
		return nil, refuse(http.StatusRequestEntityTooLarge, CodeTooLarge, "the body is above %d bytes", s.limits.Body)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, CodeBadRequest, "the body cannot be read")
	}
	var v ahp.Value
	if err := ahp.Unmarshal(raw, &v); err != nil {
		return nil, refuse(http.StatusBadRequest, CodeInvalidParams, "%v", err)
	}
	if depth, _ := ahp.Measure(v); depth > maxDepth {
		return nil, refuse(http.StatusBadRequest, CodeInvalidParams, "the body is nested above %d levels", maxDepth)
	}
	return v, nil
}

// answer writes a refusal.
func (s *Site) answer(w http.ResponseWriter, bad *Refusal) {
	type errorBody struct {
		Code    string  `json:"code"`
		Message string  `json:"message"`
		Path    *string `json:"path,omitzero"`
		Rule    string  `json:"rule,omitzero"`
	}
	type settled struct {
		Settled bool `json:"settled"`
	}
	body := struct {
		OK         bool        `json:"ok"`
		Error      errorBody   `json:"error"`
		Proofs     []aam.Proof `json:"accepted_identity_proofs,omitzero"`
		ConsentURL string      `json:"consent_url,omitzero"`
		Payment    *settled    `json:"payment,omitzero"`
	}{Error: errorBody{Code: bad.Code, Message: bad.Message, Rule: bad.rule}}
	if bad.Path != "" || bad.rule != "" && bad.Code == CodeInvalidParams { // "" is the parameters themselves
		body.Error.Path = &bad.Path
	}
	h := w.Header()
	if bad.RetryAfter > 0 {
		h.Set("Retry-After", seconds(bad.RetryAfter))
	}
	if bad.signIn {
		h.Set("WWW-Authenticate", "Bearer")
		body.Proofs, body.ConsentURL = s.proofs(), s.config.Origin+PathAuthorize
	}
	if bad.settled {
		body.Payment = &settled{true}
	}
	if bad.Challenge != nil {
		h.Set("X-Payment-Required", bad.Challenge.Header)
		writeJSON(w, bad.Status, bad.Challenge.Body)
		return
	}
	writeJSON(w, bad.Status, body)
}

func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := ahp.Marshal(v)
	if err != nil { // an executor's value that is no JSON
		status, raw = http.StatusBadGateway, ahp.Value(fmt.Sprintf(`{"ok":false,"error":{"code":%q,"message":"the action answered no JSON"}}`, CodeFailed))
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client has left
}
