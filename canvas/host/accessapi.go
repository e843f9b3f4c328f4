package host

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// accessPath begins the paths at which tokens are listed, made and revoked
// (canvas/PROTOCOL.md section 9.2).
const accessPath = "/access"

// maxAccessBody limits a request's body, in bytes.
const maxAccessBody = 4 << 10

// routeAccess adds the endpoints of tokens. All need the agent's token but redeem, which
// takes an invitation.
func (h *Host) routeAccess() {
	agent := func(pattern string, fn func(w http.ResponseWriter, r *http.Request) (any, error)) {
		h.endpoints.Handle(pattern, h.sites.guarded(answered(fn), []string{RoleAgent}))
	}
	agent("GET "+accessPath+"/tokens", func(http.ResponseWriter, *http.Request) (any, error) {
		return map[string][]token.Entry{"tokens": append([]token.Entry{}, h.keys.store.List()...)}, nil
	})
	agent("POST "+accessPath+"/tokens", h.createToken)
	agent("DELETE "+accessPath+"/tokens/{id}", func(_ http.ResponseWriter, r *http.Request) (any, error) {
		e, err := h.RevokeToken(r.PathValue("id"))
		h.audit.token(nameOf(r), "token revoked", r.PathValue("id"), err)
		return e, err
	})
	agent("GET "+accessPath+"/audit", func(http.ResponseWriter, *http.Request) (any, error) {
		return map[string][]AuditEntry{"entries": h.Audit()}, nil
	})
	agent("POST "+accessPath+"/rotate", h.rotateToken)
	h.endpoints.Handle("POST "+accessPath+"/redeem", h.sites.guarded(answered(h.redeem), nil))
}

// nameOf returns the name of a request's token.
func nameOf(r *http.Request) string {
	grant, _ := GrantFrom(r.Context())
	return grant.Name
}

// answered is a handler that answers with JSON, or with {code, message}.
func answered(fn func(w http.ResponseWriter, r *http.Request) (any, error)) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		value, err := fn(w, r)
		if err != nil {
			status, failed := accessError(err)
			w.WriteHeader(status)
			value = failed
		}
		_, _ = w.Write(ahp.MustMarshal(value)) // the client may have left
	}))
}

// accessFailure is the answer to a request that failed.
type accessFailure struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	At      time.Time `json:"at,omitzero"` // when an invitation was used
}

func accessError(err error) (int, accessFailure) {
	if used, ok := errors.AsType[*token.UsedError](err); ok {
		return http.StatusGone, accessFailure{"invitation_used", used.Error(), used.At}
	}
	if errors.Is(err, token.ErrUnknown) {
		return http.StatusNotFound, accessFailure{Code: "token_unknown", Message: err.Error()}
	}
	return http.StatusBadRequest, accessFailure{Code: "token_refused", Message: err.Error()}
}

// readBody decodes a request's body.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAccessBody))
	if err != nil {
		return err
	}
	return ahp.Unmarshal(data, into)
}

// newToken is the body of a request for a token.
type newToken struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"`
	ClientID string  `json:"clientId,omitzero"`
	Seconds  float64 `json:"seconds,omitzero"` // of its life; 0 is forever
	// Invite asks for an invitation to a session instead of a token.
	Invite  bool   `json:"invite,omitzero"`
	Session string `json:"session,omitzero"` // of the link; the default one if absent
}

// createdToken is the answer: the only time that the token is shown.
type createdToken struct {
	Token string `json:"token,omitzero"`
	Link  string `json:"link,omitzero"`
	// RelayLink is the link of an invitation for people who come through the relay.
	RelayLink string `json:"relayLink,omitzero"`
	token.Entry
}

func (h *Host) createToken(w http.ResponseWriter, r *http.Request) (any, error) {
	var in newToken
	if err := readBody(w, r, &in); err != nil {
		return nil, err
	}
	if in.Session == "" {
		in.Session = DefaultSession
	}
	if in.Invite {
		code, link, err := h.invite(in.Session, in.Role, in.Name)
		h.audit.token(nameOf(r), "invitation created", in.Name, err)
		made := createdToken{Link: link}
		if relay := h.opts.RelayLink; relay != nil && code != "" {
			made.RelayLink = web.InvitationAt(relay(in.Session), code)
		}
		return made, err
	}
	secret, e, err := h.keys.store.Create(token.Request{
		Name: in.Name, Role: in.Role, ClientID: in.ClientID, Lifetime: time.Duration(in.Seconds * float64(time.Second)),
	})
	h.audit.token(nameOf(r), "token created", e.ID, err)
	return createdToken{Token: secret, Link: h.linkWith(secret, in.Session), Entry: e}, err
}

func (h *Host) rotateToken(w http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Role string `json:"role"`
	}
	if err := readBody(w, r, &in); err != nil {
		return nil, err
	}
	secret, err := h.RotateToken(in.Role)
	h.audit.token(nameOf(r), "token replaced", in.Role, err)
	return createdToken{Token: secret, Link: h.Link(DefaultSession)}, err
}

// redeem exchanges an invitation for a token of one browser.
func (h *Host) redeem(w http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Invitation string `json:"invitation"`
	}
	if err := readBody(w, r, &in); err != nil {
		return nil, err
	}
	return h.redeemed(in.Invitation)
}
