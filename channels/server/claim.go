package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// The codes of a refused client id, in the data of the error.
const (
	codeInUse      = "client_in_use"
	codeOtherToken = "client_of_another_token"
)

// claimData is the data of a refused client id.
type claimData struct {
	Code string `json:"code"`
}

var (
	errInUse = ahp.Errorf(ahp.CodePermissionDenied, "another connection uses this clientId: choose another one, or send the resume secret of its initialize").
			With(claimData{codeInUse})
	errOtherToken = ahp.Errorf(ahp.CodePermissionDenied, "this clientId belongs to another token: choose another one, or use that token").
			With(claimData{codeOtherToken})
)

// endingTime is how long a handshake waits for another connection of its client that is
// about to end: a client that closes one and opens the next is not refused because the
// host reads the close a moment later.
const endingTime = 250 * time.Millisecond

// probeTime is how long the other connection has to answer a ping. A client without the
// resume secret whose network vanished waits no longer to reconnect.
const probeTime = 3 * time.Second

// claimSoon is claim, which it repeats while another connection of the client might end.
func (t *clients) claimSoon(ctx context.Context, c *conn, shown string, fresh bool) (secret string, replaced []*conn, err error) {
	var asked time.Time
	var check <-chan time.Time
	for {
		ended := t.nextEnd()
		if secret, replaced, err = t.claim(c, shown, fresh); err != error(errInUse) {
			return secret, replaced, err
		}
		if check == nil {
			ticker := time.NewTicker(endingTime)
			defer ticker.Stop()
			asked, check = time.Now(), ticker.C
			for _, other := range t.connsOf(c.sub.ClientID) {
				other.peer.Probe(probeTime)
			}
		}
		select {
		case <-ended:
		case <-check:
			if since := time.Since(asked); since > probeTime+endingTime || t.answered(c.sub.ClientID, since) {
				return "", nil, err
			}
		case <-ctx.Done():
			return "", nil, ctx.Err()
		}
	}
}

// answered reports whether a connection of a client has answered within a time.
func (t *clients) answered(id string, within time.Duration) bool {
	return slices.ContainsFunc(t.connsOf(id), func(c *conn) bool { return c.peer.Alive(within) })
}

func (t *clients) connsOf(id string) []*conn {
	known, _ := t.recall(id)
	return known.conns
}

// nextEnd returns a channel that is closed when a connection has ended.
func (t *clients) nextEnd() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends == nil {
		t.ends = make(chan struct{})
	}
	return t.ends
}

// claim makes a connection that of its client, unless the client id belongs to another
// token or connection (ahp/PROTOCOL.md section 2g). It returns the client's resume
// secret, or "" if the connection did not show it and fresh is false, and the connections
// that the new one replaces.
func (t *clients) claim(c *conn, shown string, fresh bool) (secret string, replaced []*conn, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cl := t.known[c.sub.ClientID]
	proven := cl != nil && cl.secret != "" && subtle.ConstantTimeCompare([]byte(shown), []byte(cl.secret)) == 1
	if cl != nil {
		if err := cl.admits(c, proven); err != nil {
			return "", nil, err
		}
		replaced = append(replaced, cl.conns...)
	}
	for _, old := range replaced { // its bookmark is not the client's any more
		old.replaced = true
	}
	t.add(c)
	cl = t.known[c.sub.ClientID]
	cl.token = c.grant.Token
	switch {
	case proven:
	case fresh || cl.secret == "":
		cl.secret = rand.Text()
	default:
		return "", replaced, nil
	}
	return cl.secret, replaced, nil
}

// admits returns an error if a connection may not be one of the client's.
func (cl *client) admits(c *conn, proven bool) error {
	switch {
	case cl.secret == "": // from before a restart: only a role that can declare has been listed
		if cl.token != "" && cl.token != c.grant.Token && c.grant.ClientID == "" && c.server.opens(cl.token) {
			return errOtherToken // unless the token names the client
		}
		if c.rights.Of("session/activeClientSet") == access.Denied {
			return errOtherToken
		}
	case cl.token != c.grant.Token && (c.grant.ClientID == "" || c.grant.Token == ""):
		return errOtherToken // unless the token names the client
	case len(cl.conns) > 0 && !proven && c.grant.ClientID == "":
		return errInUse // a token that names the client needs no secret
	}
	return nil
}

// replace closes the connections that a newer one of the same client replaces, unless the
// client moved to it. They have left their channels when it returns.
func (s *Server) replace(old []*conn, moved bool) {
	for _, c := range old {
		if !moved {
			c.peer.Close(ws.CodeReplaced, "another connection of this client took over")
		}
		s.log.Leave(c.sub)
	}
}
