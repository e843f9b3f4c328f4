package engine

import (
	"iter"
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// instances are the open canvases of a host, by session and name: what a session or
// a client ends must not walk those of all others. Guarded by the log's mutex.
type instances struct {
	sessions map[string]map[string]*instance
	count    int
}

func (o *instances) at(k key) *instance { return o.sessions[k.session][k.instance] }

func (o *instances) add(i *instance) {
	of := o.sessions[i.key.session]
	if of == nil {
		of = map[string]*instance{}
		o.sessions[i.key.session] = of
	}
	of[i.key.instance] = i
	o.count++
}

func (o *instances) remove(i *instance) {
	of := o.sessions[i.key.session]
	if of[i.key.instance] != i {
		return
	}
	delete(of, i.key.instance)
	if len(of) == 0 {
		delete(o.sessions, i.key.session)
	}
	o.count--
}

// in are those of a session, or of all sessions for "", in no order.
func (o *instances) in(uri string) iter.Seq[*instance] {
	if uri != "" {
		return maps.Values(o.sessions[uri])
	}
	return func(yield func(*instance) bool) {
		for _, of := range o.sessions {
			for _, i := range of {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// lose marks the ready instances of a registration for which fits is true as
// stale: their provider is not there any more, or does not offer them.
func (s *Engine) lose(tx *channels.Tx, r *Registration, fits func(*instance) bool) {
	var lost []*instance
	for i := range s.instances.in(r.ext.Session) {
		if i.reg == r && fits(i) {
			lost = append(lost, i)
		}
	}
	slices.SortFunc(lost, byKey)
	s.together(tx, func(*rowChanges) {
		for _, i := range lost {
			s.makeStale(tx, i)
		}
	})
}

// makeStale marks an instance that is ready.
func (s *Engine) makeStale(tx *channels.Tx, i *instance) {
	if st, ok := i.state(tx); !ok || st.Availability != session.Ready {
		return
	}
	i.handle.life.end()
	i.box.close()
	var u canvas.Updated
	stale := session.Stale
	u.Availability.Present, u.Availability.Value = true, &stale
	s.append(tx, i.channel, u)
}
