package relay

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// registration is a host's control connection.
type registration struct {
	edge       *Edge
	host       string
	generation int64
	connection int64 // its number in the host's run; 0 if the host does not number them
	conn       *ws.Conn

	writer sync.WaitGroup // the goroutine that writes, if there is something to write

	mu       sync.Mutex
	offers   []Offer // at most LanesPerHost: more if the host does not read, which is ErrBusy
	answered bool    // the registration's answer is written, or being written
	moving   bool    // the host must register elsewhere
	moved    bool    // another registration has replaced it, here or at another edge
	writing  bool    // writer runs
	ready    bool    // the registration is made and has not ended, so the host can be written to
}

// Limits on the messages of a host on its control connection, per second and at
// once.
const controlRate, controlBurst = 200, 1000

// serveHost accepts a host's control connection.
func (e *Edge) serveHost(w http.ResponseWriter, r *http.Request, host string) {
	grant, ok := e.authorize(w, r, e.machine, ForHost, host)
	if !ok {
		return
	}
	conn, err := ws.Upgrade(w, r, e.opts.conn(messageLimit))
	if err != nil {
		e.refused(RefusedUpgrade)
		return
	}
	reg := &registration{edge: e, host: host, conn: conn}
	if !e.start(func() { reg.serve(grant) }) {
		e.reject(conn, RefusedClosing, goingAway)
		conn.Wait()
	}
}

// serve registers the host and serves its control connection until it ends.
func (r *registration) serve(grant Grant) {
	defer r.conn.Wait()
	defer context.AfterFunc(r.edge.ctx, func() { r.conn.Close(goingAway.Code, goingAway.Reason) })()
	if grant.Valid != nil {
		defer context.AfterFunc(grant.Valid, func() { r.conn.Close(withdrawn.Code, withdrawn.Reason) })()
	}
	if r.edge.isDraining() {
		r.edge.reject(r.conn, RefusedClosing, goingAway)
		return
	}
	if why := r.edge.admitHost(r.host); why != "" {
		r.edge.reject(r.conn, why, &ws.CloseError{Code: CodeTooMany, Reason: limitReasons[why]})
		return
	}
	defer r.edge.releaseHost(r.host)
	if !r.readRegister() {
		return
	}
	remove, err := r.register()
	if err != nil {
		r.refuse(err)
		return
	}
	log := r.edge.opts.Logger.With("host", r.host)
	log.Info("host registered", "subject", grant.Subject)
	defer r.unregister(remove)
	r.mu.Lock()
	r.ready = true
	r.mu.Unlock()
	r.startWriter()
	r.read(remove)
	r.stopWriter()
	log.Info("host left", "err", r.conn.Err())
}

// maxControls limits the control connections of one host: the current one, those
// that it supersedes, and those that have not registered yet.
const maxControls = 8

// admitHost counts a control connection. It returns "", and the caller must
// call releaseHost, or the limit that the connection would exceed. The limit
// per host keeps a host that dials repeatedly from using up MaxHosts.
func (e *Edge) admitHost(host string) Reason {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.dialed[host] >= maxControls:
		return RefusedHostFull
	case e.control >= e.opts.MaxHosts:
		return RefusedEdgeFull
	}
	e.control++
	e.dialed[host]++
	return ""
}

func (e *Edge) releaseHost(host string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.control--
	if e.dialed[host]--; e.dialed[host] == 0 {
		delete(e.dialed, host)
	}
}

// readRegister waits for the first message, which must be a register.
func (r *registration) readRegister() bool {
	late := time.AfterFunc(r.edge.opts.Handshake, func() { r.conn.Close(ws.CodePolicy, "no registration in time") })
	defer late.Stop()
	data, err := r.conn.ReadMessage()
	if err != nil {
		r.edge.refused(RefusedUpgrade)
		return false
	}
	m, err := decode(data)
	if err != nil || m.Type != typeRegister {
		r.edge.reject(r.conn, RefusedUpgrade, &ws.CloseError{Code: ws.CodePolicy, Reason: "the first message must be a registration"})
		return false
	}
	r.generation, r.connection = m.Generation, m.Connection
	return true
}

// register records the registration in the edge and in the directory.
func (r *registration) register() (remove func(), err error) {
	e := r.edge
	e.mu.Lock()
	if old := e.hosts[r.host]; old != nil && old.generation > r.generation {
		e.mu.Unlock()
		return nil, ErrSuperseded
	}
	e.hosts[r.host] = r
	e.mu.Unlock()
	remove, err = e.opts.Directory.Register(e.ctx, Registration{
		Host: r.host, Generation: r.generation, Connection: r.connection, Signal: r.signal, Superseded: r.superseded,
	})
	if err != nil {
		r.unregister(func() {})
		return nil, err
	}
	e.noteReturn(r.host)
	return remove, nil
}

func (r *registration) refuse(err error) {
	if errors.Is(err, ErrSuperseded) {
		r.edge.reject(r.conn, RefusedOlder, &ws.CloseError{Code: CodeSuperseded, Reason: err.Error()})
		return
	}
	r.edge.opts.Logger.Error("cannot register host", "host", r.host, "err", err)
	r.edge.reject(r.conn, RefusedInternal, &ws.CloseError{Code: ws.CodeTryLater, Reason: "the directory failed"})
}

// unregister removes the registration. It ends lanes that still wait for the host
// to dial back, unless another registration has replaced this one, here or at another edge.
func (r *registration) unregister(remove func()) {
	remove()
	r.edge.mu.Lock()
	current := r.edge.hosts[r.host] == r
	if current {
		delete(r.edge.hosts, r.host)
	}
	r.edge.mu.Unlock()
	r.mu.Lock()
	moved := r.moved
	r.mu.Unlock()
	if current && !moved {
		r.edge.endLanes(func(l *lane) bool { return l.host == r.host && !l.claimed }, offline)
	}
}

// superseded closes this registration, and the lanes of the host's runs that are
// older than generation by. In a fleet it does not forbid the same run to register again: a
// host that does not number its connections could still need this one.
func (r *registration) superseded(by int64) {
	r.edge.count.superseded.Add(1)
	r.mu.Lock()
	r.moved = true
	r.mu.Unlock()
	if r.edge.fleet != nil && by == r.generation {
		r.conn.Close(elsewhere.Code, elsewhere.Reason)
		return
	}
	r.conn.Close(CodeSuperseded, ErrSuperseded.Error())
	r.edge.endLanes(func(l *lane) bool { return l.host == r.host && l.generation != 0 && l.generation < by }, superseded)
}

// endLanes ends the lanes for which match returns true. It calls match with the
// edge's mutex locked.
func (e *Edge) endLanes(match func(*lane) bool, cause *ws.CloseError) {
	e.mu.Lock()
	ended := slices.DeleteFunc(slices.Collect(maps.Values(e.lanes)), func(l *lane) bool { return !match(l) })
	e.mu.Unlock()
	for _, l := range ended {
		l.end(cause)
	}
}

var elsewhere = &ws.CloseError{Code: ws.CodeGoingAway, Reason: "this host has a later connection"}

// signal queues an offer for the host.
func (r *registration) signal(o Offer) error {
	r.mu.Lock()
	full := len(r.offers) >= r.edge.opts.LanesPerHost
	if !full {
		r.offers = append(r.offers, o)
	}
	r.mu.Unlock()
	if full {
		return ErrBusy
	}
	r.startWriter()
	return nil
}

// askToMove asks the host to register elsewhere. It keeps this registration until it has.
func (r *registration) askToMove() {
	r.mu.Lock()
	r.moving = true
	r.mu.Unlock()
	r.startWriter()
}

// read handles the host's messages until the connection ends.
func (r *registration) read(remove func()) {
	limiter := rate.NewLimiter(controlRate, controlBurst)
	for {
		data, err := r.conn.ReadMessage()
		if err != nil {
			return
		}
		m, err := decode(data)
		switch {
		case err != nil:
			r.conn.Close(ws.CodePolicy, "a message is not valid")
		case !limiter.Allow():
			r.conn.Close(ws.CodePolicy, "too many messages")
		case m.Type == typeDecline:
			r.edge.endLanes(func(l *lane) bool { return l.id == m.Lane && l.host == r.host && !l.claimed }, noAnswer)
		case m.Type == typeDrain:
			remove() // the host is offline for new clients
		}
	}
}
