package relay

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// lane is one client with the connection that its host dials back for it.
type lane struct {
	id, secret string
	host       string
	grant      Grant
	client     *ws.Conn

	// ctx ends the lane; its cause is a *ws.CloseError that both ends are told.
	ctx context.Context
	end context.CancelCauseFunc

	// Guarded by the edge's mutex.
	taken      bool // the secret was shown
	over       bool // a connection that comes now is too late
	generation int64
	data       *ws.Conn
	arrived    chan struct{} // closed when data is there

	hostCame chan struct{} // closed when its host registers for the first time, see settle.go
}

// clientDoor lets a client in and gives it a lane. From the upgrade on, what is
// wrong is said by a close.
func (e *Edge) clientDoor(w http.ResponseWriter, r *http.Request, host string) {
	grant, ok := e.authorize(w, r, e.clients, ForClient, host)
	if !ok {
		return
	}
	conn, err := ws.Upgrade(w, r, e.opts.conn(e.opts.ClientMessage))
	if err != nil {
		e.refused(RefusedUpgrade)
		return
	}
	if !e.start(func() { e.admit(conn, host, grant) }) {
		e.turnAway(conn, RefusedClosing, goingAway)
		conn.Wait()
	}
}

// turnAway closes a connection that does not get a lane.
func (e *Edge) turnAway(conn *ws.Conn, why Reason, how *ws.CloseError) {
	e.refused(why)
	conn.Close(how.Code, how.Reason)
}

// admit serves a client until its end.
func (e *Edge) admit(client *ws.Conn, host string, grant Grant) {
	defer client.Wait()
	if why := e.quotas.take(host, grant); why != "" {
		e.turnAway(client, why, &ws.CloseError{Code: CodeTooMany, Reason: tooMany[why]})
		return
	}
	defer e.quotas.release(host, grant)
	l := e.newLane(client, host, grant)
	defer e.forget(l)
	if grant.Valid != nil {
		defer context.AfterFunc(grant.Valid, func() { l.end(withdrawn) })()
	}
	why, err := e.callHost(l)
	if err != nil {
		e.turnAway(client, why, err)
		return
	}
	e.join(l)
}

var tooMany = map[Reason]string{
	RefusedClient:   "too many connections of this client",
	RefusedRate:     "too many new connections",
	RefusedHostFull: "too many connections to this host",
	RefusedEdgeFull: "the relay is full",
}

var (
	withdrawn  = &ws.CloseError{Code: CodeWithdrawn, Reason: "the token is not valid any more"}
	superseded = &ws.CloseError{Code: CodeSuperseded, Reason: "the host started anew"}
	offline    = &ws.CloseError{Code: CodeHostOffline, Reason: "host offline"}
	noAnswer   = &ws.CloseError{Code: CodeHostOffline, Reason: "the host did not answer"}
	clientGone = &ws.CloseError{Code: CodePeerLost, Reason: "the client is gone"}
)

func (e *Edge) newLane(client *ws.Conn, host string, grant Grant) *lane {
	l := &lane{
		id: e.opts.NewSecret(), secret: e.opts.NewSecret(), host: host, grant: grant, client: client,
		arrived: make(chan struct{}), hostCame: make(chan struct{}),
	}
	ctx, cancel := context.WithCancelCause(e.life)
	l.ctx, l.end = ctx, cancel
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lanes[l.id] = l
	e.waiting++
	return l
}

// callHost asks the host to dial back and waits until it has. A host that may be
// on its way back is waited for, and asked then.
func (e *Edge) callHost(l *lane) (Reason, *ws.CloseError) {
	mayCome := e.mayCome(l.host) // asked first: one that comes meanwhile closes hostCame
	reason, refusal := e.callNow(l)
	switch {
	case reason != RefusedOffline || !mayCome:
		return reason, refusal
	case e.awaitHost(l):
		return e.callNow(l)
	case l.ctx.Err() != nil:
		return l.refused()
	}
	return reason, refusal
}

// callNow is callHost for a host that is here.
func (e *Edge) callNow(l *lane) (Reason, *ws.CloseError) {
	ctx, cancel := context.WithTimeout(l.ctx, e.opts.Handshake)
	defer cancel()
	generation, err := e.opts.Directory.Signal(ctx, l.host, Offer{Lane: l.id, Secret: l.secret, Edge: e.opts.URL})
	switch {
	case l.ctx.Err() != nil: // ended from outside
		return l.refused()
	case errors.Is(err, ErrOffline):
		return RefusedOffline, offline
	case errors.Is(err, ErrBusy):
		return RefusedNoAnswer, noAnswer
	case err != nil && ctx.Err() == nil:
		e.opts.Logger.Error("the host cannot be reached", "host", l.host, "err", err)
		return RefusedInternal, noAnswer
	}
	e.taken(l, generation)
	select {
	case <-l.arrived:
		return "", nil
	case <-ctx.Done():
	}
	if l.ctx.Err() == nil {
		return RefusedNoAnswer, noAnswer
	}
	return l.refused()
}

// refused is how a lane that was ended from outside is turned away.
func (l *lane) refused() (Reason, *ws.CloseError) {
	cause := l.cause()
	if cause.Code == ws.CodeGoingAway {
		return RefusedClosing, cause
	}
	return RefusedNoAnswer, cause
}

// cause is why a lane was ended from outside.
func (l *lane) cause() *ws.CloseError {
	if ce, ok := errors.AsType[*ws.CloseError](context.Cause(l.ctx)); ok {
		return ce
	}
	return goingAway // the edge's own context has no such cause
}

// taken notes which run of the host has the offer, and ends the lane where a
// newer one came meanwhile.
func (e *Edge) taken(l *lane, generation int64) {
	e.mu.Lock()
	l.generation = generation
	newest := e.hosts[l.host]
	e.mu.Unlock()
	if newest != nil && newest.generation > generation {
		l.end(superseded)
	}
}

// laneDoor takes the host's end of a lane. Its secret is its only credential.
func (e *Edge) laneDoor(w http.ResponseWriter, r *http.Request, id string) {
	if why, refusal := e.judgeAddress(r, e.machine); refusal != nil {
		e.refuse(w, why, refusal)
		return
	}
	l := e.claim(id, e.machine.Presented(r))
	if l == nil {
		e.refuse(w, RefusedSecret, &ws.Refusal{Status: http.StatusUnauthorized, Reason: "no lane waits for this"})
		return
	}
	defer e.wg.Done()
	conn, err := ws.Upgrade(w, r, e.opts.conn(e.opts.HostMessage))
	if err != nil {
		e.refused(RefusedUpgrade)
		l.end(noAnswer) // the secret is used up
		return
	}
	hello := message{Type: typeOpen, Subject: l.grant.Subject, ClientID: l.grant.ClientID}
	err = conn.WriteBatch([][]byte{hello.encode()})
	e.mu.Lock()
	late := l.over || err != nil
	if !late {
		l.data = conn
		e.waiting--
		close(l.arrived)
	}
	e.mu.Unlock()
	if late {
		conn.Close(clientGone.Code, clientGone.Reason)
		conn.Wait()
	}
}

// claim uses up the secret of a lane that waits; nil where it does not fit one.
// The caller, whom Close waits for, calls wg.Done.
func (e *Edge) claim(id, secret string) *lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[id]
	if l == nil || l.taken || l.over || e.closed || subtle.ConstantTimeCompare([]byte(l.secret), []byte(secret)) != 1 {
		return nil
	}
	l.taken = true
	e.wg.Add(1)
	return l
}

// forget ends a lane's place in the books, and a host's end that came just when its
// client was turned away.
func (e *Edge) forget(l *lane) {
	l.end(nil)
	e.mu.Lock()
	l.over = true
	delete(e.lanes, l.id)
	if l.data == nil {
		e.waiting--
	}
	e.mu.Unlock()
	if l.data != nil {
		l.data.Close(clientGone.Code, clientGone.Reason) // changes nothing after join
		l.data.Wait()
	}
}

// join copies both ways until an end is gone, and tells the other.
func (e *Edge) join(l *lane) {
	e.count.opened.Add(1)
	e.count.lanes.Add(1)
	defer e.count.lanes.Add(-1)
	began := time.Now()
	stop := context.AfterFunc(l.ctx, func() {
		cause := l.cause()
		l.client.Close(cause.Code, cause.Reason)
		l.data.Close(cause.Code, cause.Reason)
	})
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { e.forward(l.client, l.data, &e.count.toClients) })
	e.forward(l.data, l.client, &e.count.toHosts)
	wg.Wait()
	l.data.Wait()
	for _, err := range []error{l.client.Err(), l.data.Err()} {
		// The end that did not read has the deadline's error; the other was told.
		if ce, ok := errors.AsType[*ws.CloseError](err); ok && ce.Code == ws.CodeSlow && ce.Err != nil {
			e.count.slow.Add(1)
		}
	}
	e.opts.Logger.Debug("lane ended", "host", l.host, "lane", l.id, "after", time.Since(began), "client", l.client.Err(), "other", l.data.Err())
}

type adder interface{ Add(uint64) uint64 }

// forward copies one way. The end that is over first is passed on; where both
// are, the first cause has been told already and Close changes nothing.
func (e *Edge) forward(dst, src *ws.Conn, count adder) {
	_ = ws.Forward(dst, src, func(n int) { count.Add(uint64(n)) })
	if err := src.Err(); err != nil {
		dst.Close(passOn(err))
	}
	if err := dst.Err(); err != nil {
		src.Close(passOn(err))
	}
}
