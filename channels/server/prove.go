package server

import (
	"crypto/rand"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Credentials are the host's own tokens. A client whose connection came in another way, for
// example through a relay, shows one in its handshake (ahp/PROTOCOL.md section 14.5).
type Credentials interface {
	// Prove returns what a token grants, by its id, if proof is that of the client id and
	// the challenge.
	Prove(shown ahp.ShownToken, clientID, challenge string) (ws.Grant, error)
	// Redeem exchanges an invitation for a token, which the result of initialize carries.
	Redeem(invitation string) (ws.Grant, ahp.Value, error)
}

// opening is what a connection needs until its handshake.
type opening struct {
	timer     *time.Timer // closes the connection if its handshake does not come in time
	challenge string
	minted    ahp.Value // the token for which an invitation was exchanged
}

// challengeData is the data of the error that asks for a proof.
type challengeData struct {
	Code      string `json:"code"`
	Challenge string `json:"challenge"`
}

// prove takes the token that a handshake shows. It returns false if the message has been
// answered.
func (c *conn) prove(req *peer.Request) bool {
	if c.server.credentials == nil || c.grant.Token != "" || c.sub != nil || req.Method != ahp.Initialize.Name && req.Method != ahp.Reconnect.Name {
		return true
	}
	var p struct {
		ClientID string               `json:"clientId"`
		Meta     map[string]ahp.Value `json:"_meta"`
	}
	if ahp.Unmarshal(req.Params, &p) != nil {
		return true // the handshake reports it
	}
	shown, ok := ahp.Shown(p.Meta)
	if !ok {
		return true
	}
	grant, err := c.credential(shown, p.ClientID)
	if err == nil {
		err = c.upgrade(grant)
	}
	if err != nil {
		c.record(req.Method, "", err)
		req.Fail(err)
		return false
	}
	return true
}

// credential returns the grant of what a client shows.
func (c *conn) credential(shown ahp.ShownToken, clientID string) (grant ws.Grant, err error) {
	o := c.opening
	switch {
	case shown.Invitation != "":
		grant, o.minted, err = c.server.credentials.Redeem(shown.Invitation)
		return grant, err
	case shown.Proof == "" || o.challenge == "":
		o.challenge = rand.Text()
		return ws.Grant{}, ahp.Errorf(ahp.CodePermissionDenied, "prove the token with this challenge").With(challengeData{ahp.CodeProofRequired, o.challenge})
	}
	challenge := o.challenge
	o.challenge = "" // good once
	return c.server.credentials.Prove(shown, clientID, challenge)
}

// upgrade gives a connection what a token grants.
func (c *conn) upgrade(grant ws.Grant) error {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opens(grant.Token) {
		return ahp.Errorf(ahp.CodePermissionDenied, tokenEnded)
	}
	c.grant = grant
	if s.roles {
		c.rights = access.For(grant.Role)
	}
	return nil
}

// handshakeMeta returns the _meta of the answer to initialize.
func (c *conn) handshakeMeta(secret string) map[string]ahp.Value {
	meta := ahp.ResumeMeta(secret)
	if minted := c.opening.minted; minted != nil && meta != nil {
		meta[ahp.MetaToken] = minted
	}
	return meta
}
