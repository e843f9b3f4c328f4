package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// control is the host's end of a control connection.
type control struct {
	u    *Uplink
	conn *ws.Conn
	mu   sync.Mutex // one writer at a time
}

// connectOnce connects, registers and accepts offers until the connection ends.
// When ctx is canceled, it sends a drain and closes the connection.
func (u *Uplink) connectOnce(ctx context.Context) (registered bool, err error) {
	opts := u.opts.Conn
	opts.ReadLimit = messageLimit
	conn, err := u.dial(ctx, u.base, "host", u.opts.Host, u.opts.Token, opts)
	if err != nil {
		return false, err
	}
	defer conn.Wait()
	defer conn.Close(ws.CodeNormal, "")
	c := &control{u: u, conn: conn}
	if err := c.register(ctx); err != nil {
		return false, err
	}
	u.opts.Logger.Info("registered with the relay", "host", u.opts.Host)
	u.opts.Progress(Progress{State: Registered})
	defer context.AfterFunc(ctx, func() {
		c.send(message{Type: typeDrain})
		conn.Close(hostGoingAway.Code, hostGoingAway.Reason)
	})()
	return true, c.readOffers(ctx)
}

// register sends the registration and waits for the response.
func (c *control) register(ctx context.Context) error {
	late := time.AfterFunc(c.u.opts.Handshake, func() { c.conn.Close(ws.CodePolicy, "no answer to the registration") })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { c.conn.Close(ws.CodeNormal, "") })()
	c.send(message{Type: typeRegister, Generation: c.u.opts.Generation})
	m, err := c.read()
	if err == nil && m.Type != typeRegistered {
		err = fmt.Errorf("relay: message of type %q, want the response to the registration", m.Type)
	}
	return err
}

// readOffers handles the relay's messages until the connection ends.
func (c *control) readOffers(ctx context.Context) error {
	for {
		m, err := c.read()
		switch {
		case err != nil:
			return err
		case m.Type == typeDrain:
			c.conn.Close(ws.CodeGoingAway, "the relay drains") // reconnect: another edge can accept the host
		case m.Type == typeLane:
			if !c.u.lanes.open(func() { c.dialBack(ctx, m) }) {
				c.send(message{Type: typeDecline, Lane: m.Lane})
			}
		}
	}
}

// read returns the next message, or ErrSuperseded if the relay closed the
// connection with CodeSuperseded.
func (c *control) read() (message, error) {
	data, err := c.conn.ReadMessage()
	if ws.CodeOf(err) == CodeSuperseded {
		return message{}, ErrSuperseded
	}
	if err != nil {
		return message{}, err
	}
	m, err := decode(data)
	if err != nil {
		c.conn.Close(ws.CodePolicy, "a message is not valid")
	}
	return m, err
}

// send writes a message. An error is ignored because read returns it as well.
func (c *control) send(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.WriteBatch([][]byte{m.encode()})
}

// dialBack opens a lane and serves it until it ends.
func (c *control) dialBack(ctx context.Context, offer message) {
	u := c.u
	conn, info, err := c.openLane(ctx, offer)
	if err != nil {
		u.opts.Logger.Info("cannot open lane", "lane", offer.Lane, "err", err)
		c.send(message{Type: typeDecline, Lane: offer.Lane})
		return
	}
	u.lanes.serve(conn, func(ctx context.Context) { u.opts.Serve(ctx, conn, info) })
}

func (c *control) openLane(ctx context.Context, offer message) (*ws.Conn, LaneInfo, error) {
	u := c.u
	base, err := u.edge(offer.Edge)
	if err != nil {
		return nil, LaneInfo{}, err
	}
	release, err := u.lanes.acquireDial(ctx)
	if err != nil {
		return nil, LaneInfo{}, err
	}
	defer release()
	opts := u.opts.Conn
	if opts.ReadLimit == 0 {
		opts.ReadLimit = ws.HandshakeReadLimit
	}
	conn, err := u.dial(ctx, base, "lane", offer.Lane, offer.Secret, opts)
	if err != nil {
		return nil, LaneInfo{}, err
	}
	late := time.AfterFunc(u.opts.Handshake, func() { conn.Close(ws.CodePolicy, "no opening message") })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { conn.Close(hostGoingAway.Code, hostGoingAway.Reason) })()
	data, err := conn.ReadMessage()
	if err == nil {
		var m message
		if m, err = decode(data); err == nil && m.Type == typeOpen {
			return conn, LaneInfo{Lane: offer.Lane, Subject: m.Subject, ClientID: m.ClientID, Person: m.Person}, nil
		}
	}
	conn.Close(ws.CodePolicy, "no opening message")
	conn.Wait()
	return nil, LaneInfo{}, errors.Join(errors.New("relay: lane got no opening message"), err)
}
