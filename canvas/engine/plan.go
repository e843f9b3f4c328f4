package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// planOpen decides what an open means now. Without a plan and an error, the returned
// instance is the answer: it is open already.
func (e *Engine) planOpen(k key, args canvas.OpenArgs) (p *plannedOpen, open canvas.OpenCanvas, err error) {
	err = e.locked(func(tx *channels.ReadTx) error {
		sess, ok := sessionState(tx, k.session)
		if !ok || e.admission.disposing[k.session] {
			return sessionNotFound(k.session)
		}
		inst := e.instances.at(k)
		r, d, err := e.registry.resolve(args, inst)
		if err != nil {
			return err
		}
		if inst != nil && (inst.ext.ID != r.ext.ID || inst.canvasID != d.CanvasID) {
			return canvas.Errorf(canvas.CodeAlreadyOpen, "instance %q is canvas %q of %q: close it first, or choose another instanceId", k.instance, inst.canvasID, inst.ext.ID)
		}
		if r.lost {
			return errUnavailable
		}
		plan := &plannedOpen{engine: e, key: k, reg: r, ext: r.ext, decl: d, inst: inst, input: args.Input}
		if inst == nil {
			plan.place, err = e.admission.reserve(tx, k.session, sess.OpenCanvases)
		} else if st, _ := inst.state(tx); !plan.again(st) {
			open = inst.asOpen(st)
			return nil
		}
		p = plan
		return err
	})
	if err != nil {
		return nil, canvas.OpenCanvas{}, err
	}
	return p, open, nil
}

// again completes the plan for an instance that is open, and returns false if its
// provider need not be asked: it is ready, and the input is absent or equal.
func (p *plannedOpen) again(st canvas.CanvasState) bool {
	ready := st.Availability == session.Ready
	if ready && (p.input == nil || ahp.Equal(p.input, st.Input)) {
		return false
	}
	p.saved = p.inst.saved
	if p.input == nil {
		p.input = st.Input
	}
	if ready {
		p.live = p.inst.handle
	}
	return true
}

// resolve finds the declaration that an open means. A live instance resolves what
// would be ambiguous, and its provider is unreachable if nothing is declared any more.
func (reg registry) resolve(args canvas.OpenArgs, inst *instance) (*Registration, *check.Declared, error) {
	var found []*Registration
	for _, r := range reg {
		if r.serves(args.Session) && (args.ExtensionID == "" || args.ExtensionID == r.ext.ID) && r.find(args.CanvasID) != nil {
			found = append(found, r)
		}
	}
	if inst != nil && inst.canvasID == args.CanvasID && (args.ExtensionID == "" || args.ExtensionID == inst.ext.ID) {
		found = slices.DeleteFunc(found, func(r *Registration) bool { return r.ext.ID != inst.ext.ID })
		if len(found) == 0 {
			return nil, nil, errUnavailable
		}
	}
	switch {
	case len(found) == 1:
		return found[0], found[0].find(args.CanvasID), nil
	case len(found) > 1:
		err := canvas.Errorf(canvas.CodeAmbiguous, "canvas %q is declared by %d extensions: say which extensionId", args.CanvasID, len(found))
		for _, r := range found {
			err.Candidates = append(err.Candidates, r.ext.ID)
		}
		return nil, nil, err
	case args.ExtensionID != "":
		return nil, nil, canvas.Errorf(canvas.CodeNotFound, "extension %q declares no canvas %q", args.ExtensionID, args.CanvasID)
	}
	return nil, nil, canvas.Errorf(canvas.CodeNotFound, "no canvas %q is declared", args.CanvasID)
}

// admission counts opens under way that might add an instance, so that concurrent
// opens do not exceed a limit together. Guarded by the log's mutex.
type admission struct {
	engine    *Engine
	opening   map[string]int // opens under way, by session
	total     int
	disposing map[string]bool // sessions that take no more instances
}

// reservation holds an open's place among the instances. A nil one holds none.
type reservation struct {
	admission *admission
	session   string
	released  bool
}

// reserve holds a place for an instance that is about to be opened in a session,
// whose catalog is open.
func (a *admission) reserve(tx *channels.ReadTx, uri string, open []session.OpenCanvasRef) (*reservation, error) {
	e := a.engine
	if n := len(open) + a.opening[uri]; n >= e.limits.SessionInstances {
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%d canvases are open in this session, which is the limit: close one first%s", n, suggest(staleIDs(open)))
	}
	if n := e.instances.count + a.total; n >= e.limits.Instances {
		ids := append(staleIDs(open), a.staleElsewhere(tx, uri)...)
		return nil, canvas.Errorf(canvas.CodeLimitExceeded, "%d canvases are open in this host, which is the limit: close one first%s", n, suggest(ids))
	}
	a.opening[uri]++
	a.total++
	return &reservation{admission: a, session: uri}, nil
}

// release gives the place up: the open failed, or its instance counts itself now. It
// is called in a transaction, and may be called again.
func (r *reservation) release() {
	if r == nil || r.released {
		return
	}
	r.released = true
	a := r.admission
	a.total--
	if a.opening[r.session]--; a.opening[r.session] <= 0 {
		delete(a.opening, r.session)
	}
}

// staleIDs returns the ids of stale instances: the best ones to close.
func staleIDs(open []session.OpenCanvasRef) (ids []string) {
	for _, ref := range open {
		if ref.Availability == session.Stale {
			ids = append(ids, ref.InstanceID)
		}
	}
	return ids
}

// staleElsewhere returns the stale instances of all sessions but one.
func (a *admission) staleElsewhere(tx *channels.ReadTx, except string) (ids []string) {
	for _, uri := range slices.Sorted(maps.Keys(a.engine.instances.sessions)) {
		if sess, ok := sessionState(tx, uri); ok && uri != except {
			for _, id := range staleIDs(sess.OpenCanvases) {
				ids = append(ids, id+" of "+uri)
			}
		}
	}
	return ids
}

// suggest lists the first few stale instances, for the end of an error.
func suggest(stale []string) string {
	if stale == nil {
		return ""
	}
	return " (stale: " + strings.Join(stale[:min(len(stale), 8)], ", ") + ")"
}
