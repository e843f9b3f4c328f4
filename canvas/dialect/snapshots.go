package dialect

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// snapshot is the state of a channel in a result.
type snapshot struct {
	Resource string    `json:"resource"`
	State    ahp.Value `json:"state"`
	FromSeq  int64     `json:"fromSeq"`
}

// answerSnapshots replaces the snapshots of a result by those of the channels that the
// client asked for.
func (t *translator) answerSnapshots(r *response, o object, asked []string) error {
	has, err := t.take(o)
	if err != nil {
		return err
	}
	list := []snapshot{}
	seen := map[string]bool{}
	for _, uri := range asked {
		if folded, ok := fold(uri); ok && !seen[folded] {
			seen[folded] = true
			if s, ok := t.project(has, folded); ok {
				list = append(list, s)
			}
		}
	}
	var seq int64
	if raw, ok := o["serverSeq"]; ok && ahp.Unmarshal(raw, &seq) == nil {
		o.set("serverSeq", seq+t.unnumbered.Load())
	}
	o.set("snapshots", list)
	return r.set(o)
}

// answerSnapshot replaces the result of subscribe.
func (t *translator) answerSnapshot(r *response, o object, asked string) error {
	has, err := t.take(o)
	if err != nil {
		return err
	}
	folded, _ := fold(asked)
	result := object{}
	if s, ok := t.project(has, folded); ok {
		result.set("snapshot", s)
	}
	return r.set(result)
}

// take reads the snapshots of a result into the mirrors, and returns them by channel.
func (t *translator) take(o object) (map[string]snapshot, error) {
	var list []snapshot
	if err := ahp.Unmarshal(o["snapshots"], &list); err != nil {
		return nil, err
	}
	has := map[string]snapshot{}
	for _, s := range list {
		has[s.Resource] = s
		var err error
		switch ahp.SchemeOf(s.Resource) {
		case ahp.SchemeSession:
			err = decode(s.State, &t.mirror(s.Resource).session)
		case chat.Scheme:
			err = decode(s.State, &t.mirror(chat.SessionOf(s.Resource)).chat)
		case ahp.SchemeCanvas:
			var state canvas.CanvasState
			err = ahp.Unmarshal(s.State, &state)
			t.instances[s.Resource] = instance{state: state}
		}
		if err != nil {
			return nil, err
		}
	}
	return has, nil
}

// decode replaces a value by a decoded one.
func decode[T any](raw ahp.Value, v *T) error {
	var next T
	err := ahp.Unmarshal(raw, &next)
	*v = next
	return err
}

func (t *translator) mirror(uri string) *mirror {
	m := t.sessions[uri]
	if m == nil {
		m = &mirror{}
		t.sessions[uri] = m
	}
	return m
}

// project returns the snapshot of a channel that the client asked for, and notes that it
// has it.
func (t *translator) project(has map[string]snapshot, uri string) (snapshot, bool) {
	s, ok := has[uri]
	if !ok {
		return s, false
	}
	s.Resource = t.spell(uri)
	s.FromSeq += t.unnumbered.Load()
	switch ahp.SchemeOf(uri) {
	case ahp.SchemeRoot:
		var o object
		if ahp.Unmarshal(s.State, &o) == nil {
			s.State = ahp.MustMarshal(root(o))
		}
	case ahp.SchemeSession:
		m := t.mirror(uri)
		m.meta, m.summary = t.meta(m.session), t.summaryOf(uri, m.session, m.chat)
		s.State = ahp.MustMarshal(t.session(uri, m.session, m.summary, m.meta))
	case chat.Scheme:
		of := chat.SessionOf(uri)
		m := t.mirror(of)
		s.State = ahp.MustMarshal(t.chat(of, m.session, m.chat))
	case ahp.SchemeCanvas:
		i := t.instances[uri]
		i.sent = t.canvas(uri, i.state)
		t.instances[uri], s.State = i, i.sent
	}
	t.mu.Lock()
	t.wanted[uri] = true
	t.mu.Unlock()
	return s, true
}
