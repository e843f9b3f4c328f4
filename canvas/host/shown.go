package host

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// shownTokens are the tokens that clients show in their handshake, for example through a
// relay. An agent's token is not one of them: a relay reaches no agent's rights.
type shownTokens struct{ h *Host }

// refusal is the data of the error that answers a handshake.
type refusal struct {
	Code string    `json:"code"`
	At   time.Time `json:"at,omitzero"` // when an invitation was used
}

// Prove implements [server.Credentials].
func (s shownTokens) Prove(shown ahp.ShownToken, clientID, challenge string) (ws.Grant, error) {
	grant, hash := s.h.keys.byID(shown.ID)
	// An unknown token takes as long as a wrong proof.
	proof := ahp.LaneProof(cmp.Or(hash, "none"), clientID, challenge)
	if subtle.ConstantTimeCompare([]byte(proof), []byte(shown.Proof)) != 1 || hash == "" || grant.Role == RoleAgent {
		return ws.Grant{}, ahp.Errorf(ahp.CodePermissionDenied, "the host does not know this token").With(refusal{Code: "token_unknown"})
	}
	return grant, nil
}

// Redeem implements [server.Credentials].
func (s shownTokens) Redeem(invitation string) (ws.Grant, ahp.Value, error) {
	made, err := s.h.redeemed(invitation)
	switch used, reused := errors.AsType[*token.UsedError](err); {
	case reused:
		return ws.Grant{}, nil, ahp.Errorf(ahp.CodePermissionDenied, "%s", used.Error()).With(refusal{"invitation_used", used.At})
	case errors.Is(err, token.ErrUnknown):
		return ws.Grant{}, nil, ahp.Errorf(ahp.CodePermissionDenied, "this invitation is not valid any more").With(refusal{Code: "token_unknown"})
	case err != nil:
		return ws.Grant{}, nil, ahp.Errorf(ahp.CodeInternal, "%s", err.Error())
	}
	return grantOf(made.Entry), ahp.MustMarshal(made), nil
}

func grantOf(e token.Entry) ws.Grant {
	return ws.Grant{Role: e.Role, ClientID: e.ClientID, Token: e.ID, Name: e.Name}
}

// redeemed exchanges an invitation for a token of one browser.
func (h *Host) redeemed(invitation string) (createdToken, error) {
	secret, e, err := h.keys.store.Redeem(invitation)
	h.audit.token("", "invitation used", e.ID, err)
	if used, ok := errors.AsType[*token.UsedError](err); ok {
		h.reused(used)
	}
	return createdToken{Token: secret, Entry: e}, err
}
