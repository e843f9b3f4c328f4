package server

import (
	"errors"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Dialects are other versions of the protocol, which are translated at the edge: the log
// and the methods know only the server's own.
type Dialects interface {
	// Negotiate returns the dialect of a client, by the params of its initialize; nil if the
	// client speaks the server's version, or if the server has to refuse it. An error refuses
	// the handshake.
	Negotiate(params ahp.Value) (Dialect, error)
}

// Dialect is what a client has negotiated. The server remembers it with the client.
type Dialect interface {
	// Translator returns a translator for one connection, which has a grant.
	Translator(grant ws.Grant) Translator
	// Capabilities are added to those of the connection.
	Capabilities() []string
}

// Translator translates the messages of one connection.
type Translator interface {
	// Receive translates a message of the client. It is called in the order of the
	// messages. An error answers it.
	Receive(m Message) (Message, error)
	// Send translates a message to the client, a JSON text, into those that the client gets
	// in its place, which may be none. It is called by one goroutine at a time, in the order
	// of the messages.
	Send(text []byte) [][]byte
}

// spoken is the dialect of a connection, if it is not the server's own version.
type spoken struct {
	dialect    Dialect
	translator Translator
}

// dialect returns what the client remembers.
func (c *conn) dialect() Dialect {
	if c.spoken == nil {
		return nil
	}
	return c.spoken.dialect
}

// Message is a request or a notification of a client.
type Message struct {
	// ID is the id of a request as it was sent; nil for a notification.
	ID []byte
	// Method is the method.
	Method string
	// Params are the params; nil if absent.
	Params ahp.Value
	// Subscribe makes the message a subscription to these channels at once. The result has
	// a list of snapshots.
	Subscribe []string
	// Unsubscribe makes the message the end of these subscriptions.
	Unsubscribe []string
	// Answer, if not nil, is the result of the request, which is not handled further. A
	// notification that has one is dropped.
	Answer ahp.Value
}

// translate translates a message. It returns false if the message has been handled.
func (c *conn) translate(req *peer.Request) bool {
	if err := c.chooseDialect(req); err != nil {
		req.Fail(err)
		if e, ok := errors.AsType[*ahp.Error](err); ok && e.Code == ahp.CodeUnsupportedProtocolVersion {
			c.peer.Close(ws.CodePolicy, "unsupported protocol version")
		}
		return false
	}
	if c.spoken == nil {
		return true
	}
	m, err := c.spoken.translator.Receive(Message{ID: req.ID(), Method: req.Method, Params: req.Params})
	switch {
	case err != nil:
		req.Fail(err)
		return false
	case m.Answer != nil:
		req.Reply(m.Answer)
		return false
	}
	req.Method, req.Params = m.Method, m.Params
	switch {
	case c.sub == nil, m.Subscribe == nil && m.Unsubscribe == nil:
		return true
	case m.Subscribe != nil:
		c.subscribeAll(req, m.Subscribe)
	}
	for _, uri := range m.Unsubscribe {
		c.unsubscribeFrom(uri)
	}
	return false
}

// chooseDialect sets the translator before a handshake that needs one.
func (c *conn) chooseDialect(req *peer.Request) error {
	if c.sub != nil {
		return nil
	}
	var chosen Dialect
	switch req.Method {
	case ahp.Initialize.Name:
		var err error
		if chosen, err = c.server.dialects.Negotiate(req.Params); err != nil {
			return err
		}
	case ahp.Reconnect.Name:
		var p ahp.ReconnectParams
		if ahp.Unmarshal(req.Params, &p) != nil {
			return nil // the handshake reports it
		}
		if known, ok := c.server.clients.recall(p.ClientID); ok {
			chosen = known.dialect
		}
	default:
		return nil
	}
	c.spoken = nil
	if chosen == nil {
		c.peer.Rewrite(nil)
		return nil
	}
	c.spoken = &spoken{chosen, chosen.Translator(c.grant)}
	c.peer.Rewrite(c.spoken.translator.Send)
	return nil
}

// dialectCaps returns the capabilities with those of the connection's dialect.
func (c *conn) dialectCaps(caps ahp.Capabilities) ahp.Capabilities {
	if c.spoken == nil {
		return caps
	}
	caps = append(caps, c.spoken.dialect.Capabilities()...)
	slices.Sort(caps)
	return caps
}

// subscribeAll subscribes the connection to several channels in one transaction.
func (c *conn) subscribeAll(req *peer.Request, uris []string) {
	err := c.server.log.Update(func(tx *channels.Tx) error {
		var snaps []*channels.Snapshot
		for _, uri := range uris {
			snap, err := c.subscribeTo(tx, uri)
			if err != nil {
				return err
			}
			if snap != nil {
				snaps = append(snaps, snap)
			}
		}
		replySnapshots(req, []byte(`{"snapshots":[`), snaps, []byte(`]}`))
		c.countSubscriptions(&tx.ReadTx)
		return nil
	})
	if err != nil {
		req.Fail(err)
	}
}
