package host_test

import (
	"context"
	"net"
	"slices"

	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// dropWatcher cuts the mirror's connection and resumes it.
func (r *modelRun) dropWatcher() {
	_ = r.wire.Close()
	synctest.Wait()
	if err := r.watcher.Reconnect(context.Background()); err != nil {
		r.expected = append(r.expected, func() error { return err })
	}
}

// socket opens a connection of a client, without the handshake.
func (r *modelRun) socket(c *provider) *wireConn {
	conn := &wireConn{client: c, live: true, nextID: 0, answers: map[string]frame{}, asked: map[string]bool{}}
	socket, err := ws.Dial(context.Background(), "ws://"+address+"/ahp", ws.DialOptions{
		Token: agentToken,
		NetDial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			raw, err := r.net.Dial(ctx, network, addr)
			conn.raw = raw
			return raw, err
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	conn.socket = socket
	r.conns = append(r.conns, conn)
	go conn.read()
	return conn
}

// joins updates the model for a new connection: the client is reachable, and gets the
// requests again that an older connection had received.
func (r *modelRun) joins(c *provider, conn *wireConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.causeRevival(c)
	c.conns = append(c.conns, conn)
}

func (r *modelRun) causeRevival(c *provider) {
	for _, i := range r.instances {
		if i.open && !i.ready && i.owner == c {
			i.causes++
		}
	}
}

func (r *modelRun) connect(c *provider) {
	conn := r.socket(c)
	r.joins(c, conn)
	r.initialize(c, conn, []string{host.DefaultSession})
	r.replaces(c, conn)
}

// replaces updates the model when the host has closed the client's older connection.
func (r *modelRun) replaces(c *provider, conn *wireConn) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	c.conns = []*wireConn{conn}
}

// meta shows the host that a connection is the client.
func (c *provider) meta() object {
	if c.secret == "" {
		return object{}
	}
	return object{ahp.MetaResume: c.secret}
}

func (r *modelRun) initialize(c *provider, conn *wireConn, uris []string) {
	caps := object{}
	if c.capable {
		caps["canvas"] = object{}
	}
	conn.subscribed = len(uris) > 0
	c.known = r.lives
	answer := conn.call("initialize", object{"channel": "ahp-root://", "clientId": c.id, "protocolVersions": []string{"0.6.0"},
		"initialSubscriptions": uris, "capabilities": caps, "_meta": c.meta()})
	var result ahp.InitializeResult
	if err := ahp.Unmarshal(ahp.Value(answer.Result), &result); err != nil {
		r.t.Fatalf("initialize: %v %+v", err, answer.Error)
	}
	c.secret = ahp.ResumeSecret(result.Meta)
}

// reconnect resumes a client, with or without its subscription to the session.
func (r *modelRun) reconnect(c *provider, with bool) {
	uris := []string{}
	if with {
		uris = append(uris, host.DefaultSession)
	}
	conn := r.socket(c)
	r.mu.Lock()
	leaves := !with && c.known == r.lives // an unknown client initializes, and keeps its declarations
	r.mu.Unlock()
	if leaves {
		r.leaves(c)
	}
	r.joins(c, conn)
	conn.subscribed = with
	answer := conn.call("reconnect", object{"channel": "ahp-root://", "clientId": c.id, "lastSeenServerSeq": 0, "subscriptions": uris, "_meta": c.meta()})
	if answer.Error != nil {
		r.initialize(c, conn, uris)
	}
	r.replaces(c, conn)
}

func (c *provider) subscribed() bool {
	return slices.ContainsFunc(c.conns, func(conn *wireConn) bool { return conn.subscribed })
}

// leaves withdraws a client's declarations; calls in flight have failed.
func (r *modelRun) leaves(c *provider) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.active, c.declares = false, nil
	r.lose(c, func(*modelInstance) bool { return true })
}

func (r *modelRun) lose(c *provider, which func(*modelInstance) bool) {
	c.generation++
	for _, i := range r.instances {
		if i.owner == c && which(i) {
			i.ready = false
		}
	}
}

func (r *modelRun) cut(c *provider, n int) {
	if len(c.conns) == 0 {
		return
	}
	conn := c.conns[n%len(c.conns)]
	r.mu.Lock()
	c.conns = slices.DeleteFunc(slices.Clone(c.conns), func(o *wireConn) bool { return o == conn })
	if len(c.conns) == 0 {
		c.lostAt = time.Now()
		r.lose(c, func(*modelInstance) bool { return true })
	} else {
		r.causeRevival(c) // of the requests that this connection had received
	}
	r.mu.Unlock()
	conn.cut()
}

func (r *modelRun) unsubscribe(c *provider, n int) {
	if len(c.conns) == 0 {
		return
	}
	conn := c.conns[n%len(c.conns)]
	if !conn.subscribed {
		return
	}
	conn.subscribed = false
	if !c.subscribed() {
		r.leaves(c)
	}
	conn.send(object{"jsonrpc": "2.0", "method": "unsubscribe", "params": object{"channel": host.DefaultSession}})
}

// sets are the sets of declarations that clients use; the last one is invalid.
var sets = [][]string{{}, {"a"}, {"a", "b"}, {"b"}, {"b", "a"}, {"a", "a"}}
