package engine

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// mirror paces how often an instance's title is written to the catalogue, which
// is sent whole at every change. Guarded by the log's mutex.
type mirror struct {
	stamps []time.Time // of the last writes, as many as may fall into a second
	next   int         // the oldest of them
	timer  *time.Timer // of a write that follows late; nil where none is due
}

// wait returns how long the next write must wait, so that no second holds more
// than rate of them.
func (m *mirror) wait(now time.Time, rate int) time.Duration {
	if len(m.stamps) < rate {
		return 0
	}
	return max(0, time.Second-now.Sub(m.stamps[m.next]))
}

func (m *mirror) stamp(now time.Time, rate int) {
	if len(m.stamps) < rate {
		m.stamps = append(m.stamps, now)
		return
	}
	m.stamps[m.next] = now
	m.next = (m.next + 1) % rate
}

func (m *mirror) stop() {
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
}

// mirrorState follows a change of an instance's state in the catalogue, in the
// same transaction. Only a title may be late, and then the last one wins;
// availability never waits, and takes the title with it.
func (s *Engine) mirrorState(tx *channels.Tx, i *instance, before, after canvas.CanvasState) {
	switch {
	case before.Availability != after.Availability:
		i.mirror.stop()
		s.writeRow(tx, i, after)
	case sameText(before.Title, after.Title) || i.mirror.timer != nil:
	default:
		now := s.now()
		if wait := i.mirror.wait(now, s.limits.TitleRate); wait > 0 {
			s.mirrorLater(i, wait)
			return
		}
		i.mirror.stamp(now, s.limits.TitleRate)
		s.writeRow(tx, i, after)
	}
}

func (s *Engine) mirrorLater(i *instance, wait time.Duration) {
	var timer *time.Timer
	timer = s.tasks.after(wait, func() {
		s.update(func(tx *channels.Tx) {
			if i.mirror.timer != timer { // stopped while it fired
				return
			}
			i.mirror.timer = nil
			if st, ok := i.state(tx); ok {
				i.mirror.stamp(s.now(), s.limits.TitleRate)
				s.writeRow(tx, i, st)
			}
		})
	})
	i.mirror.timer = timer
}
