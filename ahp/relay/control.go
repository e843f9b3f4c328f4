package relay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// control is the host's end of a control connection.
type control struct {
	u     *Uplink
	conn  *ws.Conn
	edges Edges      // of the fleet, as the relay lists them
	mu    sync.Mutex // one writer at a time
}

// errMoving: the relay drains. The connection stays, and serves offers until the host has
// registered elsewhere.
var errMoving = errors.New("the relay drains")

// connectOnce connects, registers and accepts offers until the connection ends.
// When ctx is canceled, it sends a drain and closes the connection.
func (u *Uplink) connectOnce(ctx context.Context) (registered bool, err error) {
	opts := u.opts.Conn
	opts.ReadLimit = messageLimit
	conn, err := u.dial(ctx, u.base, "host", u.opts.Host, u.opts.Token, opts)
	if err != nil {
		return false, err
	}
	u.connections++
	c := &control{u: u, conn: conn}
	if err := c.register(ctx); err != nil {
		c.close()
		return false, err
	}
	u.opts.Logger.Info("registered with the relay", "host", u.opts.Host)
	u.opts.Progress(Progress{State: Registered})
	stop := context.AfterFunc(ctx, func() {
		c.send(message{Type: typeDrain})
		conn.Close(hostGoingAway.Code, hostGoingAway.Reason)
	})
	err = c.readOffers(ctx)
	if !errors.Is(err, errMoving) {
		stop()
		c.close()
		return true, err
	}
	if u.left != nil {
		u.left.conn.Close(ws.CodeNormal, "") // at most one
	}
	u.left = c
	u.lingering.Go(func() {
		defer stop()
		defer c.close()
		for err := err; errors.Is(err, errMoving); {
			err = c.readOffers(ctx)
		}
	})
	return true, err
}

// close closes the connection and waits for its end.
func (c *control) close() {
	c.conn.Close(ws.CodeNormal, "")
	c.conn.Wait()
}

// register sends the registration and waits for the response.
func (c *control) register(ctx context.Context) error {
	late := time.AfterFunc(c.u.opts.Handshake, func() { c.conn.Close(ws.CodePolicy, "no answer to the registration") })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { c.conn.Close(ws.CodeNormal, "") })()
	c.send(message{Type: typeRegister, Generation: c.u.opts.Generation, Connection: c.u.connections})
	m, err := c.read()
	if err == nil && m.Type != typeRegistered {
		err = fmt.Errorf("relay: message of type %q, want the response to the registration", m.Type)
	}
	if err == nil {
		c.edges, err = ParseEdges(strings.Fields(m.Edges)...)
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
			return errMoving
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
	conn, info, release, err := c.openLane(ctx, offer)
	if err != nil {
		u.opts.Logger.Info("cannot open lane", "lane", offer.Lane, "err", err)
		c.send(message{Type: typeDecline, Lane: offer.Lane})
		return
	}
	defer release()
	u.lanes.serve(conn, func(ctx context.Context) { u.opts.Serve(ctx, conn, info) })
}

func (c *control) openLane(ctx context.Context, offer message) (*ws.Conn, LaneInfo, func(), error) {
	u := c.u
	base, err := u.edge(offer.Edge, c.edges)
	if err != nil {
		return nil, LaneInfo{}, nil, err
	}
	releaseDial, err := u.lanes.acquireDial(ctx)
	if err != nil {
		return nil, LaneInfo{}, nil, err
	}
	defer releaseDial()
	opts := u.opts.Conn
	if opts.ReadLimit == 0 {
		opts.ReadLimit = ws.HandshakeReadLimit
	}
	conn, err := u.dial(ctx, base, "lane", offer.Lane, offer.Secret, opts)
	if err != nil {
		return nil, LaneInfo{}, nil, err
	}
	drained := onDrain(conn) // before anything is read
	late := time.AfterFunc(u.opts.Handshake, func() { conn.Close(ws.CodePolicy, "no opening message") })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { conn.Close(hostGoingAway.Code, hostGoingAway.Reason) })()
	m, err := readOpen(conn)
	if err != nil {
		conn.Close(ws.CodePolicy, "no opening message")
		conn.Wait()
		return nil, LaneInfo{}, nil, err
	}
	release, ok := u.lanes.countClient(m.Client, m.Lanes)
	if !ok {
		conn.Close(CodeTooMany, limitReasons[RefusedClient])
		conn.Wait()
		return nil, LaneInfo{}, nil, errors.New("relay: " + limitReasons[RefusedClient])
	}
	return conn, LaneInfo{Lane: offer.Lane, Subject: m.Subject, ClientID: m.ClientID, Person: m.Person, OnDrain: drained}, release, nil
}

// readOpen reads the first message of a lane.
func readOpen(conn *ws.Conn) (message, error) {
	data, err := conn.ReadMessage()
	if err != nil {
		return message{}, fmt.Errorf("relay: lane got no opening message: %w", err)
	}
	m, err := decode(data)
	if err == nil && m.Type != typeOpen {
		err = fmt.Errorf("relay: the first message of a lane has type %q, want %q", m.Type, typeOpen)
	}
	return m, err
}
