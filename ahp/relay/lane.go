package relay

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// lane is one client with the connection that its host dials back for it.
type lane struct {
	id, secret string
	host       string
	grant      Grant
	person     string
	client     *ws.Conn

	// ctx ends the lane. Its cause is a *ws.CloseError, which both ends receive.
	ctx context.Context
	end context.CancelCauseFunc

	// Guarded by the edge's mutex.
	claimed     bool // the secret was used
	forgotten   bool // it is too late for the host to dial back
	generation  int64
	hostConn    *ws.Conn
	hostArrived chan struct{} // closed when hostConn is set

	hostReturned chan struct{} // receives when the host registers, see startup.go
	traffic      traffic
	noticed      time.Time    // when the host was notified that the edge drains; used by Drain alone
	answer       atomic.Int32 // of the host to that: unknown, stays or moves
}

// serveClient accepts a client and makes a lane for it. It reports errors after
// the upgrade by a close code.
func (e *Edge) serveClient(w http.ResponseWriter, r *http.Request, host string) {
	grant, ok := e.authorize(w, r, e.clients, ForClient, host)
	if !ok {
		return
	}
	conn, err := ws.Upgrade(w, r, e.opts.conn(e.opts.ClientMessage))
	if err != nil {
		e.refused(RefusedUpgrade)
		return
	}
	from := origin{e.opts.Proxies.Client(r), ws.OpenedLink(r)}
	ctx := e.ctx
	if parent, ok := trace.Parse(r.Header.Get("Traceparent")); ok && e.opts.Trace != nil {
		ctx = trace.With(ctx, parent)
	}
	if !e.start(func() { e.trace(ctx, conn, host, grant, from) }) {
		e.reject(conn, RefusedClosing, goingAway)
		conn.Wait()
	}
}

// reject counts a refusal and closes the connection.
func (e *Edge) reject(conn *ws.Conn, why Reason, how *ws.CloseError) {
	e.refused(why)
	conn.Close(how.Code, how.Reason)
}

// origin is where a client comes from: its address, and the id of the link that it opened.
type origin struct {
	addr   netip.Prefix
	opened string
}

// trace is admit, recorded as a span.
func (e *Edge) trace(ctx context.Context, client *ws.Conn, host string, grant Grant, from origin) {
	ctx, span := e.opts.Trace.Start(ctx, "relay lane")
	span.Set("relay.host", host)
	span.End(string(e.admit(ctx, client, host, grant, from)))
}

// admit serves a client until it disconnects. It returns why the client was refused; ""
// if it was not.
func (e *Edge) admit(ctx context.Context, client *ws.Conn, host string, grant Grant, from origin) (why Reason) {
	defer client.Wait()
	if e.isDraining() {
		e.reject(client, RefusedClosing, goingAway)
		return RefusedClosing
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	place, why := e.quotas.take(host, grant, from.addr, from.opened, func() { e.count.evicted.Add(1); end(evicted) })
	if why != "" {
		e.reject(client, why, &ws.CloseError{Code: CodeTooMany, Reason: limitReasons[why]})
		return why
	}
	defer e.quotas.release(place)
	l := e.newLane(ctx, end, client, host, grant, e.person(grant, from, place))
	defer e.forget(l)
	if grant.Valid != nil {
		defer context.AfterFunc(grant.Valid, func() { l.end(withdrawn) })()
	}
	defer e.watch(host)()
	began := time.Now()
	_, joining := e.opts.Trace.Start(ctx, "relay join")
	why, err := e.connectHost(l)
	joining.End(string(why))
	if err != nil {
		e.reject(client, why, err)
		return why
	}
	e.count.joined.note(time.Since(began))
	e.join(l)
	return ""
}

var limitReasons = map[Reason]string{
	RefusedClient:   "too many connections of this client",
	RefusedNetwork:  "too many connections from this address",
	RefusedRate:     "too many new connections",
	RefusedHostFull: "too many connections to this host",
	RefusedEdgeFull: "the relay is full",
}

var (
	withdrawn  = &ws.CloseError{Code: CodeWithdrawn, Reason: "the token was withdrawn or has expired"}
	superseded = &ws.CloseError{Code: CodeSuperseded, Reason: "the host restarted"}
	unknown    = &ws.CloseError{Code: ws.CodeTryLater, Reason: "the relay cannot look for this host now; try again"}
	offline    = &ws.CloseError{Code: CodeHostOffline, Reason: "host offline"}
	noAnswer   = &ws.CloseError{Code: CodeHostOffline, Reason: "the host did not answer"}
	clientGone = &ws.CloseError{Code: CodePeerLost, Reason: "the client disconnected"}
	evicted    = &ws.CloseError{Code: CodeTooMany, Reason: "others who opened this link have no connection"}
)

func (e *Edge) newLane(ctx context.Context, end context.CancelCauseFunc, client *ws.Conn, host string, grant Grant, person string) *lane {
	l := &lane{
		id: e.opts.NewSecret(), secret: e.opts.NewSecret(), host: host, grant: grant, person: person, client: client,
		ctx: ctx, end: end, hostArrived: make(chan struct{}), hostReturned: make(chan struct{}, 1),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lanes[l.id] = l
	e.waiting++
	return l
}

// person names a token, the address from which it is used and the opened link, if the edge
// distinguishes it. The key keeps a host from finding the address by trying all.
func (e *Edge) person(grant Grant, from origin, in *place) string {
	mac := hmac.New(sha256.New, e.key[:])
	mac.Write([]byte(grant.counted()))
	if limited(from.addr) {
		mac.Write([]byte(" " + from.addr.String()))
	}
	if in.apart {
		mac.Write([]byte(" " + from.opened))
	}
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// connectHost asks the host to dial back and waits until it has. If the host is
// not registered but might return (see startup.go), connectHost waits for it
// first.
func (e *Edge) connectHost(l *lane) (Reason, *ws.CloseError) {
	defer l.watchClient()()
	for {
		mayReturn := e.mayReturn(l.host) // before offerLane: a host that registers in between is in hostReturned
		reason, refusal := e.offerLane(l)
		switch {
		case reason != RefusedOffline || !mayReturn:
			return reason, refusal
		case e.awaitHost(l):
			continue
		case l.ctx.Err() != nil:
			return l.refused()
		}
		return reason, refusal
	}
}

// watchClient ends the lane if its client disconnects while it waits for the host: an
// unused lane would count until the handshake timeout. The caller must call stop before the
// lane is joined.
func (l *lane) watchClient() (stop func()) {
	ctx, cancel := context.WithCancel(l.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := l.client.ReadAhead(ctx); err != nil {
			l.end(clientGone)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// offerLane offers the lane to a registered host and waits until it dials back.
func (e *Edge) offerLane(l *lane) (Reason, *ws.CloseError) {
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
	case errors.Is(err, ErrUnavailable):
		return RefusedUnknown, unknown
	case err != nil && ctx.Err() == nil:
		e.opts.Logger.Error("cannot signal the host", "host", l.host, "err", err)
		return RefusedInternal, noAnswer
	}
	e.setGeneration(l, generation)
	select {
	case <-l.hostArrived:
		return "", nil
	case <-ctx.Done():
	}
	if l.ctx.Err() == nil {
		return RefusedNoAnswer, noAnswer
	}
	return l.refused()
}

// refused returns the refusal of a client whose lane was ended before it opened.
func (l *lane) refused() (Reason, *ws.CloseError) {
	switch cause := l.cause(); cause.Code {
	case ws.CodeGoingAway:
		return RefusedClosing, cause
	case CodePeerLost:
		return RefusedLeft, cause
	default:
		return RefusedNoAnswer, cause
	}
}

// cause returns why the edge ended the lane.
func (l *lane) cause() *ws.CloseError {
	if ce, ok := errors.AsType[*ws.CloseError](context.Cause(l.ctx)); ok {
		return ce
	}
	return goingAway // the edge's context was canceled, which has no CloseError
}

// setGeneration records which run of the host received the offer. It ends the lane
// if a newer run has registered in the meantime.
func (e *Edge) setGeneration(l *lane, generation int64) {
	e.mu.Lock()
	l.generation = generation
	newest := e.newest[l.host]
	if r := e.hosts[l.host]; r != nil {
		newest = max(newest, r.generation)
	}
	e.mu.Unlock()
	if newest > generation {
		l.end(superseded)
	}
}

// serveLane accepts the host's end of a lane. The secret is its only credential.
func (e *Edge) serveLane(w http.ResponseWriter, r *http.Request, id string) {
	if why, refusal := e.checkAddress(r, e.machine); refusal != nil {
		e.refuse(w, why, refusal)
		return
	}
	l := e.claim(id, e.machine.RequestToken(r))
	if l == nil {
		e.refuse(w, RefusedSecret, &ws.Refusal{Status: http.StatusUnauthorized, Reason: "no lane is waiting for this secret"})
		return
	}
	defer e.wg.Done()
	conn, err := ws.Upgrade(w, r, e.opts.conn(e.opts.HostMessage))
	if err != nil {
		e.refused(RefusedUpgrade)
		l.end(noAnswer) // the secret is used up
		return
	}
	conn.OnPing(l.answered)
	hello := message{Type: typeOpen, Subject: l.grant.Subject, ClientID: l.grant.ClientID, Person: l.person}
	if e.fleet != nil {
		hello.Client, hello.Lanes = clientName(l.grant), cmp.Or(l.grant.Lanes, e.opts.LanesPerClient)
	}
	err = conn.WriteBatch([][]byte{hello.encode()})
	e.mu.Lock()
	late := l.forgotten || err != nil
	if !late {
		l.hostConn = conn
		e.waiting--
		close(l.hostArrived)
	}
	e.mu.Unlock()
	if late {
		conn.Close(clientGone.Code, clientGone.Reason)
		conn.Wait()
	}
}

// claim uses up the secret of a waiting lane and returns the lane, or nil if the
// secret matches none. The caller must call wg.Done: Close waits for it.
func (e *Edge) claim(id, secret string) *lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[id]
	if l == nil || l.claimed || l.forgotten || e.closed || subtle.ConstantTimeCompare([]byte(l.secret), []byte(secret)) != 1 {
		return nil
	}
	l.claimed = true
	e.wg.Add(1)
	return l
}

// forget ends a lane and removes it. It also closes the connection of a host that
// dialed back just as its client was rejected.
func (e *Edge) forget(l *lane) {
	l.end(nil)
	e.mu.Lock()
	l.forgotten = true
	delete(e.lanes, l.id)
	if l.hostConn == nil {
		e.waiting--
	}
	e.mu.Unlock()
	if l.hostConn != nil {
		l.hostConn.Close(clientGone.Code, clientGone.Reason) // no effect after join
		l.hostConn.Wait()
	}
}

// join copies in both directions until one end has ended, and closes the other.
func (e *Edge) join(l *lane) {
	e.count.opened.Add(1)
	e.count.lanes.Add(1)
	defer e.count.lanes.Add(-1)
	began := time.Now()
	stop := context.AfterFunc(l.ctx, func() {
		cause := l.cause()
		l.client.Close(cause.Code, cause.Reason)
		l.hostConn.Close(cause.Code, cause.Reason)
	})
	defer stop()
	var wg sync.WaitGroup
	fromHost, fromClient := l.traffic.from(false), l.traffic.from(true)
	wg.Go(func() {
		e.forward(l.client, l.hostConn, func(n int) { e.count.toClients.Add(uint64(n)); fromHost() })
	})
	e.forward(l.hostConn, l.client, func(n int) { e.count.toHosts.Add(uint64(n)); fromClient() })
	wg.Wait()
	l.hostConn.Wait()
	for _, err := range []error{l.client.Err(), l.hostConn.Err()} {
		// Err is set only for the end that stopped reading: the lane closed the other
		// one.
		if ce, ok := errors.AsType[*ws.CloseError](err); ok && ce.Code == ws.CodeSlow && ce.Err != nil {
			e.count.slow.Add(1)
		}
	}
	e.opts.Logger.Debug("lane ended", "host", l.host, "lane", l.id, "after", time.Since(began), "client", l.client.Err(), "other", l.hostConn.Err())
}

// forward copies in one direction and closes each end with the cause of the
// other. If both have ended, Close has no effect.
func (e *Edge) forward(dst, src *ws.Conn, forwarded func(int)) {
	_ = ws.Forward(dst, src, forwarded)
	if err := src.Err(); err != nil {
		dst.Close(relayedClose(err))
	}
	if err := dst.Err(); err != nil {
		src.Close(relayedClose(err))
	}
}
