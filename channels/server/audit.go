package server

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Act is what a connection did: a handshake, a request or an action. It has no payload.
type Act struct {
	// Conn is the connection.
	Conn channels.ConnID
	// Grant is what its token grants.
	Grant ws.Grant
	// ClientID is its client; "" before the handshake.
	ClientID string
	// Method is the method, or the type of the action.
	Method string
	// Target is the channel, or "".
	Target string
	// Err is why it was refused, or nil.
	Err error
}

// audited are the methods that change something; those of the handshake are audited where
// the client is known.
var audited = map[string]bool{"createSession": true, "disposeSession": true}

// record tells the auditor what the connection did.
func (c *conn) record(method, target string, err error) {
	if c.server.audit == nil {
		return
	}
	a := Act{Conn: c.id, Grant: c.grant, Method: method, Target: target, Err: err}
	if c.sub != nil {
		a.ClientID = c.sub.ClientID
	}
	c.server.audit(a)
}

// Audit implements [channels.Auditor].
func (c *conn) Audit(channel, action string, refused error) { c.record(action, channel, refused) }

// recordRequest records a request of an audited method.
func (c *conn) recordRequest(info ahp.MethodInfo, req *peer.Request, err error) {
	if c.server.audit == nil || !audited[info.Name] {
		return
	}
	var p ahp.ChannelParams
	_ = ahp.Unmarshal(req.Params, &p) // without a target it was refused
	c.record(info.Name, p.Channel, err)
}
