package engine

import (
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// rowChanges are what the flows of one transaction add to catalogues and take out
// of them: each session's is sent whole, so it is sent once.
type rowChanges struct {
	sessions []string // in the order in which they came
	of       map[string]*rowChange
	removed  []*instance
}

// rowChange is what changes in one session's catalogue.
type rowChange struct {
	added   []session.OpenCanvasRef
	gone    map[string]bool // by channel
	changed map[string]canvas.CanvasState
}

func (r *rowChanges) in(uri string) *rowChange {
	c := r.of[uri]
	if c == nil {
		c = &rowChange{gone: map[string]bool{}, changed: map[string]canvas.CanvasState{}}
		r.of[uri], r.sessions = c, append(r.sessions, uri)
	}
	return c
}

// add puts a new instance into its session's catalogue.
func (r *rowChanges) add(i *instance, row session.OpenCanvasRef) {
	c := r.in(i.key.session)
	c.added = append(c.added, row)
}

// rowOf is an instance's entry in its session's catalogue.
func rowOf(channel string, st canvas.CanvasState) session.OpenCanvasRef {
	return session.OpenCanvasRef{
		InstanceID: st.InstanceID, Channel: channel, CanvasID: st.CanvasID,
		ExtensionID: st.ExtensionID, ExtensionName: st.ExtensionName, Title: st.Title, Availability: st.Availability,
	}.Encoded()
}

// change brings an instance's row up to date with its state.
func (r *rowChanges) change(i *instance, st canvas.CanvasState) {
	r.in(i.key.session).changed[i.channel] = st
}

// remove takes an instance out of its session's catalogue, and then its channel:
// nobody sees a row whose channel is gone.
func (r *rowChanges) remove(i *instance) {
	r.in(i.key.session).gone[i.channel] = true
	r.removed = append(r.removed, i)
}

// writeRows publishes what was collected.
func (s *Engine) writeRows(tx *channels.Tx, r *rowChanges) {
	for _, uri := range r.sessions {
		sess, ok := sessionState(tx, uri)
		if !ok {
			continue
		}
		if rows, any := r.of[uri].over(sess.OpenCanvases); any {
			s.append(tx, uri, session.OpenCanvasesChanged{OpenCanvases: rows})
		}
	}
	for _, i := range r.removed {
		tx.Remove(i.channel)
		s.instances.remove(i)
		delete(s.byChannel, i.channel)
		i.quiet()
	}
}

// over returns rows with all that changes, and whether anything does.
func (c *rowChange) over(rows []session.OpenCanvasRef) (out []session.OpenCanvasRef, any bool) {
	any = len(c.added)+len(c.gone) > 0
	if len(c.gone)+len(c.changed) > 0 {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r session.OpenCanvasRef) bool { return c.gone[r.Channel] })
	}
	for n, r := range rows {
		if st, ok := c.changed[r.Channel]; ok {
			rows[n], ok = follow(r, st)
			any = any || ok
		}
	}
	// It may write behind what earlier states see of the same array, and each state
	// is followed by one.
	return append(rows, c.added...), any
}

// follow brings a row up to date with its instance's state, and reports whether it
// was not.
func follow(row session.OpenCanvasRef, st canvas.CanvasState) (session.OpenCanvasRef, bool) {
	if sameText(row.Title, st.Title) && row.Availability == st.Availability {
		return row, false
	}
	row.Title, row.Availability = st.Title, st.Availability
	return row.Encoded(), true
}

// together collects the rows that fn's changes lead to, and writes them behind those.
func (s *Engine) together(tx *channels.Tx, fn func(rows *rowChanges)) {
	rows := rowChanges{of: map[string]*rowChange{}}
	s.collecting = &rows
	fn(&rows)
	s.collecting = nil
	s.writeRows(tx, &rows)
}

// writeRow brings an instance's catalogue row up to date with its state.
func (s *Engine) writeRow(tx *channels.Tx, i *instance, st canvas.CanvasState) {
	if s.collecting != nil {
		s.collecting.change(i, st)
		return
	}
	sess, ok := sessionState(tx, i.key.session)
	at := slices.IndexFunc(sess.OpenCanvases, func(r session.OpenCanvasRef) bool { return r.Channel == i.channel })
	if !ok || at < 0 {
		return
	}
	row, changed := follow(sess.OpenCanvases[at], st)
	if !changed {
		return
	}
	rows := slices.Clone(sess.OpenCanvases)
	rows[at] = row
	s.append(tx, i.key.session, session.OpenCanvasesChanged{OpenCanvases: rows})
}

func sameText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}
