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

// planOpen decides what an open means now. Without a plan, the instance that is
// open already (or the error) is the answer.
func (s *Engine) planOpen(k key, a canvas.OpenArgs) (o *opening, open canvas.OpenCanvas, err error) {
	err = s.locked(func(tx *channels.ReadTx) error {
		sess, ok := sessionState(tx, k.session)
		if !ok || s.disposing[k.session] {
			return sessionNotFound(k.session)
		}
		inst := s.instances.at(k)
		r, d, err := s.resolve(a, inst)
		if err != nil {
			return err
		}
		if inst != nil && (inst.ext.ID != r.ext.ID || inst.canvasID != d.CanvasID) {
			return canvas.Errorf(canvas.CodeAlreadyOpen, "instance %q is canvas %q of %q: close it first, or choose another instanceId", k.instance, inst.canvasID, inst.ext.ID)
		}
		if r.gone {
			return errUnavailable
		}
		if inst == nil {
			o = &opening{reg: r, ext: r.ext, decl: d, input: a.Input, reserved: true}
			return s.reserve(tx, k.session, sess.OpenCanvases)
		}
		st, _ := inst.state(tx)
		if st.Availability == session.Ready && (a.Input == nil || ahp.Equal(a.Input, st.Input)) {
			open = openCanvas(inst.channel, st)
			return nil
		}
		o = &opening{reg: r, ext: r.ext, decl: d, inst: inst, input: a.Input, saved: inst.saved}
		if a.Input == nil {
			o.input = st.Input
		}
		if st.Availability == session.Ready {
			o.handle = inst.handle
		}
		return nil
	})
	if err != nil {
		return nil, canvas.OpenCanvas{}, err
	}
	return o, open, nil
}

// resolve finds the declaration that is meant. A live instance settles what
// would be ambiguous, and says that its provider is gone where nothing is
// declared any more.
func (s *Engine) resolve(a canvas.OpenArgs, inst *instance) (*Registration, *check.Declared, error) {
	var found []*Registration
	for _, r := range s.regs {
		if r.serves(a.Session) && (a.ExtensionID == "" || a.ExtensionID == r.ext.ID) && r.find(a.CanvasID) != nil {
			found = append(found, r)
		}
	}
	if inst != nil && inst.canvasID == a.CanvasID && (a.ExtensionID == "" || a.ExtensionID == inst.ext.ID) {
		found = slices.DeleteFunc(found, func(r *Registration) bool { return r.ext.ID != inst.ext.ID })
		if len(found) == 0 {
			return nil, nil, errUnavailable
		}
	}
	switch {
	case len(found) == 1:
		return found[0], found[0].find(a.CanvasID), nil
	case len(found) > 1:
		e := canvas.Errorf(canvas.CodeAmbiguous, "canvas %q is declared by %d extensions: say which extensionId", a.CanvasID, len(found))
		for _, r := range found {
			e.Candidates = append(e.Candidates, r.ext.ID)
		}
		return nil, nil, e
	case a.ExtensionID != "":
		return nil, nil, canvas.Errorf(canvas.CodeNotFound, "extension %q declares no canvas %q", a.ExtensionID, a.CanvasID)
	}
	return nil, nil, canvas.Errorf(canvas.CodeNotFound, "no canvas %q is declared", a.CanvasID)
}

// reserve makes room for an instance that is about to be opened.
func (s *Engine) reserve(tx *channels.ReadTx, uri string, open []session.OpenCanvasRef) error {
	if n := len(open) + s.opening[uri]; n >= s.limits.SessionInstances {
		return canvas.Errorf(canvas.CodeLimitExceeded, "%d canvases are open in this session, which is the limit: close one first%s", n, listOf(staleNames(open)))
	}
	if n := s.instances.count + s.openings; n >= s.limits.Instances {
		names := append(staleNames(open), s.staleElsewhere(tx, uri)...)
		return canvas.Errorf(canvas.CodeLimitExceeded, "%d canvases are open in this host, which is the limit: close one first%s", n, listOf(names))
	}
	s.opening[uri]++
	s.openings++
	return nil
}

func (s *Engine) unreserve(uri string) {
	s.openings--
	if s.opening[uri]--; s.opening[uri] <= 0 {
		delete(s.opening, uri)
	}
}

// staleNames names stale instances: the first ones to close.
func staleNames(open []session.OpenCanvasRef) (names []string) {
	for _, r := range open {
		if r.Availability == session.Stale {
			names = append(names, r.InstanceID)
		}
	}
	return names
}

// staleElsewhere names those of other sessions.
func (s *Engine) staleElsewhere(tx *channels.ReadTx, but string) (names []string) {
	for _, uri := range slices.Sorted(maps.Keys(s.instances.sessions)) {
		if sess, ok := sessionState(tx, uri); ok && uri != but {
			for _, name := range staleNames(sess.OpenCanvases) {
				names = append(names, name+" of "+uri)
			}
		}
	}
	return names
}

// listOf is the first few of those that are stale, for an error's end.
func listOf(stale []string) string {
	if stale == nil {
		return ""
	}
	return " (stale: " + strings.Join(stale[:min(len(stale), 8)], ", ") + ")"
}
