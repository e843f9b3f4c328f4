package engine

import (
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/heavy"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Clients follows the clients that provide canvases: what they declare in a session, and
// whether they are connected. Its methods are the hooks of package session and of package
// channels/server.
type Clients struct {
	engine *Engine
	caller Caller // nil ignores what clients declare
	vetted vetted
}

// Vet checks what a client declares before it becomes an active client: one bad
// declaration refuses the set (canvas/PROTOCOL.md section 8). Compiling the schemas
// takes time, so Vet is called without a lock and keeps them for the Fold that follows.
func (cs *Clients) Vet(c session.SessionActiveClient) error {
	if len(c.CanvasProviders) == 0 {
		return nil
	}
	// The name is repeated beside each canvas that the client declares or has open.
	if err := cs.engine.limits.Text("displayName", c.DisplayName); err != nil {
		return canvas.Errorf(canvas.CodeInputInvalid, "the client's %v", err)
	}
	return cs.vetted.vet(&cs.engine.limits, c.CanvasProviders)
}

// A set of up to smallSet bytes is compiled at once. Larger ones take turns, and after one
// that took time the next waits restFactor times as long: however many clients declare,
// they take a fifth of one processor.
const (
	smallSet    = 16 << 10
	restFactor  = 4
	longestRest = time.Second
)

// vet compiles a set for the Fold that follows.
func (v *vetted) vet(l *check.Limits, set []canvas.Declaration) error {
	key := string(ahp.MustMarshal(set))
	if len(key) > smallSet {
		v.compiling.Lock()
		defer v.compiling.Unlock()
	}
	begun := time.Now()
	decls, err := v.compileInTurn(l, key, set)
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.fresh[v.next%len(v.fresh)] = freshSet{&set[0], decls}
	v.next++
	v.mu.Unlock()
	if took := time.Since(begun); len(key) > smallSet && took > time.Millisecond {
		time.Sleep(min(restFactor*took, longestRest))
	}
	return nil
}

// compileInTurn is compileKey that leaves a processor to others.
func (v *vetted) compileInTurn(l *check.Limits, key string, set []canvas.Declaration) ([]*check.Declared, error) {
	if len(key) > smallSet {
		heavy.Begin()
		defer heavy.End()
	}
	return v.compileKey(l, key, set)
}

// freshSet is a set that was vetted and probably not folded yet, found by its place in
// memory: encoding it for a key would take too long under the log's lock.
type freshSet struct {
	first *canvas.Declaration
	decls []*check.Declared
}

// takeFresh returns a vetted set, once.
func (v *vetted) takeFresh(set []canvas.Declaration) []*check.Declared {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, f := range v.fresh {
		if f.first == &set[0] {
			v.fresh[i] = freshSet{}
			return f.decls
		}
	}
	return nil
}

// vetted caches the newest compiled sets by their JSON, so that Fold, which runs
// under the log's lock, does not compile them again.
type vetted struct {
	compiling sync.Mutex // held during a Vet: clients that declare take one processor

	mu    sync.Mutex
	sets  map[string][]*check.Declared
	order []string // oldest first
	bytes int
	fresh [16]freshSet
	next  int // the index of the next fresh set, modulo its length
}

// The limits of the cache. A compiled set takes up to three hundred times its size. A
// single set may be larger.
const (
	maxVetted      = 64
	maxVettedBytes = 1 << 20
)

func (v *vetted) compile(l *check.Limits, set []canvas.Declaration) ([]*check.Declared, error) {
	if fresh := v.takeFresh(set); fresh != nil {
		return fresh, nil
	}
	return v.compileKey(l, string(ahp.MustMarshal(set)), set)
}

func (v *vetted) compileKey(l *check.Limits, key string, set []canvas.Declaration) ([]*check.Declared, error) {
	v.mu.Lock()
	known, ok := v.sets[key]
	v.mu.Unlock()
	if ok {
		return known, nil
	}
	decls, err := l.Declarations(set)
	if err != nil {
		return nil, err
	}
	v.keep(key, decls)
	return decls, nil
}

func (v *vetted) keep(key string, decls []*check.Declared) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sets == nil {
		v.sets = map[string][]*check.Declared{}
	}
	if v.sets[key] != nil {
		return
	}
	v.sets[key] = decls
	v.order, v.bytes = append(v.order, key), v.bytes+len(key)
	for len(v.order) > 1 && (len(v.order) > maxVetted || v.bytes > maxVettedBytes) {
		delete(v.sets, v.order[0])
		v.order, v.bytes = v.order[1:], v.bytes-len(v.order[0])
	}
}

// Fold follows a change of a session's active clients in the same transaction: what
// capable clients declare enters the registry, what they withdrew or left behind leaves
// it, and the instances of that become stale (the Canvas proposal (#297), section 2;
// canvas/PROTOCOL.md section 5). If a client's capability changes, [Clients.ClientBack]
// follows that.
func (cs *Clients) Fold(tx *channels.Tx, uri string, before, now session.State) {
	if sameClients(before.ActiveClients, now.ActiveClients) {
		return
	}
	declaring := map[string]bool{}
	for _, c := range now.ActiveClients {
		if len(c.CanvasProviders) > 0 && cs.caller != nil {
			declaring[c.ClientID] = true
			if !unchanged(before.ActiveClients, c) {
				cs.foldClient(tx, uri, c)
			}
		}
	}
	for _, r := range cs.engine.registry.clients(uri) {
		if !declaring[r.ext.ClientID] {
			r.withdraw(tx)
		}
	}
	cs.engine.registry.publishTo(cs.engine, tx, uri)
}

// sameClients reports whether two lists are one: reducers share what they do not
// change.
func sameClients(a, b []session.SessionActiveClient) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// unchanged reports whether a client's entry is an old one: another client's change must
// not fold this client again.
func unchanged(before []session.SessionActiveClient, c session.SessionActiveClient) bool {
	for _, b := range before {
		if b.ClientID == c.ClientID {
			return len(b.CanvasProviders) == len(c.CanvasProviders) && &b.CanvasProviders[0] == &c.CanvasProviders[0]
		}
	}
	return false
}

func (cs *Clients) foldClient(tx *channels.Tx, uri string, c session.SessionActiveClient) {
	decls, err := cs.vetted.compile(&cs.engine.limits, c.CanvasProviders)
	if err != nil {
		return // Vet has accepted the set
	}
	r := cs.clientRegistration(uri, c.ClientID)
	r.lost = r.lost || cs.engine.restoring.active
	if r.withheld = !r.capable(); r.withheld {
		r.disconnect(tx)
	}
	r.ext.Name = deref(c.DisplayName)
	r.decls = decls
	r.markStale(tx, r.noLongerDeclared)
	r.supersedeReopens()
	tx.Later(func() { r.reopenAll() })
}

// supersedeReopens fails the reopens of stale instances that the client was asked for
// before it declared its canvases: it may have missed the request, because it was not
// ready yet. The reopens that follow ask it again. Opens of new instances stay: their
// callers wait for them.
func (r *Registration) supersedeReopens() {
	for c := range r.calls {
		if c.reopen {
			c.fail(errSuperseded)
		}
	}
}

// clientRegistration returns the entry of a client in a session's registry, adding it
// if there is none.
func (cs *Clients) clientRegistration(uri, clientID string) *Registration {
	for _, r := range cs.engine.registry.clients(uri) {
		if r.ext.ClientID == clientID {
			return r
		}
	}
	ext, _ := canvas.Extension{ClientID: clientID, Session: uri}.Resolve()
	r := &Registration{engine: cs.engine, ext: ext, calls: map[*call]struct{}{}, provider: &clientProvider{
		caller: cs.caller, clientID: clientID, session: uri, limit: cs.engine.limits.AnswerBytes, within: cs.engine.timeouts,
	}}
	cs.engine.registry = append(cs.engine.registry, r)
	return r
}

// capable reports whether a client may provide canvases: its current connection declared
// the capability (canvas/PROTOCOL.md section 1).
func (r *Registration) capable() bool {
	c := r.engine.Clients.caller
	return c != nil && c.Capable(r.ext.ClientID, ahp.CapabilityCanvas)
}

// connection returns the connection on which a client is called, or nil.
func (cs *Clients) connection(clientID string) *channels.Subscriber {
	if cs.caller == nil {
		return nil
	}
	return cs.caller.Connection(clientID)
}

// ClientLost reports that a client's last connection ended: in one transaction its
// instances become stale and its calls fail. What it declared stays listed.
func (cs *Clients) ClientLost(clientID string) {
	cs.engine.update(func(tx *channels.Tx) {
		for _, r := range cs.engine.registry {
			if r.ext.ClientID == clientID && !r.lost {
				r.lost = true
				r.disconnect(tx)
			}
		}
	})
}

// ClientBack reports that a client can be called on a connection whose handshake is
// answered: a new one, or an older one that is current again because a newer one ended.
// If the connection has the capability, what the client declared is in the registry and
// its stale instances are opened again with the input that they had; if not, the client
// counts as having withdrawn its declarations. If the client was reachable all the time,
// only the instances are opened again that an ended connection was asked to open.
func (cs *Clients) ClientBack(clientID string) {
	var returned, present []*Registration
	cs.engine.update(func(tx *channels.Tx) {
		for _, r := range cs.engine.registry {
			if r.ext.ClientID != clientID {
				continue
			}
			wasUnreachable, withheld := r.unreachable(), r.withheld
			r.lost, r.withheld = false, !r.capable()
			if r.withheld && !wasUnreachable {
				r.disconnect(tx)
			}
			if r.withheld != withheld {
				cs.engine.registry.publishTo(cs.engine, tx, r.ext.Session)
			}
			switch {
			case r.unreachable():
			case wasUnreachable:
				returned = append(returned, r)
			default:
				present = append(present, r)
			}
		}
	})
	for _, r := range returned {
		r.reopenAll()
	}
	for _, r := range present {
		r.reopenUnanswered()
	}
}
