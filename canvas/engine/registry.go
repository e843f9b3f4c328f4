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

// Registration is a provider's place in the registry. Its methods may be called
// concurrently.
type Registration struct {
	engine   *Engine
	ext      canvas.Extension
	provider canvas.Provider

	// Guarded by the log's mutex.
	decls    []*check.Declared
	gone     bool
	closed   bool
	withheld bool // a client whose connection that counts is not capable: it declares nothing now
	calls    map[*call]struct{}
}

// away reports whether the provider cannot be asked anything.
func (r *Registration) away() bool { return r.gone || r.closed || r.withheld }

// declares is what the provider offers now.
func (r *Registration) declares() []*check.Declared {
	if r.withheld {
		return nil
	}
	return r.decls
}

// Register adds a provider with what it declares. One bad declaration refuses
// the set; an extension id that is registered already is refused. Stale
// instances of the same extension and canvas are opened again.
func (s *Engine) Register(ext canvas.Extension, p canvas.Provider, set ...canvas.Declaration) (canvas.Registration, error) {
	ext, err := ext.Resolve()
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("canvas: extension %q has no provider", ext.ID)
	}
	decls, err := s.limits.Declarations(set)
	if err != nil {
		return nil, err
	}
	r := &Registration{engine: s, ext: ext, provider: p, decls: decls, calls: map[*call]struct{}{}}
	err = s.log.Update(func(tx *channels.Tx) error {
		for _, other := range s.regs {
			if other.ext.ID == ext.ID && (other.ext.Session == ext.Session || other.ext.Session == "" || ext.Session == "") {
				return fmt.Errorf("canvas: extension %q is registered already", ext.ID)
			}
		}
		s.regs = append(s.regs, r)
		s.publishRegistry(tx)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.reviveAll(r)
	return r, nil
}

// Set replaces what the provider declares. A bad set is refused whole. Instances
// of a canvas that it does not name any more become stale; stale ones of those
// that it names are opened again.
func (r *Registration) Set(set ...canvas.Declaration) error {
	s := r.engine
	decls, err := s.limits.Declarations(set)
	if err != nil {
		return err
	}
	err = s.log.Update(func(tx *channels.Tx) error {
		if r.closed {
			return errUnavailable
		}
		r.decls = decls
		s.publishRegistry(tx)
		s.lose(tx, r, r.takenBack)
		return nil
	})
	if err == nil {
		s.reviveAll(r)
	}
	return err
}

// SetReachable implements [canvas.Registration].
func (r *Registration) SetReachable(reachable bool) {
	if reachable {
		r.engine.log.View(func(*channels.ReadTx) { r.gone = false })
		r.engine.reviveAll(r)
		return
	}
	r.engine.update(func(tx *channels.Tx) {
		if !r.gone && !r.closed {
			r.gone = true
			r.lose(tx)
		}
	})
}

// Close takes the provider and its declarations out of the registry. Instances
// stay, stale, until they are closed.
func (r *Registration) Close() {
	s := r.engine
	s.update(func(tx *channels.Tx) {
		if r.closed {
			return
		}
		r.closed = true
		s.forget(r)
		r.lose(tx)
		s.publishRegistry(tx)
	})
}

func (s *Engine) forget(r *Registration) {
	s.regs = slices.DeleteFunc(s.regs, func(o *Registration) bool { return o == r })
}

// lose ends calls and instances of a provider that is gone, in one transaction.
func (r *Registration) lose(tx *channels.Tx) {
	for c := range r.calls {
		c.lose(errUnavailable)
	}
	r.engine.lose(tx, r, func(*instance) bool { return true })
}

// takenBack reports whether an instance is of a canvas that is not declared any more.
func (r *Registration) takenBack(i *instance) bool { return r.find(i.canvasID) == nil }

func (r *Registration) serves(session string) bool {
	return r.ext.Session == "" || r.ext.Session == session
}

func (r *Registration) find(canvasID string) *check.Declared {
	for _, d := range r.declares() {
		if d.CanvasID == canvasID {
			return d
		}
	}
	return nil
}

// publishRegistry brings SessionState.canvases of every session up to date; a
// session where nothing changed hears nothing.
func (s *Engine) publishRegistry(tx *channels.Tx) {
	for _, uri := range tx.Channels(ahp.SchemeSession) {
		s.publishSession(tx, uri)
	}
}

// registryOf is the union of what serves a session, in the order of
// registration. It is never nil.
func (s *Engine) registryOf(uri string) []session.SessionCanvasDeclaration {
	list := []session.SessionCanvasDeclaration{}
	for _, r := range s.regs {
		if !r.serves(uri) {
			continue
		}
		for _, d := range r.declares() {
			list = append(list, session.SessionCanvasDeclaration{
				ExtensionID: r.ext.ID, ExtensionName: r.ext.Name, CanvasID: d.CanvasID,
				DisplayName: d.DisplayName, Description: d.Description,
				InputSchema: d.InputSchema, Actions: d.Actions, Source: r.ext.Source(), Extra: d.Extra,
			})
		}
	}
	return list
}
