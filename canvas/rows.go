package canvas

import (
	"slices"

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
	added []session.OpenCanvasRef
	gone  map[string]bool // by channel
}

func (r *rowChanges) in(uri string) *rowChange {
	c := r.of[uri]
	if c == nil {
		c = &rowChange{gone: map[string]bool{}}
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
func rowOf(channel string, st CanvasState) session.OpenCanvasRef {
	return session.OpenCanvasRef{
		InstanceID: st.InstanceID, Channel: channel, CanvasID: st.CanvasID,
		ExtensionID: st.ExtensionID, ExtensionName: st.ExtensionName, Title: st.Title, Availability: st.Availability,
	}.Encoded()
}

// remove takes an instance out of its session's catalogue, and then its channel:
// nobody sees a row whose channel is gone.
func (r *rowChanges) remove(i *instance) {
	r.in(i.key.session).gone[i.channel] = true
	r.removed = append(r.removed, i)
}

// writeRows publishes what was collected.
func (s *Service) writeRows(tx *channels.Tx, r *rowChanges) {
	for _, uri := range r.sessions {
		sess, ok := sessionState(tx, uri)
		if !ok {
			continue
		}
		c, rows := r.of[uri], sess.OpenCanvases
		if len(c.gone) > 0 {
			rows = slices.DeleteFunc(slices.Clone(rows), func(r session.OpenCanvasRef) bool { return c.gone[r.Channel] })
		}
		// It may write behind what earlier states see of the same array, and each
		// state is followed by one.
		rows = append(rows, c.added...)
		s.append(tx, uri, session.OpenCanvasesChanged{OpenCanvases: rows})
	}
	for _, i := range r.removed {
		tx.Remove(i.channel)
		s.instances.remove(i)
		delete(s.byChannel, i.channel)
		i.quiet()
	}
}

// writeRow brings an instance's catalogue row up to date with its state.
func (s *Service) writeRow(tx *channels.Tx, i *instance, st CanvasState) {
	sess, ok := sessionState(tx, i.key.session)
	at := slices.IndexFunc(sess.OpenCanvases, func(r session.OpenCanvasRef) bool { return r.Channel == i.channel })
	if !ok || at < 0 {
		return
	}
	row := sess.OpenCanvases[at]
	if same(row.Title, st.Title) && row.Availability == st.Availability {
		return
	}
	row.Title, row.Availability = st.Title, st.Availability
	rows := slices.Clone(sess.OpenCanvases)
	rows[at] = row.Encoded()
	s.append(tx, i.key.session, session.OpenCanvasesChanged{OpenCanvases: rows})
}
