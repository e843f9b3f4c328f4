package engine

import (
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// catalog keeps SessionState.openCanvases up to date with the instances. A catalog is
// sent whole at every change, so a transaction that changes many instances collects
// the changes and writes each catalog once. Guarded by the log's mutex.
type catalog struct {
	engine     *Engine
	collecting *catalogChanges // of the current transaction; nil writes each change at once
}

// catalogChanges are the changes of one transaction.
type catalogChanges struct {
	sessions  []string // in the order in which they changed
	bySession map[string]*sessionChanges
	removed   []*instance
	opened    []*instance // by agents
}

// sessionChanges are the changes of one session's catalog.
type sessionChanges struct {
	added   []session.OpenCanvasRef
	removed map[string]bool // by channel
	changed map[string]canvas.CanvasState
}

func (c *catalogChanges) in(uri string) *sessionChanges {
	s := c.bySession[uri]
	if s == nil {
		s = &sessionChanges{removed: map[string]bool{}, changed: map[string]canvas.CanvasState{}}
		c.bySession[uri], c.sessions = s, append(c.sessions, uri)
	}
	return s
}

// add adds a new instance's entry.
func (c *catalogChanges) add(i *instance, entry session.OpenCanvasRef) {
	s := c.in(i.key.session)
	s.added = append(s.added, entry)
}

// remove removes an instance's entry, and then its channel: no entry names a channel
// that is gone.
func (c *catalogChanges) remove(i *instance) {
	c.in(i.key.session).removed[i.channel] = true
	c.removed = append(c.removed, i)
}

// entryOf returns an instance's entry.
func entryOf(channel string, st canvas.CanvasState) session.OpenCanvasRef {
	return session.OpenCanvasRef{
		InstanceID: st.InstanceID, Channel: channel, CanvasID: st.CanvasID,
		ExtensionID: st.ExtensionID, ExtensionName: st.ExtensionName, Title: st.Title, Availability: st.Availability,
	}.Encoded()
}

// collect runs fn and then writes the catalogs that it changed.
func (c *catalog) collect(tx *channels.Tx, fn func(changes *catalogChanges)) {
	changes := catalogChanges{bySession: map[string]*sessionChanges{}}
	c.collecting = &changes
	fn(&changes)
	c.collecting = nil
	c.write(tx, &changes)
}

func (c *catalog) write(tx *channels.Tx, changes *catalogChanges) {
	for _, uri := range changes.sessions {
		sess, ok := sessionState(tx, uri)
		if !ok {
			continue
		}
		if entries, changed := changes.bySession[uri].apply(sess.OpenCanvases); changed {
			c.engine.publish(tx, uri, session.OpenCanvasesChanged{OpenCanvases: entries})
		}
	}
	for _, i := range changes.removed {
		tx.Remove(i.channel)
		c.engine.instances.remove(i)
		i.undoable.stop()
		i.disconnect()
	}
	for _, i := range changes.opened {
		c.engine.opened(tx, i.key.session, i.channel)
	}
}

// apply returns the changed entries, and whether anything changed.
func (s *sessionChanges) apply(entries []session.OpenCanvasRef) (out []session.OpenCanvasRef, changed bool) {
	changed = len(s.added)+len(s.removed) > 0
	if len(s.removed)+len(s.changed) > 0 {
		entries = slices.DeleteFunc(slices.Clone(entries), func(r session.OpenCanvasRef) bool { return s.removed[r.Channel] })
	}
	for n, entry := range entries {
		if st, ok := s.changed[entry.Channel]; ok {
			entries[n], ok = follow(entry, st)
			changed = changed || ok
		}
	}
	// The append may write to the array that earlier states share, behind their ends.
	// Only the newest state is appended to, so it happens once for each place.
	return append(entries, s.added...), changed
}

// follow returns an entry that is up to date with its instance's state, and whether it
// was not before.
func follow(entry session.OpenCanvasRef, st canvas.CanvasState) (session.OpenCanvasRef, bool) {
	if sameText(entry.Title, st.Title) && entry.Availability == st.Availability {
		return entry, false
	}
	entry.Title, entry.Availability = st.Title, st.Availability
	return entry.Encoded(), true
}

// update brings one instance's entry up to date with its state.
func (c *catalog) update(tx *channels.Tx, i *instance, st canvas.CanvasState) {
	if c.collecting != nil {
		c.collecting.in(i.key.session).changed[i.channel] = st
		return
	}
	sess, ok := sessionState(tx, i.key.session)
	at := slices.IndexFunc(sess.OpenCanvases, func(r session.OpenCanvasRef) bool { return r.Channel == i.channel })
	if !ok || at < 0 {
		return
	}
	entry, changed := follow(sess.OpenCanvases[at], st)
	if !changed {
		return
	}
	entries := slices.Clone(sess.OpenCanvases)
	entries[at] = entry
	c.engine.publish(tx, i.key.session, session.OpenCanvasesChanged{OpenCanvases: entries})
}

// mirror follows a change of an instance's state in the same transaction. A title may
// follow later, and then the last one wins. Availability never waits, and takes the
// title with it.
func (c *catalog) mirror(tx *channels.Tx, i *instance, before, after canvas.CanvasState) {
	e := c.engine
	switch {
	case before.Availability != after.Availability:
		i.titles.stop()
		c.update(tx, i, after)
	case sameText(before.Title, after.Title) || i.titles.timer != nil:
	default:
		now := e.now()
		if wait := i.titles.wait(now, e.limits.TitleRate); wait > 0 {
			c.mirrorLater(i, wait)
			return
		}
		i.titles.stamp(now, e.limits.TitleRate)
		c.update(tx, i, after)
	}
}

func (c *catalog) mirrorLater(i *instance, wait time.Duration) {
	e := c.engine
	var timer *time.Timer
	timer = e.tasks.after(wait, func() {
		e.update(func(tx *channels.Tx) {
			if i.titles.timer != timer { // stopped while it fired
				return
			}
			i.titles.timer = nil
			if st, ok := i.state(tx); ok {
				i.titles.stamp(e.now(), e.limits.TitleRate)
				c.update(tx, i, st)
			}
		})
	})
	i.titles.timer = timer
}

// titlePace limits how often an instance's title is written to the catalog. Guarded by
// the log's mutex.
type titlePace struct {
	stamps []time.Time // of the last writes, at most as many as a second allows
	next   int         // the oldest of them
	timer  *time.Timer // of a write that is due later; nil if there is none
}

// wait returns how long the next write must wait so that no second has more than rate.
func (p *titlePace) wait(now time.Time, rate int) time.Duration {
	if len(p.stamps) < rate {
		return 0
	}
	return max(0, time.Second-now.Sub(p.stamps[p.next]))
}

func (p *titlePace) stamp(now time.Time, rate int) {
	if len(p.stamps) < rate {
		p.stamps = append(p.stamps, now)
		return
	}
	p.stamps[p.next] = now
	p.next = (p.next + 1) % rate
}

func (p *titlePace) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func sameText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}
