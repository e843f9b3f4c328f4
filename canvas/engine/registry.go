package engine

import (
	"fmt"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// registry lists the providers in the order of registration. Guarded by the log's
// mutex.
type registry []*Registration

// Registration is a provider's entry in the registry; see [canvas.Registration].
type Registration struct {
	engine   *Engine
	ext      canvas.Extension
	provider canvas.Provider

	// Guarded by the log's mutex.
	decls    []*check.Declared
	entries  []session.SessionCanvasDeclaration // of decls, for entriesOf; made when needed
	entryOf  []*check.Declared                  // the decls of entries
	entryExt canvas.Extension                   // the extension of entries
	lost     bool                               // it cannot be reached
	closed   bool                               // it was removed
	withheld bool                               // a client whose current connection lacks the capability: it declares nothing
	calls    map[*call]struct{}
}

// unreachable reports whether the provider cannot be called.
func (r *Registration) unreachable() bool { return r.lost || r.closed || r.withheld }

// declared returns what the provider offers now.
func (r *Registration) declared() []*check.Declared {
	if r.withheld {
		return nil
	}
	return r.decls
}

// find returns the declaration of a canvas, or nil.
func (r *Registration) find(canvasID string) *check.Declared {
	for _, d := range r.declared() {
		if d.CanvasID == canvasID {
			return d
		}
	}
	return nil
}

func (r *Registration) serves(session string) bool {
	return r.ext.Session == "" || r.ext.Session == session
}

// Register adds a provider with what it declares. One bad declaration refuses the set;
// an extension id that is registered already is refused. Stale instances of the same
// extension and canvas are opened again.
func (e *Engine) Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) (canvas.Registration, error) {
	ext, err := ext.Resolve()
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("canvas: extension %q has no provider", ext.ID)
	}
	decls, err := e.limits.Declarations(set)
	if err != nil {
		return nil, err
	}
	r := &Registration{engine: e, ext: ext, provider: p, decls: decls, calls: map[*call]struct{}{}}
	err = e.log.Update(func(tx *channels.Tx) error {
		for _, other := range e.registry {
			if other.ext.ID == ext.ID && (other.ext.Session == ext.Session || other.ext.Session == "" || ext.Session == "") {
				return fmt.Errorf("canvas: extension %q is registered already", ext.ID)
			}
		}
		e.registry = append(e.registry, r)
		e.registry.publish(e, tx)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.reopenAll()
	return r, nil
}

// Set implements [canvas.Registration].
func (r *Registration) Set(set ...canvas.Declaration) error {
	e := r.engine
	decls, err := e.limits.Declarations(set)
	if err != nil {
		return err
	}
	err = e.log.Update(func(tx *channels.Tx) error {
		if r.closed {
			return errUnavailable
		}
		r.decls = decls
		e.registry.publish(e, tx)
		r.markStale(tx, r.noLongerDeclared)
		return nil
	})
	if err == nil {
		r.reopenAll()
	}
	return err
}

// SetReachable implements [canvas.Registration].
func (r *Registration) SetReachable(reachable bool) {
	if reachable {
		r.engine.log.View(func(*channels.ReadTx) { r.lost = false })
		r.reopenAll()
		return
	}
	r.engine.update(func(tx *channels.Tx) {
		if !r.lost && !r.closed {
			r.lost = true
			r.disconnect(tx)
		}
	})
}

// Close implements [canvas.Registration].
func (r *Registration) Close() {
	r.engine.update(func(tx *channels.Tx) {
		if !r.closed {
			r.withdraw(tx)
			r.engine.registry.publish(r.engine, tx)
		}
	})
}

// withdraw removes the provider from the registry.
func (r *Registration) withdraw(tx *channels.Tx) {
	r.closed = true
	r.engine.registry = slices.DeleteFunc(r.engine.registry, func(o *Registration) bool { return o == r })
	r.disconnect(tx)
}

// disconnect fails the calls of a provider that became unreachable, and marks its
// instances stale.
func (r *Registration) disconnect(tx *channels.Tx) {
	r.failCalls(errUnavailable)
	r.markStale(tx, anyInstance)
}

func (r *Registration) failCalls(why *canvas.Error) {
	for c := range r.calls {
		c.fail(why)
	}
}

// failCallsOf fails the calls of an instance's opens and invokes.
func (r *Registration) failCallsOf(i *instance, why *canvas.Error) {
	for c := range r.calls {
		if c.inst == i {
			c.fail(why)
		}
	}
}

func (r *Registration) noLongerDeclared(i *instance) bool { return r.find(i.canvasID) == nil }

// markStale marks the ready instances of the provider for which match is true.
func (r *Registration) markStale(tx *channels.Tx, match func(*instance) bool) {
	var lost []*instance
	for i := range r.engine.instances.in(r.ext.Session) {
		if i.reg == r && match(i) {
			lost = append(lost, i)
		}
	}
	slices.SortFunc(lost, byKey)
	r.engine.catalog.collect(tx, func(*catalogChanges) {
		for _, i := range lost {
			i.markStale(r.engine, tx)
		}
	})
}

// markStale marks an instance that is ready.
func (i *instance) markStale(e *Engine, tx *channels.Tx) {
	st, ok := i.state(tx)
	if !ok || st.Availability != session.Ready {
		return
	}
	i.handle.life.end()
	i.box.close()
	e.publish(tx, i.channel, canvas.Updated{Availability: new(session.Stale), Meta: i.silence(st)})
}

// publish brings SessionState.canvases of every session up to date. A session in which
// nothing changed receives nothing.
func (reg registry) publish(e *Engine, tx *channels.Tx) {
	for _, uri := range tx.Channels(ahp.SchemeSession) {
		reg.publishTo(e, tx, uri)
	}
}

// publishTo brings one session's registry up to date.
func (reg registry) publishTo(e *Engine, tx *channels.Tx, uri string) {
	st, ok := sessionState(tx, uri)
	list := reg.declared(uri)
	same := func(a, b session.SessionCanvasDeclaration) bool { return a.Same(&b) }
	if ok && !slices.EqualFunc(list, st.Canvases, same) {
		e.publish(tx, uri, session.CanvasesChanged{Canvases: list})
	}
}

// declared returns the declarations of every provider that serves a session. It is
// never nil.
func (reg registry) declared(uri string) []session.SessionCanvasDeclaration {
	list := []session.SessionCanvasDeclaration{}
	for _, r := range reg {
		if !r.serves(uri) {
			continue
		}
		list = append(list, r.listed()...)
	}
	return list
}

// listed returns the entries of what the provider offers now. They are encoded once.
func (r *Registration) listed() []session.SessionCanvasDeclaration {
	decls := r.declared()
	if len(decls) == 0 {
		return nil
	}
	if len(decls) == len(r.entryOf) && &decls[0] == &r.entryOf[0] && r.ext == r.entryExt {
		return r.entries
	}
	r.entries, r.entryOf, r.entryExt = nil, decls, r.ext
	for _, d := range decls {
		r.entries = append(r.entries, session.SessionCanvasDeclaration{
			ExtensionID: r.ext.ID, ExtensionName: r.ext.Name, CanvasID: d.CanvasID,
			DisplayName: d.DisplayName, Description: d.Description,
			InputSchema: d.InputSchema, Actions: d.Actions, Source: r.ext.Source(), Extra: d.Extra,
		}.Encoded())
	}
	return r.entries
}

// clients returns the client providers of a session.
func (reg registry) clients(uri string) (clients []*Registration) {
	for _, r := range reg {
		if r.ext.ClientID != "" && r.ext.Session == uri {
			clients = append(clients, r)
		}
	}
	return clients
}
