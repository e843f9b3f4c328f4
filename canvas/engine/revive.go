package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// reviveAll opens the stale instances of a provider again, side by side, each
// with the input that it had.
func (s *Engine) reviveAll(r *Registration) {
	for _, i := range s.staleOf(r) {
		s.tasks.start(func() { s.revive(i) })
	}
}

// reviveUnheard does that for those for which the provider was asked and not heard.
func (s *Engine) reviveUnheard(r *Registration) {
	for _, i := range s.staleOf(r) {
		s.tasks.start(func() { s.reviveIf(i, func() bool { return i.unheard }) })
	}
}

func (s *Engine) staleOf(r *Registration) (stale []*instance) {
	s.log.View(func(tx *channels.ReadTx) {
		if r.away() {
			return
		}
		for i := range s.instances.in(r.ext.Session) {
			st, ok := i.state(tx)
			if ok && st.Availability == session.Stale && i.ext.ID == r.ext.ID && r.serves(i.key.session) && r.find(i.canvasID) != nil {
				stale = append(stale, i)
			}
		}
	})
	slices.SortFunc(stale, byKey)
	return stale
}

func byKey(a, b *instance) int {
	if c := strings.Compare(a.key.session, b.key.session); c != 0 {
		return c
	}
	return strings.Compare(a.key.instance, b.key.instance)
}

// revive is the open flow, asked for by nobody: a failure leaves the instance
// stale, and the next open or the provider's next return tries again.
func (s *Engine) revive(i *instance) { s.reviveIf(i, func() bool { return true }) }

// reviveIf asks when its turn has come, under the log's lock.
func (s *Engine) reviveIf(i *instance, wanted func() bool) {
	release, err := s.flows.acquire(s.tasks.ctx, i.key)
	if err != nil {
		return
	}
	defer release()
	here := false
	s.log.View(func(*channels.ReadTx) { here = s.instances.at(i.key) == i && wanted() })
	if !here {
		return
	}
	o, _, err := s.planOpen(i.key, canvas.OpenArgs{Session: i.key.session, ExtensionID: i.ext.ID, CanvasID: i.canvasID, InstanceID: i.key.instance})
	if o != nil {
		_, err = s.runOpen(s.tasks.ctx, i.key, o)
	}
	s.log.View(func(*channels.ReadTx) { i.unheard = errors.Is(err, errUnavailable) })
	if err != nil {
		s.logger.Warn("canvas not opened again", "channel", i.channel, "id", i.key.instance, "err", err)
	}
}
