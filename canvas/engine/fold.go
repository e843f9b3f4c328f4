package engine

import (
	"bytes"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/check"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Vet checks what a client declares before it becomes an active client: one bad
// declaration refuses the whole set (canvas.md section 8). It compiles the
// schemas, which takes time, so it is called without a lock and keeps them for
// the fold that follows.
func (s *Engine) Vet(c session.SessionActiveClient) error {
	if len(c.CanvasProviders) == 0 {
		return nil
	}
	// It stands beside each canvas that the client declares or has open.
	if err := s.limits.Text("displayName", c.DisplayName); err != nil {
		return canvas.Errorf(canvas.CodeInputInvalid, "the client's %v", err)
	}
	s.vetted.compiling.Lock()
	defer s.vetted.compiling.Unlock()
	_, err := s.vetted.prepare(&s.limits, c.CanvasProviders)
	return err
}

// vetted keeps the newest sets that were compiled, by their bytes: the fold that
// follows runs under the log's lock.
type vetted struct {
	compiling sync.Mutex // held over a Vet: clients that declare take one processor

	mu    sync.Mutex
	sets  map[string][]*check.Declared
	order []string // oldest first
	bytes int
}

// The bounds of what is kept between Vet and fold. Compiled, a set takes up to three
// hundred times its size. A single set may be larger.
const (
	maxVetted      = 64
	maxVettedBytes = 1 << 20
)

func (v *vetted) prepare(l *check.Limits, set []canvas.Declaration) ([]*check.Declared, error) {
	key := string(ahp.MustMarshal(set))
	v.mu.Lock()
	kept, ok := v.sets[key]
	v.mu.Unlock()
	if ok {
		return kept, nil
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

// Fold follows a change of a session's active clients in the same transaction:
// what capable clients declare is in the registry, what they took back or left
// behind is not, and their instances are stale (#297 section 2, canvas.md
// section 5). Whether a client is capable may change; then [Engine.ClientBack]
// looks again.
func (s *Engine) Fold(tx *channels.Tx, uri string, before, now session.State) {
	if sameClients(before.ActiveClients, now.ActiveClients) {
		return
	}
	declaring := map[string]bool{}
	for _, c := range now.ActiveClients {
		if len(c.CanvasProviders) > 0 && s.caller != nil {
			declaring[c.ClientID] = true
			if !unchanged(before.ActiveClients, c) {
				s.foldClient(tx, uri, c)
			}
		}
	}
	for _, r := range s.clientsOf(uri) {
		if !declaring[r.ext.ClientID] {
			s.unfold(tx, r)
		}
	}
	s.publishSession(tx, uri)
}

// sameClients reports whether two lists are one: reducers share what they do not
// change.
func sameClients(a, b []session.SessionActiveClient) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// unchanged reports whether a client's entry was there before: what another one
// declares asks nothing of it again.
func unchanged(before []session.SessionActiveClient, c session.SessionActiveClient) bool {
	for _, b := range before {
		if b.ClientID == c.ClientID {
			return len(b.CanvasProviders) == len(c.CanvasProviders) && &b.CanvasProviders[0] == &c.CanvasProviders[0]
		}
	}
	return false
}

func (s *Engine) clientsOf(uri string) (regs []*Registration) {
	for _, r := range s.regs {
		if r.ext.ClientID != "" && r.ext.Session == uri {
			regs = append(regs, r)
		}
	}
	return regs
}

func (s *Engine) foldClient(tx *channels.Tx, uri string, c session.SessionActiveClient) {
	decls, err := s.vetted.prepare(&s.limits, c.CanvasProviders)
	if err != nil {
		return // it was vetted; a host that sets clients itself vets them too
	}
	var r *Registration
	for _, known := range s.clientsOf(uri) {
		if known.ext.ClientID == c.ClientID {
			r = known
		}
	}
	if r == nil {
		ext, _ := canvas.Extension{ClientID: c.ClientID, Session: uri}.Resolve()
		r = &Registration{engine: s, ext: ext, calls: map[*call]struct{}{},
			provider: &clientProvider{caller: s.caller, clientID: c.ClientID, session: uri, limit: s.limits.AnswerBytes, within: s.timeouts}}
		s.regs = append(s.regs, r)
	}
	r.gone = r.gone || s.restoring
	if r.withheld = !s.capable(r); r.withheld {
		r.lose(tx)
	}
	r.ext.Name = deref(c.DisplayName)
	r.decls = decls
	s.lose(tx, r, r.takenBack)
	tx.Later(func() { s.reviveAll(r) })
}

// capable reports whether a client may provide canvases: its connection that counts
// declared the capability (canvas.md section 1).
func (s *Engine) capable(r *Registration) bool {
	return s.caller != nil && s.caller.Capable(r.ext.ClientID, ahp.CapabilityCanvas)
}

// unfold takes a client's declarations out of the registry.
func (s *Engine) unfold(tx *channels.Tx, r *Registration) {
	r.closed = true
	s.forget(r)
	r.lose(tx)
}

// publishSession brings one session's registry up to date, if it changed.
func (s *Engine) publishSession(tx *channels.Tx, uri string) {
	st, ok := sessionState(tx, uri)
	list := s.registryOf(uri)
	if ok && !bytes.Equal(ahp.MustMarshal(list), ahp.MustMarshal(append([]session.SessionCanvasDeclaration{}, st.Canvases...))) {
		s.append(tx, uri, session.CanvasesChanged{Canvases: list})
	}
}

// ClientLost says that a client's last connection ended: at once its instances
// are stale and its calls fail, in one transaction. What it declared stays
// listed.
func (s *Engine) ClientLost(clientID string) {
	s.update(func(tx *channels.Tx) {
		for _, r := range s.regs {
			if r.ext.ClientID == clientID && !r.gone {
				r.gone = true
				r.lose(tx)
			}
		}
	})
}

// ClientBack says that a client can be asked, on a connection whose handshake is
// answered: a new one, or an older one that counts again because a newer one has
// ended. Where it is capable, what it declared is in the registry and its stale
// instances are opened again with the input that they had; where it is not, that is
// as if it had taken its declarations back. Where it was there all the time, those are
// that a connection was asked to open which has ended.
func (s *Engine) ClientBack(clientID string) {
	var back, there []*Registration
	s.update(func(tx *channels.Tx) {
		for _, r := range s.regs {
			if r.ext.ClientID != clientID {
				continue
			}
			away, withheld := r.away(), r.withheld
			r.gone, r.withheld = false, !s.capable(r)
			if r.withheld && !away {
				r.lose(tx)
			}
			if r.withheld != withheld {
				s.publishSession(tx, r.ext.Session)
			}
			if !r.away() && away {
				back = append(back, r)
			} else if !r.away() {
				there = append(there, r)
			}
		}
	})
	for _, r := range back {
		s.reviveAll(r)
	}
	for _, r := range there {
		s.reviveUnheard(r)
	}
}
